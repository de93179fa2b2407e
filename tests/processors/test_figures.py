"""Numbers that a page holds in another way than the claim writes them, and those that it lacks."""

import pytest

from seekwatch.processors.text.fold import fold
from seekwatch.processors.text.support import missing_numbers


def missing(claim: str, *pages: str) -> tuple[str, ...]:
    return missing_numbers(claim, [fold(page) for page in pages])


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        ("It costs 13.90 euros.", "Der Mindestlohn beträgt 13,90 Euro."),
        ("It has 729,437 inhabitants.", "Oslo had 729 437 inhabitants."),
        ("It has 729,437 inhabitants.", "Oslo hatte 729.437 Einwohner."),
        ("It sold 10.6 million.", "10,6 Millionen wurden verkauft."),
        ("The rate is 3.5 to 3.75 percent.", "the range of 3-1/2 to 3-3/4 percent"),
        ("The rate is 3.5 percent.", "a rate of 3½ percent"),
        ("It has about 729,000 inhabitants.", "It had 729,437 inhabitants."),
        ("It rose by 75%.", "It rose by 75.3%."),
        ("It sold 5.1 million cars.", "It sold 5,130,000 cars."),
        ("大约有730000人。", "共有729437人。"),
    ],
)
def test_another_notation_or_precision_is_no_missing_number(claim: str, page: str) -> None:
    assert missing(claim, page) == ()


@pytest.mark.parametrize(
    ("claim", "page", "lost"),
    [
        ("It rose by 92%.", "It rose by 75%.", ("92%",)),
        ("It has 729,000 inhabitants.", "It had 729,437 inhabitants.", ("729,000",)),
        ("Python 3.1 is out.", "Python 3.12 is out.", ("3.1",)),
        ("It opened in 2024.", "It opened in 2023.", ("2024",)),
        ("It costs 13.90 euros.", "Es kostet 13,95 Euro.", ("13.90 euros",)),
        ("It rose by 75%.", "It rose by 76.2%.", ("75%",)),
        ("It has about 729,000 inhabitants.", "It had 731,100 inhabitants.", ("729,000",)),
    ],
)
def test_a_number_that_the_page_does_not_hold_is_missing(
    claim: str, page: str, lost: tuple[str, ...]
) -> None:
    assert missing(claim, page) == lost


def test_a_sum_of_two_numbers_that_are_held_is_not_missing() -> None:
    pages = ("Norway has 5.6 million people.", "Sweden has 10.6 million people.")
    claim = "Norway has 5.6 million people and Sweden 10.6 million, together about {} million."
    assert missing(claim.format("16.2"), *pages) == ()
    assert missing(claim.format("18.2"), *pages) == ("18.2 million",)


def test_a_sum_of_numbers_that_are_not_held_is_missing_too() -> None:
    claim = "Norway has 5.6 million people and Sweden 10.6 million, together 16.2 million."
    assert len(missing(claim, "Norway has 5.6 million people.")) == 2
