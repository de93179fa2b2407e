"""The two kinds of failure, and bad configuration.

Every error of ours is permanent (the same input fails again: dead-letter it, count it, go on) or
retryable (the same call may succeed later: back off). Foreign exceptions become one of the two at
the boundary where they enter.
"""


def why_unreadable(error: Exception) -> str:
    """Say in a person's words why a file could not be read, without its name."""
    match error:
        case FileNotFoundError():
            return "no such file"
        case IsADirectoryError():
            return "is a directory; name a file"
        case PermissionError():
            return "may not be read by this user"
        case UnicodeDecodeError():
            return "is no text in UTF-8"
        case OSError():
            return f"cannot be read: {error.strerror or error}"
        case _:
            return f"cannot be read: {error}"


class SeekwatchError(Exception):
    """Base of every error that Seekwatch raises on purpose."""


class PermanentError(SeekwatchError):
    """The same input would fail again; it is counted and put aside."""


class RetryableError(SeekwatchError):
    """The same call may succeed later.

    Attributes:
        retry_after: seconds to wait at least, or None for the caller's own back-off.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UndecodableError(PermanentError):
    """Bytes that claimed to be OTLP and are not.

    Attributes:
        reason: a word from a closed set, fit for a metric label.
    """

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class ConfigurationError(SeekwatchError):
    """A setting that stops the start.

    Attributes:
        key: the setting's full name as the user writes it.
        value: what was given.
        fix: the sentence that says what to write instead.
    """

    def __init__(self, key: str, value: object, fix: str) -> None:
        super().__init__(f"{key} = {value!r}: {fix}")
        self.key = key
        self.value = value
        self.fix = fix


class FencedError(SeekwatchError):
    """Another member owns a partition now; what was pending for it is dropped, not retried."""
