import subprocess
import sys
import textwrap

import seekwatch.sdk

# What an agent that installs the bare package may load, beside the standard library.
ALLOWED = {
    "anyio", "certifi", "charset_normalizer", "google", "h11", "httpcore", "httpx", "idna",
    "importlib_metadata", "opentelemetry", "packaging", "requests", "seekwatch", "sniffio",
    "typing_extensions", "urllib3", "wrapt", "zipp", "chardet", "simplejson", "psutil",
    "brotli", "brotlicffi", "h2", "socks", "zstandard", "compression", "click", "rich", "pygments",
    "_virtualenv", "cython_runtime", "OpenSSL", "cryptography",
    # OpenTelemetry's httpx instrumentation imports it where it is installed.
    "httpx2",
}  # fmt: skip


def run(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return result.stdout


def test_all_is_sorted_and_agrees_with_the_module() -> None:
    public = {
        name
        for name, value in vars(seekwatch.sdk).items()
        if not name.startswith("_") and not hasattr(value, "__spec__")
    }
    assert sorted(public) == seekwatch.sdk.__all__


def test_the_import_loads_nothing_of_the_monitor_and_no_grpc() -> None:
    loaded = run(
        """
        import sys
        before = set(sys.modules)
        import seekwatch.sdk
        from seekwatch.sdk import instrument
        instrument("light", endpoint="http://127.0.0.1:9")
        print(*sorted(set(sys.modules) - before))
        import os
        os._exit(0) if sys.stdout.flush() is None else None
        """
    ).split()
    ours = {name for name in loaded if name.startswith("seekwatch.")}
    assert {name.split(".")[1] for name in ours} == {"core", "sdk"}
    core = {name for name in ours if name.startswith("seekwatch.core.")}
    assert core == {"seekwatch.core.attributes", "seekwatch.core.redaction"}
    tops = {name.partition(".")[0] for name in loaded}
    foreign = tops - ALLOWED - set(sys.stdlib_module_names)
    assert {name for name in foreign if not name.startswith("_")} == set()
    assert "grpc" not in tops


def test_the_import_alone_starts_no_thread_and_patches_nothing() -> None:
    said = run(
        """
        import threading, httpx
        before = httpx.Client.__dict__["send"]
        import seekwatch.sdk
        print(threading.active_count(), httpx.Client.__dict__["send"] is before)
        """
    )
    assert said.split() == ["1", "True"]


def test_a_process_that_ends_sends_what_it_has() -> None:
    from tests.services.otlp_sink import HttpSink

    with HttpSink() as sink:
        run(
            f"""
            from seekwatch.sdk import agent_run, instrument
            instrument("short", endpoint={sink.url!r})
            with agent_run("q") as run:
                run.answer("a")
            """
        )
        assert sink.kinds() == ["AGENT"]


def test_a_process_with_a_black_holed_collector_ends_in_time() -> None:
    from tests.services.otlp_sink import BlackHole

    with BlackHole() as hole:
        # Five seconds are stated; whoever ignored them would wait for ten minutes.
        run(
            f"""
            import os
            os.environ["OTEL_EXPORTER_OTLP_TIMEOUT"] = "600"
            from seekwatch.sdk import agent_run, instrument
            instrument("stuck", endpoint={hole.url!r})
            with agent_run("q"):
                pass
            """
        )


def test_forked_children_do_not_share_the_parents_connection_to_the_collector() -> None:
    from tests.services.otlp_sink import HttpSink

    with HttpSink() as sink:
        run(
            f"""
            import os, warnings
            warnings.simplefilter("ignore")
            from seekwatch.sdk import agent_run, flush, instrument
            instrument("forking", endpoint={sink.url!r})
            def once(name):
                with agent_run(name):
                    pass
                assert flush(20)
            once("opens the connection")
            children = []
            for number in range(3):
                child = os.fork()
                if child == 0:
                    for turn in range(10):
                        once(f"child {{number}}.{{turn}}")
                    os._exit(0)
                children.append(child)
            for turn in range(10):
                once(f"parent {{turn}}")
            assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
            """
        )
        assert len({span.attributes["input.value"] for span in sink.of_kind("AGENT")}) == 41


def test_a_forked_child_has_spans_of_its_own() -> None:
    from tests.services.otlp_sink import HttpSink
    from tests.services.web import LocalWeb

    with HttpSink() as sink, LocalWeb() as web:
        run(
            f"""
            import os, warnings
            warnings.simplefilter("ignore")
            import httpx
            from seekwatch.sdk import agent_run, flush, instrument
            instrument("forking", endpoint={sink.url!r})
            def once(name):
                with agent_run(name):
                    httpx.get({web.url!r} + "/page")
            once("parent before")
            child = os.fork()
            if child == 0:
                once("child")
                assert flush()
                os._exit(0)
            os.waitpid(child, 0)
            once("parent after")
            """
        )
        questions = sorted(span.attributes["input.value"] for span in sink.of_kind("AGENT"))
        assert questions == ["child", "parent after", "parent before"]
        assert len(sink.of_kind("TOOL")) == 3
