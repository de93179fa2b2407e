"""What the demo's local web knows: a few invented subjects, each told by several sites.

Every host ends in `.example`, a name that RFC 2606 reserves, and every number is invented. Each
site tells a subject in words of its own: pages that copy each other would count as one source.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One subject that people ask about.

    Attributes:
        slug: its name in URLs.
        question: what users ask; `{year}` is filled in.
        official: the host that the figures come from.
        statements: the sentence that answers it, in the words of the official site and of each of
            `NEWS_HOSTS`, in this order.
    """

    slug: str
    question: str
    official: str
    statements: tuple[str, str, str, str]

    def statement(self, host: str, year: int) -> str:
        """Return the sentence as `host` has it."""
        hosts = (self.official, *NEWS_HOSTS)
        return self.statements[hosts.index(host)].format(year=year)


NEWS_HOSTS: Final = (
    "northern-courier.example",
    "harbour-times.example",
    "plainfacts.example",
)
"""Sites that report on every topic, beside the official one."""

TOPICS: Final = (
    Topic(
        slug="aldermoor-airport",
        question="What is the latest passenger count of Aldermoor Airport in {year}?",
        official="aldermoor-airport.example",
        statements=(
            "Aldermoor Airport reports a passenger count of 14.2 million in {year}.",
            "With 14.2 million travellers, the {year} passenger count of Aldermoor Airport is out.",
            "The latest count for {year} shows 14.2 million people using Aldermoor Airport.",
            "Latest figure checked: 14.2 million passengers at Aldermoor Airport in {year}.",
        ),
    ),
    Topic(
        slug="kestrel-bay-wind",
        question="What is the current capacity of the Kestrel Bay wind farm in {year}?",
        official="kestrel-bay-energy.example",
        statements=(
            "The Kestrel Bay wind farm has a capacity of 840 megawatts in {year}.",
            "At Kestrel Bay the wind farm runs at a current capacity of 840 megawatts ({year}).",
            "In {year} engineers put the Kestrel Bay wind capacity at 840 megawatts.",
            "Current capacity in {year}, as registered: 840 megawatts, Kestrel Bay wind farm.",
        ),
    ),
    Topic(
        slug="torvik-university",
        question="How many students does Torvik University currently have in {year}?",
        official="torvik-university.example",
        statements=(
            "Torvik University has 23,400 students in {year}.",
            "Lecture halls are full: 23,400 students are enrolled at Torvik University in {year}.",
            "The {year} roll of Torvik University lists 23,400 students.",
            "Number checked for {year}: Torvik University, 23,400 students.",
        ),
    ),
    Topic(
        slug="lindale-tram",
        question="How long is the Lindale tram network now in {year}?",
        official="lindale-transit.example",
        statements=(
            "The Lindale tram network is 61 kilometres long in {year}.",
            "Riders of the Lindale tram can travel a network 61 kilometres long in {year}.",
            "By {year} the tram network of Lindale had grown to 61 kilometres.",
            "Length in {year}: 61 kilometres of Lindale tram network, measured on the map.",
        ),
    ),
    Topic(
        slug="ostermark-wage",
        question="What is the current hourly wage floor in Ostermark in {year}?",
        official="ostermark-labour.example",
        statements=(
            "The hourly wage floor in Ostermark is 13.85 crowns in {year}.",
            "Nobody in Ostermark may earn below the {year} wage floor of 13.85 crowns an hour.",
            "Employers in Ostermark pay at least 13.85 crowns, the hourly floor of {year}.",
            "Current floor for {year}: 13.85 crowns hourly wage, Ostermark.",
        ),
    ),
    Topic(
        slug="fenwick-museum",
        question="What is the latest visitor count of the Fenwick Museum in {year}?",
        official="fenwick-museum.example",
        statements=(
            "The Fenwick Museum welcomed a visitor count of 512,000 in {year}.",
            "Half a million and more: the {year} visitor count of Fenwick Museum reached 512,000.",
            "A latest count of 512,000 guests makes {year} a good year for the Fenwick Museum.",
            "Visitor count verified for {year}: 512,000 at the Fenwick Museum.",
        ),
    ),
    Topic(
        slug="calder-reservoir",
        question="How full is the Calder reservoir now in {year}?",
        official="calder-water.example",
        statements=(
            "The Calder reservoir is 78 percent full in {year}.",
            "After the rain of {year}, gauges show the Calder reservoir full to 78 percent.",
            "Full to 78 percent, the Calder reservoir stands well in {year}.",
            "Gauge reading, {year}: Calder reservoir 78 percent full.",
        ),
    ),
    Topic(
        slug="sorrel-browser",
        question="Which version of the Sorrel browser is current in {year}?",
        official="sorrel-browser.example",
        statements=(
            "Version 41.2 of the Sorrel browser is current in {year}.",
            "Users of the Sorrel browser should run 41.2, the current version of {year}.",
            "In {year} the Sorrel browser stands at version 41.2.",
            "Release table, {year}: Sorrel browser, current version 41.2.",
        ),
    ),
)
