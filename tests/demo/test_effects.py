from demo.effects import Effects
from demo.ending import effect_sentence, effects_table
from demo.measures import AXES, AxisShare, Window
from demo.schedule import Step
from tests.services.rendering import rendered

STEP = Step(
    at=20, name="links die", what="…", axis="citation_validity", tag="dead-link", apply=None
)


def recent(bad: int, *, tagged: int, runs: int = 10) -> Window:
    axes = dict.fromkeys(AXES, AxisShare(runs, 0, 0))
    axes["citation_validity"] = AxisShare(runs - bad, bad, 0)
    return Window(
        axes=axes,
        tags={"dead-link": tagged},
        runs=runs,
        successes=runs - bad,
        cost_per_success=None,
    )


def test_a_step_shows_when_its_axis_fell_and_the_runs_carry_its_tag() -> None:
    effects = Effects()
    effects.begin(STEP, 20.0, recent(0, tagged=0))
    assert effects.look(21.0, recent(1, tagged=1)) == []
    assert effects.look(22.0, recent(9, tagged=0)) == []
    assert not effects.complete()
    [effect] = effects.look(26.0, recent(6, tagged=6))
    assert effect.seen == 26.0
    assert effects.complete()
    assert effects.look(27.0, recent(6, tagged=6)) == []


def test_a_run_or_two_show_nothing() -> None:
    effects = Effects()
    effects.begin(STEP, 20.0, None)
    assert effects.look(21.0, recent(2, tagged=2, runs=2)) == []


def test_what_is_reported_in_the_end_is_the_worst_moment() -> None:
    effects = Effects()
    effects.begin(STEP, 20.0, recent(0, tagged=0))
    for at, bad in ((26.0, 6), (27.0, 10), (28.0, 7)):
        effects.look(at, recent(bad, tagged=bad))
    [facts] = [effect.facts() for effect in effects.all]
    assert (facts["seen_at"], facts["bad_share_before"], facts["bad_share_after"]) == (26.0, 0, 1)
    assert (facts["tagged_runs"], facts["runs"]) == (10, 10)


def test_the_sentence_says_what_fell_from_what_to_what() -> None:
    effects = Effects()
    effects.begin(STEP, 20.0, recent(0, tagged=0))
    [effect] = effects.look(26.0, recent(9, tagged=8))
    assert effect_sentence(effect) == (
        "→ citation validity: 90% of the newest 10 runs are bad (before: 0%); 8 carry dead-link"
    )


def test_a_step_that_never_showed_is_told_as_not_seen() -> None:
    effects = Effects()
    effects.begin(STEP, 20.0, None)
    assert "not seen" in rendered(effects_table(effects.all))
