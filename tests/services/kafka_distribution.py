"""The broker's JARs and one formatted storage tree, fetched or made once and kept in the cache.

Maven fetches what `maven/pom.xml` pins. Kafka's own tool formats one tree; a node's storage is a
copy of it with an id of its own, which saves a Java start (4 s) a node.
"""

import base64
import hashlib
import os
import shutil
import subprocess
import uuid
from pathlib import Path

from tests.services.cache import cached
from tests.services.unavailable import UnavailableError

POM = Path(__file__).parent / "maven" / "pom.xml"
CLUSTER_ID = "U2Vla3dhdGNoVGVzdHMxMA"
# Quick to start rather than quick to run: one compiler tier, a small heap, one collector thread.
JVM_OPTIONS = (
    "-Xms64m",
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Xshare:auto",
)


def java() -> str:
    """Return the Java to use: `$JAVA_HOME/bin/java`, else the one on the PATH.

    Raises:
        UnavailableError: there is none.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if found is None:
        raise UnavailableError(
            "Kafka needs Java 17 or newer: apt-get install openjdk-17-jre-headless"
        )
    return found


def class_path() -> str:
    """Return the broker's class path, fetching the JARs on first use (45 files, 43 MiB).

    Raises:
        UnavailableError: Maven is missing or could not fetch them.
    """
    libraries = cached(f"kafka-{_revision()}", _fetch)
    return ":".join(str(jar) for jar in sorted(libraries.glob("*.jar")))


def prepare_kafka() -> None:
    """Fetch the JARs and format the tree that nodes start from.

    Raises:
        UnavailableError: Java or Maven is missing, or the fetch failed.
    """
    java()
    class_path()
    cached(f"kafka-storage-{_revision()}", _format_template)


def format_storage(data: Path, node: int) -> None:
    """Make `data` the formatted storage of a node; one that was formatted before is kept."""
    if (data / "meta.properties").exists():
        return
    template = cached(f"kafka-storage-{_revision()}", _format_template)
    shutil.copytree(template, data)
    (data / "meta.properties").write_text(
        f"version=1\ncluster.id={CLUSTER_ID}\nnode.id={node}\ndirectory.id={_directory_id()}\n"
    )


def _revision() -> str:
    return hashlib.sha256(POM.read_bytes()).hexdigest()[:12]


def _fetch(part: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise UnavailableError("Kafka's JARs come by Maven: apt-get install maven")
    command = [maven, "-B", "-q", "-f", str(POM), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={part}"]
    result = subprocess.run(
        command,
        env={"MAVEN_OPTS": "-XX:TieredStopAtLevel=1", **os.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise UnavailableError(f"Maven could not fetch Kafka's JARs:\n{result.stdout[-2000:]}")


def _format_template(part: Path) -> None:
    settings = part.with_suffix(".properties")
    settings.write_text(
        "process.roles=broker,controller\nnode.id=1\n"
        "listeners=PLAINTEXT://127.0.0.1:1,CONTROLLER://127.0.0.1:2\n"
        "controller.listener.names=CONTROLLER\ncontroller.quorum.voters=1@127.0.0.1:2\n"
        f"log.dirs={part}\n"
    )
    command = [java(), "-XX:TieredStopAtLevel=1", "-cp", class_path()]
    command += ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(settings)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    settings.unlink()
    if result.returncode != 0:
        raise UnavailableError(f"Kafka's storage could not be formatted:\n{result.stderr[-2000:]}")


def _directory_id() -> str:
    """Return a Kafka uuid: url-safe base64 that does not begin with a dash."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text
