"""Anthropic's messages as an asynchronous stream, with the web search that it runs itself."""

from anthropic import AsyncAnthropic

from seekwatch.sdk import instrument

instrument("my-agent")
model = AsyncAnthropic()


async def answer(question: str) -> str:
    async with model.messages.stream(
        model="claude-sonnet-4-6",
        max_tokens=1000,
        messages=[{"role": "user", "content": question}],
        tools=[{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}],
    ) as stream:
        message = await stream.get_final_message()
    return "".join(block.text for block in message.content if block.type == "text")
