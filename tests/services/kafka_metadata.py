"""Asking a broker which nodes it sees: a Metadata request (version 4) spoken by hand.

An open port is no readiness, and the first answer of a cluster may lack nodes. A client library
would cache and retry; fifteen lines of protocol say what one node knows at this moment.
"""

import socket
import struct
from typing import NamedTuple

from tests.services.ports import LOOPBACK

_METADATA_KEY, _METADATA_VERSION = 3, 4
_CLIENT_ID = b"seekwatch-tests"
_TIMEOUT_SECONDS = 1.0


class View(NamedTuple):
    """What one node knows of its cluster."""

    nodes: frozenset[int]
    has_controller: bool


def cluster_view(port: int) -> View:
    """Return what the node that listens on `port` sees.

    Raises:
        OSError: it does not answer yet, or with less than a whole message.
    """
    header = struct.pack(">hhih", _METADATA_KEY, _METADATA_VERSION, 1, len(_CLIENT_ID))
    # No topics, and no creation of any.
    request = header + _CLIENT_ID + struct.pack(">i", 0) + b"\0"
    with socket.create_connection((LOOPBACK, port), _TIMEOUT_SECONDS) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        with connection.makefile("rb") as stream:
            try:
                (size,) = struct.unpack(">i", stream.read(4))
                return _parse(stream.read(size))
            except struct.error as error:
                raise OSError("an incomplete Metadata answer") from error


def _parse(answer: bytes) -> View:
    offset = 8  # correlation id, throttle time
    (count,) = struct.unpack_from(">i", answer, offset)
    offset += 4
    nodes: set[int] = set()
    for _ in range(count):
        (node,) = struct.unpack_from(">i", answer, offset)
        nodes.add(node)
        offset = _skip_string(answer, offset + 4)  # host
        offset = _skip_string(answer, offset + 4)  # port, then rack
    offset = _skip_string(answer, offset)  # cluster id
    (controller,) = struct.unpack_from(">i", answer, offset)
    return View(frozenset(nodes), controller >= 0)


def _skip_string(answer: bytes, offset: int) -> int:
    length: int = struct.unpack_from(">h", answer, offset)[0]
    return offset + 2 + max(length, 0)
