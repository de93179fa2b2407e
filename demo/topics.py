"""What the demo's local web knows: a few invented subjects, each told by several sites.

Every host ends in `.example`, a name that RFC 2606 reserves, and every number is invented.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One subject that people ask about.

    Attributes:
        slug: its name in URLs.
        question: what users ask; `{year}` is filled in.
        statement: the sentence that answers it, in the words of each page.
        context: further sentences of its pages.
        official: the host that the figures come from.
    """

    slug: str
    question: str
    statement: str
    context: str
    official: str


NEWS_HOSTS: Final = (
    "northern-courier.example",
    "harbour-times.example",
    "plainfacts.example",
)
"""Sites that report on every topic, beside the official one."""

TOPICS: Final = (
    Topic(
        slug="aldermoor-airport",
        question="How many passengers did Aldermoor Airport handle in {year}?",
        statement="Aldermoor Airport handled 14.2 million passengers in {year}.",
        context="The new terminal opened in spring. Night flights remain capped by agreement.",
        official="aldermoor-airport.example",
    ),
    Topic(
        slug="kestrel-bay-wind",
        question="What is the capacity of the Kestrel Bay wind farm in {year}?",
        statement="The Kestrel Bay wind farm has a capacity of 840 megawatts in {year}.",
        context="Its turbines stand 30 kilometres from the coast. A second cable is being laid.",
        official="kestrel-bay-energy.example",
    ),
    Topic(
        slug="torvik-university",
        question="How many students does Torvik University have in {year}?",
        statement="Torvik University has 23,400 students in {year}.",
        context="Two faculties moved to the harbour campus. Tuition is unchanged.",
        official="torvik-university.example",
    ),
    Topic(
        slug="lindale-tram",
        question="How long is the Lindale tram network in {year}?",
        statement="The Lindale tram network is 61 kilometres long in {year}.",
        context="The eastern line was extended to the hospital. Trams run every six minutes.",
        official="lindale-transit.example",
    ),
    Topic(
        slug="ostermark-wage",
        question="What is the minimum hourly wage in Ostermark in {year}?",
        statement="The minimum hourly wage in Ostermark is 13.85 crowns in {year}.",
        context="The council reviews it each autumn. Apprentices have a table of their own.",
        official="ostermark-labour.example",
    ),
    Topic(
        slug="fenwick-museum",
        question="How many visitors did the Fenwick Museum welcome in {year}?",
        statement="The Fenwick Museum welcomed 512,000 visitors in {year}.",
        context="The glass exhibition was the most popular. Entry is free on Sundays.",
        official="fenwick-museum.example",
    ),
    Topic(
        slug="calder-reservoir",
        question="How full is the Calder reservoir in {year}?",
        statement="The Calder reservoir is filled to 78 percent in {year}.",
        context="Rainfall was above the average. The spillway was repaired last summer.",
        official="calder-water.example",
    ),
    Topic(
        slug="sorrel-browser",
        question="Which version of the Sorrel browser is current in {year}?",
        statement="Version 41.2 of the Sorrel browser is current in {year}.",
        context="The release mends two memory faults. Extensions keep working.",
        official="sorrel-browser.example",
    ),
)
