"""Response streams that note what passes through them and take nothing away.

The caller reads, stops early or closes as if the stream were httpx's own; when it is done, the
callback gets what was seen. Nothing is attached to the context while the caller holds a chunk.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._http.bodies import Capture
from seekwatch.sdk._http.call import HttpCall
from seekwatch.sdk._http.messages import ResponseView


class _Tee:
    def __init__(self, inner: Any, call: HttpCall, answer: ResponseView) -> None:
        self._inner = inner
        self._open: tuple[HttpCall, ResponseView, Capture] | None = (call, answer, Capture())

    @guarded("a chunk of a body")
    def _add(self, chunk: bytes) -> None:
        if self._open is not None:
            self._open[2].add(chunk)

    @guarded("end of a streamed body")
    def _all_came(self) -> None:
        if self._open is not None:
            self._open[2].complete = True

    @guarded("end of a streamed body")
    def _finish(self, error: BaseException | None = None) -> None:
        # The response may be kept for long; what it let through need not be.
        seen, self._open = self._open, None
        if seen is not None:
            call, answer, capture = seen
            call.over(answer, capture, error)

    # A response that was dropped unread and unclosed still has to end its span.
    __del__ = _finish


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
        self._all_came()

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
        self._all_came()

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

    def put(self, response: Any, call: HttpCall, answer: ResponseView) -> None:
        """Put a tee between a response and its stream; the call ends with the body."""
        stream = response.stream
        is_async = isinstance(stream, self._async_stream)
        tee = self._sync_tee if isinstance(stream, self._sync_stream) else self._async_tee
        response.stream = (tee if is_async else self._sync_tee)(stream, call, answer)
