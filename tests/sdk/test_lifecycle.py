"""However the agent's process ends or forks, what it saw is sent, and it ends as it would have."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from http.client import RemoteDisconnected
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.services.otlp_sink import BlackHole, HttpSink
from tests.services.ports import free_ports
from tests.services.process import Service
from tests.services.waiting import eventually

PRELUDE = """\
import os, signal, sys, threading, time
from seekwatch.sdk import agent_run, flush, instrument, uninstrument


def run(question):
    with agent_run(question) as started:
        started.answer("a")


"""
INSTRUMENT = 'instrument("ending")\n'
NEVER_BY_ITSELF = {"OTEL_BSP_SCHEDULE_DELAY": "600000", "OTEL_METRIC_EXPORT_INTERVAL": "600000"}
"""Whatever arrives was sent because the process ended."""
PATIENCE = """\
import seekwatch.sdk._instrument, seekwatch.sdk._lifecycle
seekwatch.sdk._lifecycle.TERMINATION_SECONDS = seekwatch.sdk._instrument.SHUTDOWN_SECONDS = 60


"""
"""Where a collector takes what is sent: a loaded machine may need more than the stated seconds."""


class Script:
    """Python source in a file, run as an agent would be."""

    def __init__(self, directory: Path, endpoint: str, *, prelude: str = PRELUDE) -> None:
        self._directory = directory
        self._prelude = prelude
        self._path = directory / "agent.py"
        self._environment = {**NEVER_BY_ITSELF, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}

    def command(self, body: str) -> list[str]:
        self._path.write_text(self._prelude + textwrap.dedent(body))
        return [sys.executable, "-W", "ignore", str(self._path)]

    def run(self, body: str) -> subprocess.CompletedProcess[str]:
        ended = subprocess.run(
            self.command(body),
            env={**os.environ, **self._environment},
            cwd=self._directory,
            capture_output=True,
            text=True,
            timeout=120,
        )
        for noise in ("Token was created", "seekwatch.sdk", "Exception ignored"):
            assert noise not in ended.stderr, ended.stderr
        return ended

    def service(self, body: str, name: str = "agent") -> Service:
        return self.serve(name, self.command(body))

    def serve(self, name: str, command: list[str]) -> Service:
        return Service(name, command, directory=self._directory, environment=self._environment)


@pytest.fixture
def script(tmp_path: Path, sink: HttpSink) -> Script:
    return Script(tmp_path, sink.url, prelude=PATIENCE + PRELUDE)


def questions(sink: HttpSink) -> list[str]:
    return sorted(span.attributes["seekwatch.run.question"] for span in sink.of_kind("AGENT"))


def run_until_killed(
    service: Service, number: signal.Signals = signal.SIGTERM, *, after: str = "ready"
) -> int | None:
    """Start an agent, send it a signal when it says so, and return how it ended."""
    service.start()
    try:
        eventually(lambda: after in service.tail(), what="the agent to be ready")
        service.signal(number)
        eventually(lambda: not service.alive, what="the agent to end")
        return service.exit_code
    finally:
        service.kill()


# The interpreter's own end

ENDS = {
    "end of the script": ("", 0),
    "exit status": ("sys.exit(3)", 3),
    "an exception": ("raise ValueError('boom')", 1),
    "Ctrl-C": ("os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    "SIGTERM in a thread": (
        """
        thread = threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGTERM))
        thread.start()
        time.sleep(60)
        """,
        -signal.SIGTERM,
    ),
    "os._exit after a flush": ("flush(); os._exit(5)", 5),
    "while a thread goes on": (
        """
        def late():
            threading.main_thread().join()
            run("q")
        threading.Thread(target=late).start()
        """,
        0,
    ),
    "in an exit handler registered later": ("import atexit; atexit.register(run, 'q')", 0),
    "a collected generator": (
        """
        def steps():
            with agent_run("q"):
                yield 1
        left_open = steps()
        next(left_open)
        """,
        0,
    ),
}


@pytest.mark.parametrize(("body", "status"), ENDS.values(), ids=ENDS)
def test_what_was_seen_is_sent_and_the_process_ends_as_it_would(
    script: Script, sink: HttpSink, body: str, status: int
) -> None:
    ended = script.run(INSTRUMENT + "run('q')\n" + textwrap.dedent(body))
    assert ended.returncode == status, ended.stderr
    assert questions(sink)[0] == "q"


CUT_SHORT = {
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
    "SIGTERM among other runs": """
        threading.Thread(target=other, daemon=True).start()
        inside.wait(30)
        os.kill(os.getpid(), signal.SIGTERM)
        """,
    "the end of the script, with a run on a daemon thread": """
        threading.Thread(target=other, daemon=True).start()
        inside.wait(30)
        sys.exit(0)
        """,
}


@pytest.mark.parametrize("body", CUT_SHORT.values(), ids=CUT_SHORT)
def test_a_run_that_is_open_at_the_end_is_sent_with_what_was_said(
    script: Script, sink: HttpSink, body: str
) -> None:
    before = INSTRUMENT + textwrap.dedent(
        """
        inside = threading.Event()

        def other():
            with agent_run("other") as run:
                run.answer("half")
                inside.set()
                time.sleep(60)
        """
    )
    run_and_end = 'with agent_run("q") as run:\n' + textwrap.indent(textwrap.dedent(body), "    ")
    script.run(before + run_and_end)
    wanted = {"q", "other"} if "other" in body else {"q"}
    assert set(questions(sink)) == wanted
    if "other" in body:
        assert b"half" in b"".join(sink.requests)


def test_a_run_goes_on_after_a_signal_that_the_agent_survives(
    script: Script, sink: HttpSink
) -> None:
    body = INSTRUMENT + textwrap.dedent(
        """
        ours = signal.getsignal(signal.SIGTERM)
        signal.signal(signal.SIGTERM, lambda *given: ours(*given))
        with agent_run("q") as run:
            os.kill(os.getpid(), signal.SIGTERM)
            run.answer("the whole answer")
        """
    )
    assert script.run(body).returncode == 0
    assert questions(sink) == ["q"]
    assert b"the whole answer" in b"".join(sink.requests)


def test_metrics_are_sent_at_sigterm_too(script: Script, sink: HttpSink) -> None:
    body = INSTRUMENT + textwrap.dedent(
        """
        import httpx
        from opentelemetry import metrics
        metrics.get_meter("agent").create_counter("agent.questions").add(1)
        os.kill(os.getpid(), signal.SIGTERM)
        """
    )
    assert script.run(body).returncode == -signal.SIGTERM
    assert any(b"agent.questions" in request for request in sink.requests)


# SIGTERM

KEPT = {
    "a handler that was there": (
        """
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
        instrument("ending")
        run("q")
        """,
        7,
    ),
    "a handler that came later": (
        """
        instrument("ending")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
        run("q")
        """,
        7,
    ),
    "a handler that calls the one before it": (
        """
        instrument("ending")
        before = signal.getsignal(signal.SIGTERM)
        def handle(number, frame):
            if callable(before):
                before(number, frame)
            sys.exit(7)
        signal.signal(signal.SIGTERM, handle)
        run("q")
        """,
        7,
    ),
    "one that ignores the signal": (
        """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        instrument("ending")
        run("q")
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        """,
        -signal.SIGINT,
    ),
    "one of a library in C": (
        """
        import faulthandler
        faulthandler.register(signal.SIGTERM, chain=True)
        instrument("ending")
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        run("q")
        flush()
        """,
        -signal.SIGTERM,
    ),
    "one of the event loop": (
        """
        import asyncio
        instrument("ending")
        run("q")
        async def main():
            stop = asyncio.Event()
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
            print("ready", flush=True)
            await stop.wait()
        asyncio.run(main())
        sys.exit(7)
        """,
        7,
    ),
    "the default, taken from another thread": (
        """
        thread = threading.Thread(target=instrument, args=("ending",))
        thread.start(); thread.join()
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        run("q")
        flush()
        """,
        -signal.SIGTERM,
    ),
}


@pytest.mark.parametrize(("body", "status"), KEPT.values(), ids=KEPT)
def test_a_handler_of_the_users_stays_theirs(
    script: Script, sink: HttpSink, body: str, status: int
) -> None:
    waiting = "print('ready', flush=True)\nwhile True: time.sleep(0.05)\n"
    service = script.service(textwrap.dedent(body) + waiting)
    assert run_until_killed(service) == status, service.tail()
    assert questions(sink) == ["q"]


def test_a_process_that_was_told_to_end_is_not_kept_by_a_black_hole(tmp_path: Path) -> None:
    with BlackHole() as hole:
        service = Script(tmp_path, hole.url).service(
            'os.environ["OTEL_EXPORTER_OTLP_TIMEOUT"] = "600"\n'
            + INSTRUMENT
            + "run('q')\nprint('ready', flush=True)\ntime.sleep(600)\n"
        )
        # Two seconds are stated; whoever ignored them would wait for ten minutes.
        assert run_until_killed(service) == -signal.SIGTERM


def test_a_second_sigterm_ends_the_process_at_once(tmp_path: Path) -> None:
    body = """
        import seekwatch.sdk._lifecycle as lifecycle
        lifecycle.TERMINATION_SECONDS = 600
        os.environ["OTEL_EXPORTER_OTLP_TIMEOUT"] = "600"
        instrument("ending")
        run("q")
        print("ready", flush=True)
        time.sleep(600)
    """
    with BlackHole() as hole:
        service = Script(tmp_path, hole.url).service(body)
        service.start()
        try:
            eventually(lambda: "ready" in service.tail(), what="the agent to be ready")
            service.signal(signal.SIGTERM)
            time.sleep(0.5)
            assert service.alive

            def ended() -> bool:
                # On a loaded machine the first one may still wait to be handled.
                service.signal(signal.SIGTERM)
                return not service.alive

            eventually(ended, what="the agent to end")
            assert service.exit_code == -signal.SIGTERM
        finally:
            service.kill()


def test_uninstrument_gives_the_signal_back(script: Script) -> None:
    body = INSTRUMENT + textwrap.dedent(
        """
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        uninstrument()
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        """
    )
    assert script.run(body).returncode == 0


def test_a_lock_that_the_interrupted_thread_holds_cannot_keep_the_process(
    tmp_path: Path, sink: HttpSink
) -> None:
    body = INSTRUMENT + textwrap.dedent(
        """
        from seekwatch.sdk import _runtime
        run("q")
        with _runtime.current().attempts._lock, threading._active_limbo_lock:
            os.kill(os.getpid(), signal.SIGTERM)
        """
    )
    assert Script(tmp_path, sink.url).run(body).returncode == -signal.SIGTERM


# Workers

MULTIPROCESSING = {
    "a process": """
        child = context.Process(target=work, args=("child",))
        child.start(); child.join()
        assert child.exitcode == 0
    """,
    "a process that raises": """
        child = context.Process(target=fail, args=("child",))
        child.start(); child.join()
        assert child.exitcode == 1
    """,
    "a process that is terminated": """
        ready = context.Event()
        child = context.Process(target=wait, args=("child", ready))
        child.start(); ready.wait(); child.terminate(); child.join()
        assert child.exitcode == -signal.SIGTERM
    """,
    "a pool that is closed": """
        with context.Pool(1) as pool:
            assert pool.map(work, ["child"]) == [1]
            pool.close(); pool.join()
    """,
    "a pool that is terminated": """
        with context.Pool(1) as pool:
            assert pool.map(work, ["child"]) == [1]
    """,
    "an executor": """
        from concurrent.futures import ProcessPoolExecutor
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            assert pool.submit(work, "child").result() == 1
    """,
}


@pytest.mark.parametrize("method", ["fork", "fork, instrumented first", "spawn", "forkserver"])
@pytest.mark.parametrize("body", MULTIPROCESSING.values(), ids=MULTIPROCESSING)
def test_a_worker_of_multiprocessing_sends_what_it_saw(
    script: Script, sink: HttpSink, method: str, body: str
) -> None:
    imports = ["import multiprocessing", "instrument('ending')"]
    method, _, first = method.partition(", ")
    if first:
        imports.reverse()
    whole = "\n".join(imports) + textwrap.dedent(
        """

        def work(question):
            run(question)
            return 1

        def fail(question):
            run(question)
            raise ValueError("boom")

        def wait(question, ready):
            run(question)
            ready.set()
            time.sleep(600)

        if __name__ == "__main__":
            run("parent")
            context = multiprocessing.get_context("METHOD")
        """
    ).replace("METHOD", method)
    ended = script.run(whole + textwrap.indent(textwrap.dedent(body), "    "))
    assert ended.returncode == 0, ended.stderr
    assert questions(sink) == ["child", "parent"], ended.stderr


def test_a_worker_that_instruments_itself_sends_what_it_saw(script: Script, sink: HttpSink) -> None:
    body = """
        import multiprocessing

        def work(question):
            instrument("ending")
            uninstrument()
            instrument("ending")
            run(question)

        if __name__ == "__main__":
            child = multiprocessing.get_context("fork").Process(target=work, args=("child",))
            child.start(); child.join()
    """
    assert script.run(body).returncode == 0
    assert questions(sink) == ["child"]


def test_children_of_a_fork_have_threads_queues_and_counts_of_their_own(
    script: Script, sink: HttpSink
) -> None:
    body = INSTRUMENT + textwrap.dedent(
        """
        run("parent")
        children = []
        for number in range(3):
            child = os.fork()
            if child == 0:
                run(f"child {number}")
                assert flush()
                os._exit(0)
            children.append(child)
        for child in children:
            assert os.waitpid(child, 0)[1] == 0
        """
    )
    ended = script.run(body)
    assert ended.returncode == 0, ended.stderr
    assert questions(sink) == ["child 0", "child 1", "child 2", "parent"]


# Servers

WSGI = """
import os
from seekwatch.sdk import agent_run, instrument
instrument("ending")


def app(environ, start_response):
    with agent_run(environ["PATH_INFO"]) as run:
        run.answer("a")
    if environ["PATH_INFO"] == "/hang":
        import time
        time.sleep(600)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]
"""

ASGI = """
from seekwatch.sdk import agent_run, instrument
instrument("ending")


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            kind = (await receive())["type"]
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return
    with agent_run(scope["path"]) as run:
        run.answer("a")
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})
"""


def ask(port: int, path: str) -> Callable[[], bool]:
    def asked() -> bool:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
            return bool(answer.status == 200)

    return asked


@pytest.fixture
def port() -> int:
    return free_ports(1)[0]


def module(script: Script, directory: Path, source: str, *command: str) -> Service:
    (directory / "served.py").write_text(source)
    return script.serve("server", [sys.executable, "-m", *command])


@pytest.mark.parametrize(
    "options", [[], ["--preload"], ["--threads", "4"], ["--max-requests", "1"]]
)
def test_workers_of_gunicorn_send_what_they_saw(
    script: Script, sink: HttpSink, tmp_path: Path, port: int, options: list[str]
) -> None:
    bind = ["--bind", f"127.0.0.1:{port}", "--workers", "2", "--no-control-socket"]
    server = module(script, tmp_path, WSGI, "gunicorn", *bind, *options, "served:app")
    server.start()
    try:
        server.wait_ready(ask(port, "/ready"))
        for number in range(4):
            assert ask(port, f"/{number}")()
        server.signal(signal.SIGTERM)
        eventually(lambda: not server.alive, what="gunicorn to end")
        assert server.exit_code == 0, server.tail()
    finally:
        server.kill()
    assert [q for q in questions(sink) if q != "/ready"] == ["/0", "/1", "/2", "/3"]


def test_a_worker_of_gunicorn_that_hangs_is_aborted_and_sends_what_it_saw(
    script: Script, sink: HttpSink, tmp_path: Path, port: int
) -> None:
    bind = ["--bind", f"127.0.0.1:{port}", "--timeout", "1", "--no-control-socket"]
    server = module(script, tmp_path, WSGI, "gunicorn", *bind, "served:app")
    server.start()
    try:
        server.wait_ready(ask(port, "/ready"))
        with pytest.raises((URLError, RemoteDisconnected)):
            ask(port, "/hang")()
        eventually(lambda: "/hang" in questions(sink), what="the span of the hung request")
    finally:
        server.stop()


@pytest.mark.parametrize("options", [[], ["--workers", "2"]], ids=["one process", "two workers"])
def test_uvicorn_sends_what_it_saw(
    script: Script, sink: HttpSink, tmp_path: Path, port: int, options: list[str]
) -> None:
    server = module(script, tmp_path, ASGI, "uvicorn", "--port", str(port), *options, "served:app")
    server.start()
    try:
        server.wait_ready(ask(port, "/ready"))
        assert ask(port, "/asked")()
        server.signal(signal.SIGTERM)
        eventually(lambda: not server.alive, what="uvicorn to end")
        assert server.exit_code in {0, -signal.SIGTERM}, server.tail()
    finally:
        server.kill()
    assert questions(sink)[0] == "/asked"


CELERY = """
import os
from celery import Celery
from seekwatch.sdk import agent_run, instrument
instrument("ending")
app = Celery("served", broker="filesystem://", backend="file://{directory}/results")
folder = "{directory}/messages"
os.makedirs(folder, exist_ok=True)
os.makedirs("{directory}/results", exist_ok=True)
app.conf.broker_transport_options = {{
    "data_folder_in": folder, "data_folder_out": folder, "control_folder": "{directory}/control"
}}


@app.task
def ask(question):
    with agent_run(question) as run:
        run.answer("a")
    return os.getpid()


if __name__ == "__main__":
    print(ask.delay("from the worker").get(timeout=110))
"""


def test_workers_of_celery_send_what_they_saw(
    script: Script, sink: HttpSink, tmp_path: Path
) -> None:
    source = CELERY.format(directory=tmp_path)
    options = ["--pool", "prefork", "--concurrency", "1", "--without-gossip", "--without-mingle"]
    worker = module(script, tmp_path, source, "celery", "-A", "served", "worker", *options)
    worker.start()
    try:
        asked = subprocess.run(
            [sys.executable, "served.py"],
            cwd=tmp_path,
            env={**os.environ, "OTEL_SDK_DISABLED": "true"},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert asked.returncode == 0, asked.stderr + worker.tail()
        worker.signal(signal.SIGTERM)
        eventually(lambda: not worker.alive, what="celery to end", timeout=60)
        assert worker.exit_code == 0, worker.tail()
    finally:
        worker.kill()
    assert questions(sink) == ["from the worker"]
