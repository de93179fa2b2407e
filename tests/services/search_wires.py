"""What search APIs answer, in the wire format of each."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from tests.services.library import Document

Found = Sequence[Document]
"""Best first."""


def _tavily(query: str, found: Found) -> dict[str, Any]:
    return {
        "query": query,
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "results": [
            {
                "url": document.url,
                "title": document.title,
                "content": document.sentence,
                "score": 0.9 - place / 10,
                "raw_content": None,
                "published_date": document.published,
            }
            for place, document in enumerate(found)
        ],
        "response_time": 0.02,
        "request_id": "req-local",
    }


def _brave(query: str, found: Found) -> dict[str, Any]:
    results = [
        {
            "type": "search_result",
            "subtype": "generic",
            "title": document.title,
            "url": document.url,
            "description": document.sentence,
            "age": _long_date(document.published),
            "page_age": f"{document.published}T08:00:00",
            "language": "en",
            "family_friendly": True,
            "is_live": False,
            "meta_url": {
                "scheme": "https",
                "netloc": urlsplit(document.url).netloc,
                "path": "› pages",
            },
        }
        for document in found
    ]
    return {
        "type": "search",
        "query": {"original": query, "country": "us", "more_results_available": False},
        "mixed": {"type": "mixed", "main": [], "top": [], "side": []},
        "web": {"type": "search", "results": results, "family_friendly": True},
    }


def _serper(query: str, found: Found) -> dict[str, Any]:
    return {
        "searchParameters": {"q": query, "type": "search", "engine": "google"},
        "organic": [
            {
                "title": document.title,
                "link": document.url,
                "snippet": document.sentence,
                "date": _short_date(document.published),
                "position": place,
            }
            for place, document in enumerate(found, 1)
        ],
        "credits": 1,
    }


def _searxng(query: str, found: Found) -> dict[str, Any]:
    return {
        "query": query,
        "number_of_results": 0,
        "results": [
            {
                "url": document.url,
                "title": document.title,
                "content": document.sentence,
                "publishedDate": f"{document.published}T08:00:00",
                "thumbnail": None,
                "engine": "duckduckgo",
                "template": "default.html",
                "parsed_url": [*urlsplit(document.url), ""],
                "img_src": "",
                "priority": "",
                "engines": ["duckduckgo"],
                "positions": [place],
                "score": 1.0 / place,
                "category": "general",
            }
            for place, document in enumerate(found, 1)
        ],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [],
    }


def _exa(query: str, found: Found) -> dict[str, Any]:
    return {
        "requestId": "req-local",
        "resolvedSearchType": "neural",
        "results": [
            {
                "id": document.url,
                "url": document.url,
                "title": document.title,
                "score": 0.5 - place / 10,
                "publishedDate": f"{document.published}T00:00:00.000Z",
                "author": None,
                "text": document.sentence,
            }
            for place, document in enumerate(found)
        ],
        "costDollars": {"total": 0.005},
    }


def _serpapi(query: str, found: Found) -> dict[str, Any]:
    return {
        "search_metadata": {"id": "local", "status": "Success"},
        "search_parameters": {"engine": "google", "q": query},
        "organic_results": [
            {
                "position": place,
                "title": document.title,
                "link": document.url,
                "snippet": document.sentence,
                "date": _short_date(document.published),
            }
            for place, document in enumerate(found, 1)
        ],
    }


def _firecrawl(query: str, found: Found) -> dict[str, Any]:
    news = [
        {
            "title": document.title,
            "url": document.url,
            "snippet": document.sentence,
            "date": document.published,
            "position": place,
        }
        for place, document in enumerate(found, 1)
    ]
    return {"success": True, "data": {"news": news}, "creditsUsed": 2, "id": "local"}


def _scrapingbee(query: str, found: Found) -> dict[str, Any]:
    return {
        "meta_data": {"url": "https://www.google.com/search", "number_of_results": len(found)},
        "organic_results": [
            {
                "url": document.url,
                "displayed_url": document.url,
                "title": document.title,
                "description": document.sentence,
                "domain": _site(document),
                "position": place,
                "date": _short_date(document.published),
                "date_utc": f"{document.published}T00:00:00+00:00",
            }
            for place, document in enumerate(found, 1)
        ],
    }


def _duckduckgo_news(query: str, found: Found) -> dict[str, Any]:
    return {
        "query": query,
        "results": [
            {
                "date": _unix_seconds(document.published),
                "excerpt": document.sentence,
                "image": "",
                "relative_time": "",
                "source": _site(document),
                "title": document.title,
                "url": document.url,
            }
            for document in found
        ],
    }


WRITERS: Final[Mapping[str, Callable[[str, Found], dict[str, Any]]]] = {
    "tavily": _tavily,
    "brave": _brave,
    "serper": _serper,
    "searxng": _searxng,
    "exa": _exa,
    "serpapi": _serpapi,
    "firecrawl": _firecrawl,
    "scrapingbee": _scrapingbee,
    "duckduckgo": _duckduckgo_news,
}
"""By the name of the API: what it answers to a query for which so much was found."""


def _site(document: Document) -> str:
    return urlsplit(document.url).netloc


def _long_date(published: str) -> str:
    day = date.fromisoformat(published)
    return f"{day:%B} {day.day}, {day.year}"


def _short_date(published: str) -> str:
    day = date.fromisoformat(published)
    return f"{day:%b} {day.day}, {day.year}"


def _unix_seconds(published: str) -> int:
    day = date.fromisoformat(published)
    return int(datetime(day.year, day.month, day.day, 8, tzinfo=UTC).timestamp())
