"""Which partitions a member of the group has, and in what state: the rebalance callbacks write it.

The callbacks run inside `poll()`, on the library's own thread while ours waits, and must not call
the consumer's blocking methods. So they only take notes; `KafkaTraceLog` acts on them afterwards.
"""

import importlib
import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from seekwatch.core.errors import ConfigurationError

if TYPE_CHECKING:
    from seekwatch.core.records import RevocationListener

_LOG: Final = logging.getLogger(__name__)

_kafka: Any = importlib.import_module("kafka")
_base: Any = importlib.import_module("kafka.coordinator.base")


def is_stable(consumer: Any) -> bool:
    """Tell whether a consumer is in its group with an assignment."""
    return bool(consumer.group_metadata().state is _base.MemberState.STABLE)


class Membership:
    """Partitions by number; each stands for one of both input topics.

    Attributes:
        listener: told before partitions are given away.
        group: the group's generation at the last assignment; a commit under it is refused by the
            broker once there is a newer one.
    """

    def __init__(self) -> None:
        self.listener: RevocationListener | None = None
        self.group: Any = None
        self._ready: set[int] = set()
        self._waiting: set[int] = set()
        self._revoked: set[int] = set()
        self._lost: set[int] = set()
        self._refused: ConfigurationError | None = None

    def owned(self) -> list[int]:
        """Return the partitions that the group gave us."""
        return sorted(self._ready | self._waiting)

    def ready(self) -> list[int]:
        """Return the partitions that are being read."""
        return sorted(self._ready)

    def waiting(self) -> list[int]:
        """Return the partitions that are ours and have yet to be begun.

        Raises:
            ConfigurationError: the group deals out the two topics in different ways.
        """
        if self._refused is not None:
            raise self._refused
        return sorted(self._waiting)

    def took_over(self, consumer: Any, partitions: Sequence[int]) -> None:
        """Note that reading begins."""
        self._waiting.difference_update(partitions)
        self._ready.update(partitions)
        self._resume(consumer, partitions)

    def start_over(self) -> None:
        """Begin every partition anew: what was handed out is not what is committed."""
        self._waiting |= self._ready
        self._ready.clear()

    def taken_away(self) -> tuple[list[int], list[int]]:
        """Return the partitions revoked and lost since the last call."""
        revoked, lost = sorted(self._revoked - self._lost), sorted(self._lost)
        self._revoked.clear()
        self._lost.clear()
        return revoked, lost

    def kafka_listener(self, consumer: Any) -> Any:
        """Return the object that the consumer calls."""
        membership = self

        class Listener(_kafka.ConsumerRebalanceListener):  # type: ignore[misc]  # untyped
            def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
                membership.assign(consumer, list(assigned))

            def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
                membership.revoke({item.partition for item in revoked})

            def on_partitions_lost(self, lost: Iterable[Any]) -> None:
                membership.lose({item.partition for item in lost})

        return Listener()

    def assign(self, consumer: Any, assigned: Sequence[Any]) -> None:
        """Take note of an assignment; nothing is fetched before its position is known."""
        self.group = consumer.group_metadata()
        by_topic: dict[str, set[int]] = {}
        for item in assigned:
            by_topic.setdefault(item.topic, set()).add(item.partition)
        partitions = set[int]().union(*by_topic.values())
        if any(found != partitions for found in by_topic.values()) or len(by_topic) == 1:
            self._refused = ConfigurationError(
                "kafka.group_id",
                self.group.group_id,
                "a member of this group reads other topics or deals them out otherwise; give the"
                " workers a group of their own",
            )
        self._ready -= partitions
        self._waiting = partitions
        consumer.pause(*assigned)

    def revoke(self, partitions: set[int]) -> None:
        """Give partitions away, after the listener had its last commit."""
        try:
            ready = sorted(partitions & self._ready)
            if self.listener is not None and ready:
                self.listener.on_revoke(ready)
        finally:
            self._revoked |= partitions
            self._ready -= partitions
            self._waiting -= partitions

    def lose(self, partitions: set[int]) -> None:
        """Take note that partitions are somebody else's already."""
        _LOG.warning("lost partitions %s", sorted(partitions))
        self._lost |= partitions
        self._ready -= partitions
        self._waiting -= partitions

    def _resume(self, consumer: Any, partitions: Sequence[int]) -> None:
        consumer.resume(*(item for item in consumer.assignment() if item.partition in partitions))
