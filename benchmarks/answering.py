"""A small HTTP server in a process of its own, for what must not share the agent's interpreter.

The path says how it answers: `/page/<milliseconds>` is a page after about so long (half as much to
half as much again, so that many callers do not run in step), and the header `waited-ms` says how
long it really was, to be taken off; everything else is a collector's address, `/<kind>/v1/traces`.
"""

import asyncio
import contextlib
import random
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

WAITED: Final = "waited-ms"
"""The header of a page that says how long the server waited."""
_PAGE: Final = b"<p>Snow fell in the valley, and the winter fair opened at ten.</p>\n" * 400
_SLOW_SECONDS: Final = 3.0
_NEVER_SECONDS: Final = 3600.0
_STATUS: Final = {"healthy": 200, "slow": 200, "4xx": 400, "5xx": 503}
_WAIT: Final = {"slow": _SLOW_SECONDS, "black hole": _NEVER_SECONDS}


def _answer(status: int, kind: str, body: bytes, waited: float = 0.0) -> bytes:
    lines = (
        f"HTTP/1.1 {status} X",
        f"content-type: {kind}",
        f"content-length: {len(body)}",
        f"{WAITED}: {waited * 1000:.3f}",
    )
    return "\r\n".join((*lines, "", "")).encode() + body


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    source = random.Random(0)
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ", 2)[1].strip("/").replace("-", " ")
            for line in head.lower().split("\r\n"):
                name, _, value = line.partition(":")
                if name == "content-length":
                    await reader.readexactly(int(value))
            kind, _, rest = path.partition("/")
            if kind == "page":
                began = time.perf_counter()
                await asyncio.sleep(float(rest) / 1000 * source.uniform(0.5, 1.5))
                writer.write(_answer(200, "text/html", _PAGE, time.perf_counter() - began))
            else:
                await asyncio.sleep(_WAIT.get(kind, 0.0))
                writer.write(_answer(_STATUS.get(kind, 200), "application/x-protobuf", b""))
            await writer.drain()
    writer.close()


async def _main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, backlog=512)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


@contextmanager
def answering() -> Generator[str]:
    """Run the server; gives its address."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.answering"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


if __name__ == "__main__":
    asyncio.run(_main())
