"""What is put in place of somebody else's function, and what is there when it is taken out."""

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import wrapt

from seekwatch.sdk._replacing import last_first, put, replace, replace_all


class Base:
    def inherited(self, word: str) -> str:
        return f"inherited {word}"


class Owner(Base):
    def method(self, word: str) -> str:
        """Say a word."""
        return f"method {word}"

    @classmethod
    def of_class(cls, word: str) -> str:
        return f"{cls.__name__} {word}"

    @staticmethod
    def of_none(word: str) -> str:
        return f"static {word}"


METHODS = ["method", "inherited", "of_class", "of_none"]


def loud(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        return original(*args).upper()

    return call


@pytest.mark.parametrize("name", METHODS)
def test_any_kind_of_method_is_replaced_and_put_back(name: str) -> None:
    before, said = dict(vars(Owner)), getattr(Owner(), name)("word")
    undo = replace(Owner, name, loud)
    assert undo is not None
    assert getattr(Owner(), name)("word") == said.upper()
    undo()
    assert dict(vars(Owner)) == before
    undo()
    assert dict(vars(Owner)) == before


def test_a_path_leads_to_the_owner_and_what_is_not_there_is_left_out() -> None:
    module = SimpleNamespace(Owner=Owner, version="1")
    before = dict(vars(Owner))
    undo = replace(module, "Owner.method", loud)
    assert undo is not None
    assert Owner().method("word") == "METHOD WORD"
    undo()
    assert dict(vars(Owner)) == before
    for path in ("Owner.none", "none", "None.method", "version"):
        assert replace(module, path, loud) is None


def test_ours_says_what_it_wraps_and_not_what_others_noted_there() -> None:
    method: Any = loud(Owner.of_none)
    method.applied = True
    owner = type("Owner", (), {"method": method})
    replace_all([(owner, "method", loud)])
    ours: Any = vars(owner)["method"]
    assert ours.__wrapped__ is method
    assert ours.__qualname__ == method.__qualname__
    assert inspect.signature(ours) == inspect.signature(method)
    assert not hasattr(ours, "applied")


def test_what_somebody_put_above_ours_stays() -> None:
    owner: Any = type("Owner", (Owner,), {})
    undo = replace_all([(owner, "inherited", loud)])
    theirs = loud(owner.inherited)
    put(owner, "inherited", theirs)
    undo()
    assert vars(owner)["inherited"] is theirs


def test_a_wrapper_below_ours_knows_its_instance() -> None:
    instances: list[object] = []

    def hook(wrapped: Any, instance: object, args: Any, options: Any) -> Any:
        instances.append(instance)
        return wrapped(*args, **options)

    owner: Any = type("Owner", (), {"method": wrapt.FunctionWrapper(Owner.method, hook)})
    undo = replace_all([(owner, "method", loud)])
    one = owner()
    assert one.method("word") == "METHOD WORD"
    undo()
    assert one.method("word") == "method word"
    assert instances == [one, one]


def test_steps_are_undone_last_first_although_one_of_them_fails() -> None:
    from seekwatch.sdk._guard import failures, reset_failures

    taken: list[int] = []

    def fail() -> None:
        raise LookupError

    steps: list[Callable[[], None]] = [lambda: taken.append(1), fail]
    undo = last_first(steps)
    steps.append(lambda: taken.append(2))
    undo()
    assert taken == [2, 1]
    assert failures() == {"putting back what was there": 1}
    reset_failures()
