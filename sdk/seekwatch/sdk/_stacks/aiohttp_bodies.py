"""Notes the bytes of an aiohttp body as the agent takes them from the stream's buffer.

aiohttp receives ahead of the agent, so only what leaves the buffer has been read. Every way to read
(`read`, `text`, `json`, `iter_any`, `readline`, …) takes whole chunks from it or a part of the
first one. The tee is the buffer itself: a deque that notes what leaves it.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._http.bodies import Capture
from seekwatch.sdk._replacing import replace_all

Done = Callable[[Capture, BaseException | None], None]


class TeeBuffer(deque[bytes]):
    """The buffer of one stream.

    Attributes are set by `put`; it knows nothing of the stream, so that both are freed at once.
    """

    _done: Done | None = None
    _capture: Capture
    _all_came = False
    _error: BaseException | None = None

    def begin(self, done: Done, *, is_decoded: bool) -> None:
        """Note what leaves from now on."""
        self._capture = Capture(is_decoded=is_decoded)
        self._done = done

    def popleft(self) -> bytes:
        """Take the first chunk: it has been read."""
        chunk = super().popleft()
        self._read(chunk)
        return chunk

    @guarded("a chunk of a body")
    def _read(self, chunk: bytes) -> None:
        if self._done is None:
            return
        self._error = None
        self._capture.add(chunk)
        if self._all_came and not self:
            self.finish(complete=True)

    @guarded("end of a streamed body")
    def all_came(self) -> None:
        """Note that nothing follows what is in the buffer."""
        self._all_came = True
        if not self:
            self.finish(complete=True)

    def failed(self, error: BaseException) -> None:
        """Note that the agent waited in vain; it may try again."""
        self._error = error

    def closed(self, taken: int, error: BaseException | None) -> None:
        """Note that the agent reads no more.

        Args:
            taken: bytes of the first chunk that it has read.
            error: what broke the stream, if anything did.
        """
        if self and taken and self._done is not None:
            self._capture.add(self[0][:taken])
        self.finish(error=self._error or (None if self else error))

    @guarded("end of a streamed body")
    def finish(self, *, complete: bool = False, error: BaseException | None = None) -> None:
        """Hand over what was seen, the first time."""
        done, self._done = self._done, None
        if done is None:
            return
        capture, self._capture = self._capture, Capture()
        capture.complete = complete
        done(capture, error)

    @guarded("end of a streamed body")
    def __del__(self) -> None:
        # A response that was dropped unread and unclosed still has to end its span.
        self.finish()


def put(stream: Any, done: Done, *, is_decoded: bool) -> None:
    """Note what is read of a stream; `done` gets it when the body is over."""
    buffer = TeeBuffer(stream._buffer)
    stream._buffer = buffer
    buffer.begin(done, is_decoded=is_decoded)
    stream.on_eof(buffer.all_came)


def install(library: Any) -> Callable[[], None]:
    """Wrap what ends a body before its end; returns what puts the originals back."""
    response = library.client_reqrep.ClientResponse
    return replace_all(
        (
            (response, "close", _closing),
            (response, "release", _closing),
            (library.streams.StreamReader, "_wait", _waiting),
        )
    )


def _closing(original: Callable[..., Any]) -> Callable[..., Any]:
    def close(self: Any) -> Any:
        _close(self)
        return original(self)

    return close


@guarded("end of a streamed body")
def _close(response: Any) -> None:
    stream = response.content
    buffer = getattr(stream, "_buffer", None)
    if isinstance(buffer, TeeBuffer):
        buffer.closed(getattr(stream, "_buffer_offset", 0), stream.exception())


def _waiting(original: Callable[..., Any]) -> Callable[..., Any]:
    async def wait(self: Any, *args: Any, **options: Any) -> Any:
        try:
            return await original(self, *args, **options)
        except BaseException as error:
            _failed(self, error)
            raise

    return wait


@guarded("a chunk of a body")
def _failed(stream: Any, error: BaseException) -> None:
    buffer = stream._buffer
    if isinstance(buffer, TeeBuffer):
        buffer.failed(error)
