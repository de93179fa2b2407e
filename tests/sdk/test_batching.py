import logging
import threading

import pytest
from opentelemetry.sdk.trace import TracerProvider

from seekwatch.sdk._export.batching import BatchingProcessor, EndedSpan, Limits
from seekwatch.sdk._guard import failures, reset_failures
from tests.services.waiting import eventually


class Gate:
    """A stage that holds every export until it is opened."""

    def __init__(self, *, is_open: bool = True) -> None:
        self.names: list[str] = []
        self.exported = 0
        self.nobody_at: str | None = None
        self.refused: dict[str, int] = {}
        self.closed = 0
        self.opened = threading.Event()
        if is_open:
            self.opened.set()

    def hurry(self) -> None:
        """Nothing is waited for here."""

    def export(self, batch: list[EndedSpan]) -> None:
        self.opened.wait()
        self.names += [ended.span.name for ended in batch]
        self.exported += len(batch)

    def shutdown(self) -> None:
        self.closed += 1


def tracer_for(processor: BatchingProcessor) -> TracerProvider:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(processor)
    return provider


def end_spans(provider: TracerProvider, count: int, size: int = 0) -> None:
    tracer = provider.get_tracer("t")
    for number in range(count):
        tracer.start_span(str(number), attributes={"filler": "x" * size}).end()


def test_spans_leave_in_order_when_flushed() -> None:
    gate = Gate()
    processor = BatchingProcessor(gate, Limits())
    end_spans(tracer_for(processor), 1000)
    assert processor.force_flush()
    assert gate.names == [str(number) for number in range(1000)]
    processor.shutdown()


def test_a_full_batch_leaves_without_a_flush() -> None:
    gate = Gate()
    processor = BatchingProcessor(gate, Limits(schedule_seconds=1000, batch_size=10))
    end_spans(tracer_for(processor), 10)
    eventually(lambda: len(gate.names) == 10, what="a full batch to leave")
    processor.shutdown()


def test_the_schedule_sends_what_is_there() -> None:
    gate = Gate()
    processor = BatchingProcessor(gate, Limits(schedule_seconds=0.05))
    end_spans(tracer_for(processor), 3)
    eventually(lambda: len(gate.names) == 3, what="the schedule to send three spans")
    processor.shutdown()


def test_a_full_queue_drops_and_counts_and_warns_once(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate(is_open=False)
    processor = BatchingProcessor(gate, Limits(queue_size=10, batch_size=10))
    provider = tracer_for(processor)
    with caplog.at_level(logging.WARNING):
        end_spans(provider, 50)
    assert processor.dropped >= 30
    assert len([r for r in caplog.records if "queue is full" in r.message]) == 1
    gate.opened.set()
    assert processor.force_flush()
    assert len(gate.names) + processor.dropped == 50
    processor.shutdown()


def test_the_queue_is_bounded_in_bytes_too() -> None:
    gate = Gate(is_open=False)
    processor = BatchingProcessor(gate, Limits(), max_bytes=100_000)
    end_spans(tracer_for(processor), 50, size=10_000)
    assert processor.dropped >= 40
    gate.opened.set()
    processor.shutdown()


def test_unsampled_spans_are_not_taken() -> None:
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    gate = Gate()
    processor = BatchingProcessor(gate, Limits())
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    provider.add_span_processor(processor)
    end_spans(provider, 3)
    assert processor.force_flush()
    assert gate.names == []
    processor.shutdown()


def test_flush_gives_up_at_its_deadline() -> None:
    gate = Gate(is_open=False)
    processor = BatchingProcessor(gate, Limits())
    end_spans(tracer_for(processor), 3)
    assert processor.force_flush(50) is False
    gate.opened.set()
    assert processor.force_flush() is True
    processor.shutdown()


def test_shutdown_sends_the_rest_and_is_idempotent() -> None:
    gate = Gate()
    processor = BatchingProcessor(gate, Limits())
    provider = tracer_for(processor)
    end_spans(provider, 5)
    processor.shutdown()
    processor.shutdown()
    assert len(gate.names) == 5
    assert gate.closed == 1
    end_spans(provider, 2)
    assert len(gate.names) == 5


def test_shutdown_keeps_its_deadline_when_the_stage_hangs() -> None:
    gate = Gate(is_open=False)
    processor = BatchingProcessor(gate, Limits())
    end_spans(tracer_for(processor), 600)
    # Without one it would wait for the gate, which nobody opens before it is back.
    processor.shutdown(0.2)
    gate.opened.set()


def test_a_stage_that_raises_does_not_stop_the_thread() -> None:
    from seekwatch.sdk._guard import failures, reset_failures

    class Failing(Gate):
        def export(self, batch: list[EndedSpan]) -> None:
            super().export(batch)
            raise RuntimeError("export failed")

    gate = Failing()
    processor = BatchingProcessor(gate, Limits(batch_size=1))
    end_spans(tracer_for(processor), 3)
    assert processor.force_flush()
    assert len(gate.names) == 3
    assert failures() == {"exporting spans": 3}
    reset_failures()
    processor.shutdown()


def test_limits_come_from_otel_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "250")
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "100")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "many")
    assert Limits.from_environment() == Limits(0.25, 100, 100)


def test_where_no_thread_can_start_shutdown_exports_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        # What Python 3.12 does when the interpreter is shutting down.
        raise RuntimeError("can't create new thread at interpreter shutdown")

    gate = Gate()
    processor = BatchingProcessor(gate, Limits())
    provider = tracer_for(processor)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        end_spans(provider, 600)
        processor.shutdown()
    assert gate.names == [str(number) for number in range(600)]
    assert (gate.closed, processor.dropped) == (1, 0)


@pytest.mark.parametrize("end", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_what_would_end_a_thread_costs_its_batch_only(end: type[BaseException]) -> None:
    class Raising(Gate):
        def export(self, batch: list[EndedSpan]) -> None:
            if batch[0].span.name == "0":
                raise end
            super().export(batch)

    stage = Raising()
    processor = BatchingProcessor(stage, Limits(schedule_seconds=3600, batch_size=1))
    provider = tracer_for(processor)
    end_spans(provider, 3)
    assert processor.force_flush()
    assert stage.names == ["1", "2"]
    processor.shutdown()
    # No longer there, and no other count has it.
    assert processor.dropped == 1
    assert failures() == {"the exporting thread": 1}
    reset_failures()


def test_what_hangs_at_the_shutdown_is_lost_once() -> None:
    gate = Gate(is_open=False)
    processor = BatchingProcessor(gate, Limits(schedule_seconds=3600, batch_size=2))
    provider = tracer_for(processor)
    end_spans(provider, 5)
    processor.shutdown(0.01)
    assert processor.dropped == 5
    end_spans(provider, 1)
    assert processor.dropped_by == {"queue_full": 0, "shutdown": 5, "closed": 1}
    gate.opened.set()
