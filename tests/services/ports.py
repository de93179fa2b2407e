"""Free TCP ports on loopback, taken below the kernel's ephemeral range.

A client that keeps retrying a dead service on a port inside that range can connect to itself, and
any outgoing connection can take the port before the service is started again.
"""

import contextlib
import os
import socket
import time
from pathlib import Path

LOOPBACK = "127.0.0.1"
_RANGE_FILE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_ports(count: int) -> list[int]:
    """Return `count` different ports that nobody listens on.

    Raises:
        OSError: the range below the ephemeral ports has not that many.
    """
    low, high = _range()
    start = (os.getpid() * 97 + time.time_ns() // 1000) % (high - low)
    found: list[int] = []
    with contextlib.ExitStack() as held:
        for step in range(high - low):
            port = low + (start + step) % (high - low)
            candidate = held.enter_context(socket.socket())
            try:
                candidate.bind((LOOPBACK, port))
            except OSError:
                continue
            found.append(port)
            if len(found) == count:
                return found
    raise OSError(f"no {count} free ports between {low} and {high}")


def _range() -> tuple[int, int]:
    ephemeral = 32768
    if _RANGE_FILE.exists():
        ephemeral = int(_RANGE_FILE.read_text().split()[0])
    return (20000, ephemeral) if ephemeral > 21000 else (10000, 20000)
