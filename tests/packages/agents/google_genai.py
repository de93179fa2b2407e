"""Gemini by Google's SDK: with a search tool of one's own, and with Google's search as a stream."""

import os

import httpx
from google import genai
from google.genai import types

from seekwatch.sdk import instrument

instrument("my-agent")
model = genai.Client(api_key=os.environ["GEMINI_API_KEY"])
hosted = types.GenerateContentConfig(tools=[types.Tool(google_search=types.GoogleSearch())])


def web_search(query: str) -> str:
    """Search the web."""
    asked = {"q": query, "format": "json"}
    return httpx.get("https://searx.example/search", params=asked).text


own = types.GenerateContentConfig(tools=[web_search])


def answer(question: str) -> str:
    if "ferry" in question:
        stream = model.models.generate_content_stream(
            model="gemini-2.5-flash", contents=question, config=hosted
        )
        return "".join(chunk.text or "" for chunk in stream)
    reply = model.models.generate_content(model="gemini-2.5-flash", contents=question, config=own)
    return str(reply.text)
