from datetime import UTC, datetime

from demo.measures import AXES
from demo.schedule import HEALTHY_SECONDS, STEPS, YEAR_IS_DROPPED_AT, Schedule
from demo.topics import TOPICS
from demo.web import HEALTHY, LocalWeb
from seekwatch.core.tags import FailureTag


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_nothing_goes_wrong_before_its_time() -> None:
    web, clock = LocalWeb(), Clock()
    schedule = Schedule(web, STEPS, clock=clock)
    clock.now += HEALTHY_SECONDS - 0.1
    assert schedule.due() == []
    assert web.decay == HEALTHY


def test_every_step_happens_once_in_order_though_the_demo_was_held_up() -> None:
    web, clock = LocalWeb(), Clock()
    schedule = Schedule(web, STEPS, clock=clock)
    clock.now += 1000
    assert schedule.due() == list(STEPS)
    assert schedule.over()
    assert schedule.due() == []
    assert web.decay.stale_years > 0
    assert web.decay.dead_hosts
    assert web.decay.login_hosts


def test_steps_are_in_the_order_of_their_times_and_the_citations_last() -> None:
    assert [step.at for step in STEPS] == sorted(step.at for step in STEPS)
    assert STEPS[-1].axis == "citation_validity"
    [dropped] = [step for step in STEPS if step.apply is None]
    assert dropped.at == YEAR_IS_DROPPED_AT


def test_steps_name_axes_and_tags_that_exist() -> None:
    assert {step.axis for step in STEPS} <= set(AXES)
    assert {step.tag for step in STEPS} <= set(FailureTag)


def test_a_dead_link_answers_404_and_a_login_wall_200() -> None:
    web = LocalWeb()
    topic = TOPICS[0]
    year = datetime.now(UTC).year
    page = f"http://{topic.official}/{topic.slug}"
    assert topic.statement(topic.official, year) in web.answer("GET", page, b"").body.decode()
    for step in STEPS:
        if step.apply is not None:
            step.apply(web)
    assert web.answer("GET", page, b"").status == 404
    walled = web.answer("GET", f"http://harbour-times.example/{topic.slug}", b"")
    assert walled.status == 200
    assert b'type="password"' in walled.body
