"""Tags: one closed list, each with a definition that can be checked on the spans."""

import re

from seekwatch.core.tags import DEFINITIONS, INVARIANTS, FailureTag


def test_every_tag_has_exactly_one_definition() -> None:
    assert list(DEFINITIONS) == list(FailureTag)


def test_definitions_are_sentences_without_an_end() -> None:
    for definition in DEFINITIONS.values():
        assert len(definition) > 20
        assert not definition.endswith(".")


def test_tags_are_fit_for_a_label() -> None:
    assert all(re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", tag) for tag in FailureTag)


def test_each_invariant_rests_on_tags_of_the_list() -> None:
    assert set(INVARIANTS) == {"policy_violation", "cache_leak", "destructive_action"}
    assert all(tags <= set(FailureTag) and tags for tags in INVARIANTS.values())
