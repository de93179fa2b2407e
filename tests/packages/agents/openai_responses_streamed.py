"""OpenAI's responses as a stream, with the web search that OpenAI runs itself."""

from openai import OpenAI

from seekwatch.sdk import instrument

instrument("my-agent")
model = OpenAI()


def answer(question: str) -> str:
    with model.responses.stream(
        model="gpt-4o-mini",
        input=question,
        tools=[{"type": "web_search"}],
        include=["web_search_call.action.sources"],
    ) as stream:
        return stream.get_final_response().output_text
