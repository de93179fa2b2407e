"""Notes the bytes of a urllib3 response where they come off the wire, for whoever reads them.

urllib3 gives bodies out in many ways (`read`, `stream`, `data`, iteration, requests' own on top of
these), which all come through two methods. What is seen there are the bytes of the wire, before
any content encoding is undone, and only as the agent reads. The tee hangs on the response and
knows nothing of it, so that a dropped response is freed, and its span ended, at once.
"""

from collections.abc import Callable, Generator
from typing import Any, Final

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._http.bodies import Capture
from seekwatch.sdk._replacing import replace_all

Done = Callable[[Capture, BaseException | None], None]

_KEY: Final = "_seekwatch_tee"
_COUNT: Final = "_seekwatch_bytes"


class _Tee:
    def __init__(self, done: Done) -> None:
        self._done: Done | None = done
        self._capture = Capture()
        self.is_reading = False
        """urllib3 is at work: it closes and lets go of the connection before it raises an error."""

    @guarded("a chunk of a body")
    def add(self, chunk: bytes | None) -> None:
        if chunk:
            self._capture.add(chunk)

    @guarded("end of a streamed body")
    def finish(self, *, complete: bool = False, error: BaseException | None = None) -> None:
        done, self._done = self._done, None
        capture, self._capture = self._capture, Capture()
        capture.complete = complete
        if done is not None:
            done(capture, error)

    @guarded("end of a streamed body")
    def __del__(self) -> None:
        # A response that was dropped unread and unclosed still has to end its span.
        self.finish()


def put(response: Any, done: Done) -> None:
    """Note what is read of a response from now on; `done` gets it when the body is over."""
    setattr(response, _KEY, _Tee(done))


def can_note(response: Any) -> bool:
    """Tell whether what is read of a response comes through our wrappers."""
    read: Any = getattr(response, "read", None)
    return hasattr(response, "_fp") and hasattr(read, "__wrapped__")


def counted(response: Any) -> int | None:
    """Return how many bytes of body came over the wire; urllib3 counts no chunks."""
    bytes_read: int | None = getattr(response, "_fp_bytes_read", None)
    return bytes_read or getattr(response, _COUNT, None)


def install(library: Any) -> Callable[[], None]:
    """Wrap the responses of urllib3; returns what puts the originals back."""
    owner = library.response.HTTPResponse
    return replace_all(
        (
            (owner, "_fp_read", _noting),
            (owner, "_handle_chunk", _noting_chunk),
            (owner, "read", _reading),
            (owner, "read1", _reading),
            (owner, "read_chunked", _reading_chunks),
            (owner, "release_conn", _releasing),
            (owner, "close", _closing),
        )
    )


@guarded("a chunk of a body")
def _tee(response: Any) -> _Tee | None:
    found: _Tee | None = getattr(response, _KEY, None)
    return found


def _noting(original: Callable[..., Any]) -> Callable[..., Any]:
    def noted(self: Any, *args: Any, **options: Any) -> Any:
        chunk = original(self, *args, **options)
        tee = _tee(self)
        if tee is not None:
            tee.add(chunk)
        return chunk

    return noted


def _noting_chunk(original: Callable[..., Any]) -> Callable[..., Any]:
    noting = _noting(original)

    def noted(self: Any, *args: Any, **options: Any) -> Any:
        chunk = noting(self, *args, **options)
        _count(self, chunk)
        return chunk

    return noted


@guarded("a chunk of a body")
def _count(response: Any, chunk: bytes) -> None:
    setattr(response, _COUNT, getattr(response, _COUNT, 0) + len(chunk))


def _reading(original: Callable[..., Any]) -> Callable[..., Any]:
    def read(self: Any, *args: Any, **options: Any) -> Any:
        tee = _tee(self)
        if tee is None:
            return original(self, *args, **options)
        before, tee.is_reading = tee.is_reading, True
        try:
            data = original(self, *args, **options)
        except BaseException as error:
            tee.finish(error=error)
            raise
        finally:
            tee.is_reading = before
        _finish_at_end(self, tee)
        return data

    return read


def _reading_chunks(original: Callable[..., Any]) -> Callable[..., Any]:
    def read_chunked(self: Any, *args: Any, **options: Any) -> Any:
        chunks = original(self, *args, **options)
        tee = _tee(self)
        return chunks if tee is None else _through(chunks, tee)

    return read_chunked


def _through(chunks: Generator[bytes, None, None], tee: _Tee) -> Generator[bytes, None, None]:
    try:
        while True:
            tee.is_reading = True
            try:
                chunk = next(chunks)
            except StopIteration:
                break
            finally:
                tee.is_reading = False
            yield chunk
    except GeneratorExit:
        # The caller has enough; urllib3 closes the connection then.
        tee.is_reading = True
        chunks.close()
        tee.finish()
        raise
    except BaseException as error:
        tee.finish(error=error)
        raise
    tee.finish(complete=True)


def _releasing(original: Callable[..., Any]) -> Callable[..., Any]:
    def release_conn(self: Any) -> Any:
        result = original(self)
        _finish_if_released(self)
        return result

    return release_conn


def _closing(original: Callable[..., Any]) -> Callable[..., Any]:
    def close(self: Any) -> Any:
        try:
            return original(self)
        finally:
            tee = _tee(self)
            if tee is not None and not tee.is_reading:
                tee.finish()

    return close


@guarded("end of a streamed body")
def _finish_if_released(response: Any) -> None:
    tee = _tee(response)
    if tee is not None and not tee.is_reading and response.isclosed():
        tee.finish()


@guarded("end of a streamed body")
def _finish_at_end(response: Any, tee: _Tee) -> None:
    """End it where the wire has no more; a shorter body than was announced is not complete."""
    if response.isclosed():
        tee.finish(complete=not getattr(response, "length_remaining", None))
