"""When memory is short the oldest go, whatever partition they are on."""

from hypothesis import given
from hypothesis import strategies as st

from seekwatch.monitor.worker.memory import shares_to_free

TRACES = st.lists(st.tuples(st.integers(0, 100), st.integers(1, 1000)), max_size=20)


def test_nothing_goes_while_it_fits() -> None:
    assert shares_to_free({0: [(1, 50)], 1: [(2, 50)]}, 100) == {}


def test_no_limit_frees_nothing() -> None:
    assert shares_to_free({0: [(1, 1 << 40)]}, 0) == {}


def test_the_oldest_of_all_partitions_go() -> None:
    held = {0: [(5, 60), (1, 10)], 1: [(2, 20), (9, 60)]}
    assert shares_to_free(held, 140) == {0: 10, 1: 20}


@given(held=st.dictionaries(st.integers(0, 5), TRACES), limit=st.integers(1, 5000))
def test_what_stays_fits_and_no_younger_trace_goes_before_an_older_one(
    held: dict[int, list[tuple[int, int]]], limit: int
) -> None:
    shares = shares_to_free(held, limit)
    total = sum(size for sizes in held.values() for _, size in sizes)
    assert total - sum(shares.values()) <= limit
    assert bool(shares) == (total > limit)
