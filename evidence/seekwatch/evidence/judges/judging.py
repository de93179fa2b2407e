"""`JudgeSource`: has a sample of the runs judged by a model, off the worker's loop.

A judge costs money and time and may fail in every way that a network has; none of it delays a
scorecard beyond the deadline for evidence, and a run that was not judged is simply not judged.
"""

import functools
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Final, Protocol

import msgspec
from cachetools import LRUCache

from seekwatch.core.evidence import Evidence, Judgement
from seekwatch.core.model import Episode
from seekwatch.core.verdicts import Reason

from .asking import MAX_TOKENS, Failure, JudgeClient, JudgeError, ModelAnswer
from .budget import HourlyBudget
from .items import Item, items_of
from .pool import DaemonPool
from .prompts import REVISION, answer_schema, messages
from .replies import Reply, read_reply
from .rubrics import Rubric

_MARGIN: Final = 0.25
"""Seconds before the deadline at which an episode goes on with what has been judged by then."""
_SHORTEST: Final = 0.5
"""Seconds below which no call is begun any more."""
_SPACE: Final = float(1 << 64)

RESULTS: Final = (
    "answered",
    "remembered",
    "invalid",
    "timeout",
    "unavailable",
    "rejected",
    "over_budget",
    "crowded_out",
)
"""How a wish for a judgement can end."""


class JudgeObserver(Protocol):
    """Is told what judging does; a metrics gateway, or a test."""

    def judged(self, result: str) -> None:
        """Take note of how one judgement ended: one of `RESULTS`."""
        ...

    def judge_spent(self, dollars: float) -> None:
        """Take note of money spent."""
        ...


Price = Callable[[int, int], float | None]
"""US dollars of a call by its tokens read and written; None when the price is not known."""


class Judge:
    """One model with its rubrics' memory and budget; safe to share between threads.

    Args:
        client: asks the model.
        budget: of an hour.
        price: of a call.
        observer: is told what happens.
        remembered: judgements kept, by what was judged.
        now: nanoseconds since the epoch.
    """

    def __init__(
        self,
        client: JudgeClient,
        budget: HourlyBudget,
        price: Price,
        observer: JudgeObserver,
        *,
        remembered: int = 4096,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        self._client = client
        self._budget = budget
        self._price = price
        self._observer = observer
        self._now = now
        self._memory: LRUCache[str, Judgement] = LRUCache(maxsize=max(1, remembered))
        self._lock = threading.Lock()

    def revision(self, rubric: Rubric) -> str:
        """Return what a judgement's revision is made of: rubric, frame and model, as a digest."""
        said = f"{REVISION}|{rubric.digest}|{self._client.model}"
        return hashlib.sha256(said.encode()).hexdigest()[:12]

    def judge(self, rubric: Rubric, item: Item, timeout: float) -> Judgement | None:
        """Judge one item; None where nobody was asked.

        Args:
            rubric: to judge by.
            item: to judge.
            timeout: seconds.
        """
        content = json.dumps(item.content, ensure_ascii=False, sort_keys=True)
        key = f"{self.revision(rubric)}|{hashlib.sha256(content.encode()).hexdigest()}"
        with self._lock:
            known = self._memory.get(key)
        if known is not None:
            self._observer.judged("remembered")
            return _as_remembered(known, item)
        asked = messages(rubric, item.content)
        # No tokenizer makes more tokens than bytes: the most that a call may cost.
        size = sum(len(message["content"].encode()) for message in asked)
        reservation = self._budget.take(self._price(size, MAX_TOKENS) or 0.0)
        if reservation is None:
            self._observer.judged("over_budget")
            return None
        try:
            answer = self._client.ask(asked, answer_schema(rubric), timeout)
        except JudgeError as error:
            # What was given up on may have been answered, and billed, all the same.
            reservation.settle(None if error.failure is Failure.TIMEOUT else 0.0)
            self._observer.judged(error.failure.value)
            reply = Reply(reason=Reason.JUDGE_FAILED, rationale=f"{error.failure}: {error}")
            return self._judgement(rubric, item, content, reply, self._client.model, None)
        cost = self._cost(answer)
        reservation.settle(cost)
        if cost is not None:
            self._observer.judge_spent(cost)
        reply = read_reply(rubric, answer.text, item.content)
        valid = reply.reason is not Reason.INVALID_SCORE
        self._observer.judged("answered" if valid else "invalid")
        found = self._judgement(rubric, item, content, reply, answer.model, cost)
        if valid:
            with self._lock:
                self._memory[key] = found
        return found

    def _cost(self, answer: ModelAnswer) -> float | None:
        if answer.input_tokens is None or answer.output_tokens is None:
            return None
        return self._price(answer.input_tokens, answer.output_tokens)

    def _judgement(
        self,
        rubric: Rubric,
        item: Item,
        content: str,
        reply: Reply,
        model: str,
        cost: float | None,
    ) -> Judgement:
        return Judgement(
            rubric=rubric.name,
            revision=self.revision(rubric),
            model=model,
            at=self._now(),
            judged=content,
            rationale=reply.rationale,
            subject=item.subject,
            quote=reply.quote,
            score=reply.score,
            label=reply.label,
            reason=reply.reason,
            spans=item.spans,
            cost=cost,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _as_remembered(known: Judgement, item: Item) -> Judgement:
    return msgspec.structs.replace(known, subject=item.subject, spans=item.spans, cost=None)


class JudgeSource:
    """Has a share of the episodes judged, by way of threads of its own.

    Args:
        judge: asks the model.
        rubrics: each is asked of every sampled episode that it applies to.
        share: of the traces, 0 to 1, chosen by a hash of their ids.
        timeout: seconds of one call.
        threads: calls at a time.
        waiting: episodes that may wait for a thread; more are not judged.
    """

    def __init__(
        self,
        judge: Judge,
        rubrics: Sequence[Rubric],
        *,
        share: float,
        timeout: float,
        threads: int,
        observer: JudgeObserver,
        waiting: int = 200,
    ) -> None:
        self._judge = judge
        self._rubrics = tuple(rubrics)
        self._share = share
        self._timeout = timeout
        self._observer = observer
        self._room = threading.BoundedSemaphore(waiting)
        self._pool: DaemonPool[Evidence] = DaemonPool(threads, "seekwatch-judge")
        self._closed = False

    def look_up(self, episode: Episode, deadline: float) -> Future[Evidence] | None:
        """Begin to have an episode judged; None where it is not in the sample."""
        if self._closed or not is_sampled(episode.trace, self._share):
            return None
        if not self._room.acquire(blocking=False):
            self._observer.judged("crowded_out")
            return None
        until = time.monotonic() + deadline - _MARGIN
        answer = self._pool.submit(functools.partial(self._look_up, episode, until))
        answer.add_done_callback(lambda _: self._room.release())
        return answer

    def _look_up(self, episode: Episode, until: float) -> Evidence:
        found: list[Judgement] = []
        for rubric, item in self._asked(episode):
            left = min(self._timeout, until - time.monotonic())
            if left < _SHORTEST or self._closed:
                self._observer.judged("timeout")
                break
            judgement = self._judge.judge(rubric, item, left)
            if judgement is not None:
                found.append(judgement)
        return Evidence(judgements=tuple(found))

    def _asked(self, episode: Episode) -> Iterator[tuple[Rubric, Item]]:
        for rubric in self._rubrics:
            for item in items_of(rubric.about, episode):
                yield rubric, item

    def close(self) -> None:
        """Stop: what waits is not asked any more, and nobody waits for what is being asked."""
        if not self._closed:
            self._closed = True
            self._pool.close()
            self._judge.close()


def is_sampled(trace: str, share: float) -> bool:
    """Tell whether a trace belongs to the sample: the same traces on every worker and re-run.

    The id is hashed again, so that the sample does not depend on how the traces themselves were
    sampled by their ids.
    """
    digest = hashlib.blake2b(trace.encode(), digest_size=8, person=b"judge").digest()
    return int.from_bytes(digest, "big") / _SPACE < share
