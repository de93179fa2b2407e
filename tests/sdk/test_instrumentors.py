import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.services.otlp_sink import HttpSink
from tests.services.web import LocalWeb

INSTRUMENTOR = """
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor
class {name}(BaseInstrumentor):
    def instrumentation_dependencies(self):
        return ({requires!r},)
    def _instrument(self, **options):
        import {library}
        {library}.log.append("{label}")
        {library}.options = options
        {instrument}
    def _uninstrument(self, **options):
        import {library}
        {library}.log.append("-{label}")
"""
MODULES = {
    "openinference": ("openinference-instrumentation-openai", "openinference.fakes"),
    "genai": ("opentelemetry-instrumentation-genai-openai", "opentelemetry.instrumentation.genai"),
    "genai_v2": ("opentelemetry-instrumentation-openai-v2", "opentelemetry.instrumentation.v2"),
    "openllmetry": ("opentelemetry-instrumentation-openai", "opentelemetry.instrumentation"),
    "trace_ai": ("traceAI-openai", ""),
    "other": ("somebody-openai", "somebody"),
}


class Site:
    """A folder that stands for site-packages, with packages that are as small as can be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.distribution("openai", "2.0", {"openai": "log = []\n"})

    def distribution(
        self, name: str, version: str, modules: dict[str, str], entry_points: str = ""
    ) -> None:
        """Install a package: its modules by name, and what it registers."""
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        (info / "METADATA").write_text(metadata)
        (info / "entry_points.txt").write_text(entry_points)
        for module, source in modules.items():
            path = self.folder.joinpath(*module.split(".")).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)

    def instrumentor(
        self,
        family: str,
        *,
        library: str = "openai",
        requires: str = "openai >= 1",
        instrument: str = "",
        group: str = "opentelemetry_instrumentor",
    ) -> str:
        """Install an instrumentor of a family; returns its module."""
        name, package = MODULES[family]
        name = name.replace("openai", library)
        module = f"{package}.{library}" if package else f"traceai_{library}"
        source = INSTRUMENTOR.format(
            name="Instrumentor",
            requires=requires,
            library=library,
            label=family,
            instrument=instrument,
        )
        entry = f"[{group}]\n{library} = {module}:Instrumentor\n" if package else ""
        self.distribution(name, "1.0", {module: source}, entry)
        return module

    def run(self, code: str, *arguments: str, **variables: str) -> Any:
        """Run a program there and return what it prints, as JSON."""
        prelude = """
            import json, sys
            from seekwatch.sdk import instrument, uninstrument
            from seekwatch.sdk._instrumentors.switching import switched
            def start(**options):
                instrument("a", endpoint="http://127.0.0.1:9", **options)
            def say(value):
                print(json.dumps(value))
            """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(prelude) + textwrap.dedent(code), *arguments],
            env={
                **os.environ,
                "PYTHONPATH": f"{self.folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
                "OTEL_TRACES_EXPORTER": "otlp",
                "OTEL_METRICS_EXPORTER": "none",
                **variables,
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        self.errors = done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "site")


IMPORTED_LATER = "start()\nimport openai\nsay(openai.log)"
ORDER = ["openinference", "genai", "openllmetry", "trace_ai", "other"]


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_of_several_instrumentors_the_first_in_the_documented_order_is_on(
    site: Site, first: int
) -> None:
    for family in reversed(ORDER[first:]):
        site.instrumentor(family)
    assert site.run(IMPORTED_LATER) == [ORDER[first]]


def test_packages_that_only_their_name_tells_apart_are_told_apart(site: Site) -> None:
    site.instrumentor("openllmetry")
    site.instrumentor("genai_v2")
    assert site.run(IMPORTED_LATER) == ["genai_v2"]


def test_one_that_is_registered_twice_is_on_once(site: Site) -> None:
    site.instrumentor("openinference")
    entry = "openai = openinference.fakes.openai:Instrumentor\n"
    site.distribution("again", "1", {}, f"[openinference_instrumentor]\n{entry}")
    assert site.run(IMPORTED_LATER) == ["openinference"]


def test_nothing_is_imported_before_the_agent_does_it(site: Site) -> None:
    for family in ORDER:
        site.instrumentor(family)
    names = ["openai", "openinference", "traceai_openai", "somebody", "fastapi", "starlette"]
    loaded = site.run("start()\nsay([n for n in sys.argv[1:] if n in sys.modules])", *names)
    assert loaded == []


def test_a_library_that_is_there_already_is_instrumented_at_once(site: Site) -> None:
    site.instrumentor("openinference")
    assert site.run("import openai\nstart()\nsay(openai.log)") == ["openinference"]


def test_the_providers_and_no_second_check_are_handed_on(site: Site) -> None:
    site.instrumentor("openinference")
    code = """
        from opentelemetry import metrics, trace
        start()
        import openai
        providers = (trace.get_tracer_provider(), metrics.get_meter_provider())
        given = (openai.options["tracer_provider"], openai.options["meter_provider"])
        say([a is b for a, b in zip(given, providers)] + [len(openai.options)])
        """
    assert site.run(code) == [True, True, 2]


def test_one_whose_version_does_not_fit_makes_room_for_the_next(site: Site) -> None:
    site.instrumentor("openinference", requires="openai >= 3")
    site.instrumentor("openllmetry")
    assert site.run(IMPORTED_LATER) == ["openllmetry"]
    said = site.run("start()\nimport openai\nsay([each.on for each in switched()])")
    assert said == ["OpenLLMetry (opentelemetry-instrumentation-openai 1.0)"]


def test_one_that_raises_is_logged_taken_back_and_makes_room_for_the_next(site: Site) -> None:
    site.instrumentor("openinference", instrument="raise LookupError('inside')")
    site.instrumentor("genai")
    assert site.run(IMPORTED_LATER) == ["openinference", "-openinference", "genai"]
    assert "switching on the instrumentor of openai failed (LookupError)" in site.errors


def test_where_none_can_be_used_the_reason_is_kept_and_the_agent_runs(site: Site) -> None:
    site.instrumentor("openinference", requires="openai >= 3")
    site.distribution("odd", "1", {"odd": ""}, "[opentelemetry_instrumentor]\nopenai = odd:None_\n")
    code = "start()\nimport openai\nsay([openai.log, *(s.reason for s in switched())])"
    log, reason = site.run(code)
    assert log == []
    assert "openai >= 3" in reason
    assert "other (odd 1): raised TypeError" in reason


@pytest.mark.parametrize("theirs", ["openinference", "openllmetry", "other"])
@pytest.mark.parametrize("switch_on", [".Instrumentor().instrument(skip_dep_check=True)", ""])
def test_a_library_that_the_agent_instruments_itself_is_left_to_it(
    site: Site, theirs: str, switch_on: str
) -> None:
    site.instrumentor("openinference")
    if theirs != "openinference":
        site.instrumentor(theirs)
    package = MODULES[theirs][1]
    use = f"sys.modules['{package}.openai']{switch_on}" if switch_on else ""
    code = f"import {package}.openai\n{use}\nstart()\nimport openai\nsay(openai.log)"
    assert site.run(code) == ([theirs] if switch_on else [])


@pytest.mark.parametrize("value", ["openai", "flask , OpenAI", "*"])
def test_disabled_instrumentations_are_left_off(site: Site, value: str) -> None:
    site.instrumentor("openinference")
    assert site.run(IMPORTED_LATER, OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=value) == []


def test_what_is_no_part_of_an_agent_is_left_as_it_is(site: Site) -> None:
    site.distribution("database", "1.0", {"database": "log = []\n"})
    site.instrumentor("other", library="database", requires="database")
    assert site.run("start()\nimport database\nsay(database.log)") == []


def test_uninstrument_switches_off_what_was_switched_on_and_no_more(site: Site) -> None:
    site.instrumentor("openinference")
    code = """
        start()
        import openai
        uninstrument()
        start()
        uninstrument()
        say(openai.log)
        """
    assert site.run(code) == ["openinference", "-openinference"] * 2
    assert site.run("start()\nuninstrument()\nimport openai\nsay(openai.log)") == []


def test_what_is_on_and_what_waits_is_said_in_one_line(site: Site) -> None:
    site.instrumentor("openinference")
    code = """
        import logging
        logging.basicConfig(level=logging.INFO)
        start()
        say(0)
        """
    site.run(code)
    lines = [line for line in site.errors.splitlines() if "instrumentors switched on" in line]
    assert len(lines) == 1
    assert "openai by OpenInference (openinference-instrumentation-openai 1.0)" in lines[0]


CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@pytest.mark.parametrize(
    ("family", "options", "given", "expected"),
    [
        ("genai", "", None, "span_only"),
        ("genai", "", "no_content", "no_content"),
        ("genai", "capture_content=False", None, None),
        ("openinference", "", None, None),
    ],
)
def test_content_is_asked_for_where_that_is_needed_allowed_and_not_decided(
    site: Site, family: str, options: str, given: str | None, expected: str | None
) -> None:
    site.instrumentor(family)
    code = f"""
        import os
        start({options})
        during = os.environ.get("{CAPTURE}")
        uninstrument()
        say([during, os.environ.get("{CAPTURE}")])
        """
    variables = {} if given is None else {CAPTURE: given}
    assert site.run(code, **variables) == [expected, given]


def test_djangos_settings_are_not_touched_before_they_are_read(site: Site) -> None:
    source = """
        log = []
        class BaseHandler:
            def load_middleware(self, is_async=False):
                log.append("load")
        """
    base = "django.core.handlers.base"
    site.distribution("django", "5.0", {base: textwrap.dedent(source)})
    module = "opentelemetry.instrumentation.django"
    instrumentor = INSTRUMENTOR.format(
        name="Instrumentor", requires="django", library=base, label="on", instrument=""
    )
    entry = f"[opentelemetry_instrumentor]\ndjango = {module}:Instrumentor\n"
    site.distribution("opentelemetry-instrumentation-django", "1", {module: instrumentor}, entry)
    code = f"""
        start()
        import {base} as base
        base.log.append("imported")
        base.BaseHandler().load_middleware(is_async=True)
        base.BaseHandler().load_middleware()
        say(base.log)
        """
    assert site.run(code) == ["imported", "on", "load", "load"]


def test_a_step_of_langchain_is_current_while_it_runs(site: Site) -> None:
    config = """
        from contextvars import ContextVar, copy_context
        step = ContextVar("step", default=None)
        def _set_config_context(config):
            return step.set(config), None
        def invoke(config, function):
            context = copy_context()
            context.run(_set_config_context, config)
            return context.run(function)
        """
    manager = "log = []\nimport langchain_core.runnables.config\n"
    site.distribution(
        "langchain-core",
        "1.0",
        {
            "langchain_core.callbacks.manager": manager,
            "langchain_core.runnables.config": textwrap.dedent(config),
        },
    )
    module = "openinference.fakes.langchain"
    source = INSTRUMENTOR.format(
        name="Instrumentor",
        requires="langchain-core",
        library="langchain_core.callbacks.manager",
        label="on",
        instrument="self.spans = {}",
    )
    source += "    def get_span(self, run):\n        return self.spans.get(run)\n"
    entry = f"[opentelemetry_instrumentor]\nlangchain = {module}:Instrumentor\n"
    site.distribution("openinference-instrumentation-langchain", "1", {module: source}, entry)
    code = f"""
        from types import SimpleNamespace
        from opentelemetry import trace
        start()
        from langchain_core.runnables import config
        import langchain_core.callbacks.manager
        from {module} import Instrumentor
        span = trace.get_tracer("t").start_span("step")
        Instrumentor().spans["run"] = span
        step = {{"callbacks": SimpleNamespace(parent_run_id="run")}}
        inside = config.invoke(step, trace.get_current_span)
        outside = trace.get_current_span()
        unknown = config.invoke({{}}, trace.get_current_span)
        uninstrument()
        after = config.invoke(step, trace.get_current_span)
        say([each is span for each in (inside, outside, unknown, after)])
        """
    assert site.run(code) == [True, False, False, False]


SERVED = """
    import asyncio
    start_url, page = sys.argv[1:]
    instrument("served", endpoint=start_url)
    import fastapi, httpx
    app = fastapi.FastAPI()
    @app.get("/ask")
    async def ask():
        async with httpx.AsyncClient() as client:
            await client.get(page)
        return fastapi.responses.StreamingResponse(iter(["a"] * 50))
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
             "scheme": "http", "path": "/ask", "raw_path": b"/ask", "query_string": b"",
             "root_path": "", "headers": [(b"host", b"t")], "client": ("c", 1), "server": ("t", 80)}
    sent = []
    async def receive():
        await asyncio.sleep(0 if not sent else 60)
        return {"type": "http.request", "body": b"", "more_body": False}
    async def send(message):
        sent.append(message)
    asyncio.run(app(scope, receive, send))
    from seekwatch.sdk import flush
    say([sent[0]["status"], flush()])
    """


def test_a_request_to_fastapi_is_the_root_of_what_it_fetches(
    site: Site, sink: HttpSink, web: LocalWeb
) -> None:
    assert site.run(SERVED, sink.url, f"{web.url}/page") == [200, True]
    sink.wait_for_spans(3)
    (server,) = [span for span in sink.spans if span.name == "GET /ask"]
    tool = sink.one("TOOL")
    assert (server.parent_id, tool.parent_id) == ("", server.span_id)
    # The request, the fetch and its stock span; none for each of the fifty pieces.
    assert len(sink.spans) == 3
