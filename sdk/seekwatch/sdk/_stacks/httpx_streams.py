"""Response streams that note what passes through them and take nothing away.

The caller reads, stops early or closes as if the stream were httpx's own; when it is done, the
callback gets what was seen. Nothing is attached to the context while the caller holds a chunk.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._http.bodies import Capture

Done = Callable[[Capture, BaseException | None], None]


class _Tee:
    def __init__(self, inner: Any, done: Done) -> None:
        self._inner = inner
        self._capture = Capture()
        self._done: Done | None = done

    @guarded("a chunk of a body")
    def _add(self, chunk: bytes) -> None:
        self._capture.add(chunk)

    @guarded("end of a streamed body")
    def _finish(self, error: BaseException | None = None) -> None:
        done, self._done = self._done, None
        # The response may be kept for long; what it let through need not be.
        capture, self._capture = self._capture, Capture()
        if done is not None:
            done(capture, error)

    @guarded("end of a streamed body")
    def __del__(self) -> None:
        # A response that was dropped unread and unclosed still has to end its span.
        self._finish()


class _SyncTee(_Tee):
    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._inner:
                self._add(chunk)
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


class _AsyncTee(_Tee):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._inner:
                self._add(chunk)
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


class Tees:
    """Puts tees into the responses of one library, as streams of that library's own kind.

    Args:
        library: the module, `httpx` or `httpx2`.
    """

    def __init__(self, library: Any) -> None:
        self._sync_stream: type[Any] = library.SyncByteStream
        self._async_stream: type[Any] = library.AsyncByteStream
        self._sync_tee: type[Any] = type("SyncTee", (_SyncTee, library.SyncByteStream), {})
        self._async_tee: type[Any] = type("AsyncTee", (_AsyncTee, library.AsyncByteStream), {})

    def put(self, response: Any, done: Done) -> None:
        """Put a tee between a response and its stream."""
        stream = response.stream
        is_async = isinstance(stream, self._async_stream)
        tee = self._sync_tee if isinstance(stream, self._sync_stream) else self._async_tee
        response.stream = (tee if is_async else self._sync_tee)(stream, done)
