"""Response streams that note what passes through them and take nothing away.

The caller reads, stops early or closes as if the stream were httpx's own; when it is done, the
callback gets what was seen. Nothing is attached to the context while the caller holds a chunk.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import cast

import httpx

from seekwatch.sdk._guard import guarded

from .bodies import Capture

Done = Callable[[Capture, BaseException | None], None]


class _Tee:
    def __init__(self, done: Done) -> None:
        self._capture = Capture()
        self._done: Done | None = done

    @guarded("end of a streamed body")
    def _finish(self, error: BaseException | None = None) -> None:
        done, self._done = self._done, None
        # The response may be kept for long; what it let through need not be.
        capture, self._capture = self._capture, Capture()
        if done is not None:
            done(capture, error)

    def __del__(self) -> None:
        # A response that was dropped unread and unclosed still has to end its span.
        self._finish()


class SyncTee(_Tee, httpx.SyncByteStream):
    """A tee for `httpx.Client`."""

    def __init__(self, inner: httpx.SyncByteStream, done: Done) -> None:
        super().__init__(done)
        self._inner = inner

    def __iter__(self) -> Iterator[bytes]:
        """Pass the chunks on."""
        add = self._capture.add
        try:
            for chunk in self._inner:
                add(chunk)
                yield chunk
        except GeneratorExit:
            # The caller has enough; `close` follows.
            raise
        except BaseException as error:
            self._finish(error)
            raise
        self._capture.complete = True

    def close(self) -> None:
        """Close the stream; the body is over, whether it was read or not."""
        try:
            self._inner.close()
        finally:
            self._finish()


class AsyncTee(_Tee, httpx.AsyncByteStream):
    """A tee for `httpx.AsyncClient`."""

    def __init__(self, inner: httpx.AsyncByteStream, done: Done) -> None:
        super().__init__(done)
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Pass the chunks on."""
        add = self._capture.add
        try:
            async for chunk in self._inner:
                add(chunk)
                yield chunk
        except GeneratorExit:
            # The caller has enough; `close` follows.
            raise
        except BaseException as error:
            self._finish(error)
            raise
        self._capture.complete = True

    async def aclose(self) -> None:
        """Close the stream; the body is over, whether it was read or not."""
        try:
            await self._inner.aclose()
        finally:
            self._finish()


def tee(response: httpx.Response, done: Done) -> None:
    """Put a tee between a response and its stream."""
    stream = response.stream
    if isinstance(stream, httpx.AsyncByteStream) and not isinstance(stream, httpx.SyncByteStream):
        response.stream = AsyncTee(stream, done)
    else:
        response.stream = SyncTee(cast("httpx.SyncByteStream", stream), done)
