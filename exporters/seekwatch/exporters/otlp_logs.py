"""Sending log records over OTLP, so that the caller knows what became of them.

The SDK's exporter retries inside, then drops and says so in a log line. A consumer that commits
after delivery needs the answer itself: delivered, try later, or never.
"""

import gzip
import logging
import re
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final, Protocol, cast
from urllib.parse import SplitResult, urlsplit, urlunsplit

import httpx
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)

from seekwatch.core.errors import ConfigurationError, PermanentError, RetryableError

_log = logging.getLogger(__name__)

SECONDS: Final = 10.0
"""Longest wait for one answer, OTLP's usual export timeout."""

_LOGS_PATH: Final = "/v1/logs"
_METHOD: Final = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"

_DATA_STATUSES: Final = frozenset({400, 413, 415, 422})
"""What a backend answers when the *data* is at fault. Every other failure (a wrong token, a wrong
path, a proxy's page) is mended outside, so it is waited for and nothing is lost to it."""

_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+")
_SECURE_SCHEMES: Final = frozenset({"https", "grpcs"})


class LogsTransport(Protocol):
    """One way to a backend."""

    def send(self, request: ExportLogsServiceRequest) -> None:
        """Deliver a request.

        Raises:
            RetryableError: not delivered; try again.
            PermanentError: the backend will never take it.
        """

    def close(self) -> None:
        """Release; calling it again does nothing."""


def logs_transport(
    endpoint: str,
    *,
    headers: Mapping[str, str] | None = None,
    timeout: float = SECONDS,
    certificate: Path | None = None,
) -> LogsTransport:
    """Return the transport that an endpoint asks for.

    Args:
        endpoint: `http(s)://host:4318[/path]` (`/v1/logs` is added where it is missing) or
            `grpc(s)://host:4317`.
        headers: sent with every request.
        timeout: seconds.
        certificate: PEM file of the authority to trust instead of the system's.

    Raises:
        ConfigurationError: another scheme, no host or port that could be, a header that cannot be
            sent, or a certificate that is no file.
    """
    parts = _parts(endpoint)
    _check_headers(headers or {})
    if certificate is not None and not certificate.is_file():
        raise ConfigurationError("evaluation.certificate", str(certificate), "name a PEM file")
    if parts.scheme not in ("http", "https", "grpc", "grpcs") or not parts.hostname:
        raise ConfigurationError(
            "evaluation.endpoint", endpoint, "write http(s)://host:4318 or grpc(s)://host:4317"
        )
    if parts.scheme in ("http", "https"):
        path = parts.path.rstrip("/")
        if not path.endswith(_LOGS_PATH):
            path += _LOGS_PATH
        url = urlunsplit(parts._replace(path=path))
        return HttpLogs(url, headers=headers or {}, timeout=timeout, certificate=certificate)
    return GrpcLogs(
        parts.netloc,
        secure=parts.scheme in _SECURE_SCHEMES,
        headers=headers or {},
        timeout=timeout,
        certificate=certificate,
    )


def _parts(endpoint: str) -> SplitResult:
    try:
        parts = urlsplit(endpoint)
        _ = parts.port
    except ValueError as error:
        raise ConfigurationError("evaluation.endpoint", endpoint, str(error)) from error
    return parts


def _check_headers(headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        if not (_HEADER_NAME.fullmatch(name) and value.isascii() and value.isprintable()):
            # The value is a secret more often than not.
            raise ConfigurationError(
                f"evaluation.headers.{name}", "…", "write printable ASCII; no space in the name"
            )


class HttpLogs:
    """OTLP over HTTP: protobuf, gzip.

    Args:
        url: of the logs endpoint, complete.
        headers, timeout, certificate: as `logs_transport`.
    """

    def __init__(
        self, url: str, *, headers: Mapping[str, str], timeout: float, certificate: Path | None
    ) -> None:
        self._url = url
        verify = httpx.create_ssl_context(verify=str(certificate) if certificate else True)
        self._client = httpx.Client(headers=dict(headers), timeout=timeout, verify=verify)

    def send(self, request: ExportLogsServiceRequest) -> None:
        """Deliver a request; see `LogsTransport`."""
        try:
            answer = self._client.post(
                self._url,
                content=gzip.compress(request.SerializeToString(), compresslevel=1),
                headers={"content-type": "application/x-protobuf", "content-encoding": "gzip"},
            )
        except httpx.HTTPError as error:
            raise RetryableError(f"{self._url}: {type(error).__name__}: {error}") from error
        if answer.is_success:
            _report_partial(answer.content)
            return
        message = f"{self._url} answered {answer.status_code}"
        if answer.status_code in _DATA_STATUSES:
            raise PermanentError(message)
        raise RetryableError(message, retry_after=_retry_after(answer.headers))

    def close(self) -> None:
        """Close the connections; calling it again does nothing."""
        self._client.close()


class GrpcLogs:
    """OTLP over gRPC.

    Args:
        target: `host:port`.
        secure: TLS.
        headers, timeout, certificate: as `logs_transport`.
    """

    def __init__(
        self,
        target: str,
        *,
        secure: bool,
        headers: Mapping[str, str],
        timeout: float,
        certificate: Path | None,
    ) -> None:
        # Only who sends by gRPC loads it.
        import grpc

        self._target = target
        self._timeout = timeout
        self._metadata = tuple((name.lower(), value) for name, value in headers.items())
        options = grpc.Compression.Gzip
        if secure:
            trusted = certificate.read_bytes() if certificate else None
            credentials = grpc.ssl_channel_credentials(trusted)
            self._channel = grpc.secure_channel(target, credentials, compression=options)
        else:
            self._channel = grpc.insecure_channel(target, compression=options)
        # Without serializers a call takes and returns bytes.
        self._export = cast("Callable[..., bytes]", self._channel.unary_unary(_METHOD))
        self._error = grpc.RpcError
        self._data_fault = grpc.StatusCode.INVALID_ARGUMENT

    def send(self, request: ExportLogsServiceRequest) -> None:
        """Deliver a request; see `LogsTransport`."""
        try:
            answer = self._export(
                request.SerializeToString(), timeout=self._timeout, metadata=self._metadata
            )
        except self._error as error:
            code = error.code()
            message = f"{self._target} answered {code.name}: {error.details()}"
            if code is self._data_fault:
                raise PermanentError(message) from error
            raise RetryableError(message) from error
        _report_partial(answer)

    def close(self) -> None:
        """Close the channel; calling it again does nothing."""
        self._channel.close()


def _report_partial(body: bytes) -> None:
    """Say what a backend took only in part: by the protocol it must not be sent again."""
    try:
        partial = ExportLogsServiceResponse.FromString(body).partial_success
    except DecodeError:
        return
    if partial.rejected_log_records:
        _log.warning(
            "the backend refused %d evaluation events: %s",
            partial.rejected_log_records,
            partial.error_message,
        )


def _retry_after(headers: httpx.Headers) -> float | None:
    """Seconds that the backend asks for, as a number or as a date against its own clock."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal() and len(value) < len("1000000"):
        return float(value)
    try:
        then, now = parsedate_to_datetime(value), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (then - now).total_seconds())
    except (TypeError, ValueError):
        return None
