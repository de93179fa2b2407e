"""The certificate of the receiver, for both transports."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from seekwatch.core.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """PEM files.

    Attributes:
        certificate: the chain that the receiver shows.
        key: its private key.
        client_ca: where set, senders must show a certificate signed by one of these.
    """

    certificate: str
    key: str
    client_ca: str | None = None

    def check(self) -> None:
        """Load everything once, so that a wrong file stops the start and not the first request.

        Raises:
            ConfigurationError: a file is missing or holds something else.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(self.certificate, self.key)
        except OSError as error:
            raise ConfigurationError(
                "receiver.tls_cert, receiver.tls_key",
                f"{self.certificate}, {self.key}",
                f"no certificate and key in PEM ({error})",
            ) from error
        if self.client_ca is None:
            return
        try:
            context.load_verify_locations(self.client_ca)
        except OSError as error:
            raise ConfigurationError(
                "receiver.tls_client_ca", self.client_ca, f"no certificates in PEM ({error})"
            ) from error

    def read(self) -> tuple[bytes, bytes, bytes | None]:
        """Return the contents: certificate, key, client CA."""
        authority = None if self.client_ca is None else Path(self.client_ca).read_bytes()
        return Path(self.certificate).read_bytes(), Path(self.key).read_bytes(), authority
