"""The OpenAI Agents SDK as a stream, with a search tool of one's own."""

import httpx
from agents import Agent, Runner, function_tool

from seekwatch.sdk import instrument

instrument("my-agent")


@function_tool
async def web_search(query: str) -> str:
    """Search the web."""
    async with httpx.AsyncClient() as web:
        found = await web.get(
            "https://api.search.brave.com/res/v1/web/search", params={"q": query, "count": 5}
        )
    return found.text


agent = Agent(name="finder", model="gpt-4o-mini", tools=[web_search])


async def answer(question: str) -> str:
    run = Runner.run_streamed(agent, question)
    async for _ in run.stream_events():
        pass
    return str(run.final_output)
