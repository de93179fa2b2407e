"""A server of aiohttp's, whose agent searches and asks by aiohttp's client; `agent:create`."""

from collections.abc import AsyncIterator

from aiohttp import ClientSession, web

from seekwatch.sdk import instrument

instrument("my-agent")
MODEL = "https://api.openai.com/v1/chat/completions"
KEYS = {"Authorization": "Bearer your-key"}
SESSION = web.AppKey("session", ClientSession)


async def session(app: web.Application) -> AsyncIterator[None]:
    async with ClientSession(trust_env=True) as app[SESSION]:
        yield


async def ask(request: web.Request) -> web.Response:
    client, question = request.app[SESSION], request.query["question"]
    asked = {"q": question, "format": "json"}
    async with client.get("https://searx.example/search", params=asked) as found:
        told = "Answer from these results, with links: " + await found.text()
    messages = [{"role": "system", "content": told}, {"role": "user", "content": question}]
    body = {"model": "gpt-4o-mini", "messages": messages}
    async with client.post(MODEL, json=body, headers=KEYS) as reply:
        said = await reply.json()
    return web.Response(text=said["choices"][0]["message"]["content"])


def create(_: list[str]) -> web.Application:
    app = web.Application()
    app.cleanup_ctx.append(session)
    app.router.add_get("/ask", ask)
    return app
