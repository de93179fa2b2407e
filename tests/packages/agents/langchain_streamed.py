"""A LangChain agent as an asynchronous stream, with Tavily by aiohttp at an own address."""

import os

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langchain_tavily import TavilySearch

from seekwatch.sdk import SearchApi, instrument

SEARCH = os.environ["LOCAL_TAVILY"]
instrument(
    "my-agent",
    search_apis=[
        SearchApi(
            name="tavily",
            hosts=(SEARCH.split("/")[2],),
            paths=("/tavily/search",),
            query=("json:query",),
            results=("results",),
        )
    ],
)
search = TavilySearch(max_results=5, api_base_url=SEARCH)
agent = create_agent(ChatOpenAI(model="gpt-4o-mini"), [search])


async def answer(question: str) -> str:
    text = ""
    asked = {"messages": [("user", question)]}
    async for chunk, _ in agent.astream(asked, stream_mode="messages"):
        if chunk.type == "AIMessageChunk":
            text += chunk.text
    return text
