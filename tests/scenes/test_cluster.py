"""The same films by a Dask cluster on this machine: two workers film, one of them is killed, the bytes are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from addnorm.scenes.cli import main

pytest.importorskip("distributed")

Process = subprocess.Popen[str]

PICTURES = ("render", "--stills", "--states", "b4,b0,b1", "--size", "480p15", "--lang", "zh,en", "-o")


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".addnorm" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


class Cluster:
    """A scheduler and workers, each a process of its own with its own folder; it ends with the block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[Process] = []
        self._processes = ExitStack()

    def __enter__(self) -> Cluster:
        failures = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
        scheduler = self._start("scheduler", "dask_scheduler", "--port", "0", environment=failures)
        self.address = self._said(scheduler, "Scheduler at:").split()[-1]
        for n in range(3):
            worker = self._start(f"worker {n}", "dask_worker", self.address, "--nthreads", "1", "--no-nanny")
            self.workers.append(worker)
        for worker in self.workers:
            self._said(worker, "Registered to:")
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.close()

    def _start(self, name: str, program: str, *arguments: str, environment: Mapping[str, str] | None = None) -> Process:
        folder = self.folder / name
        folder.mkdir()
        common = ("--host", "127.0.0.1", "--no-dashboard")
        command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments, *common]
        process = self._processes.enter_context(
            subprocess.Popen(
                command, stderr=subprocess.PIPE, text=True, cwd=folder, env={**os.environ, **(environment or {})}
            )
        )
        self._processes.callback(process.kill)
        return process

    def _said(self, process: Process, words: str) -> str:
        """Wait until a process says something."""
        assert process.stderr
        for line in process.stderr:
            if words in line:
                return line
        raise AssertionError(f"it ended before it said {words!r}")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)


RENDER = "import sys; from addnorm.scenes.cli import main; sys.exit(main(sys.argv[1:]))"


def test_a_worker_that_is_killed_takes_nothing_with_it_and_the_bytes_are_those_of_a_local_run(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    far, near = tmp_path / "far", tmp_path / "near"
    command = [sys.executable, "-c", RENDER, *PICTURES, str(far), "--scheduler", cluster.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        first = process.stdout.readline()  # each worker has a shot in hand now, and another one waiting
        cluster.workers.pop().kill()
        rest, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "still" in first
    assert len((first + rest).splitlines()) == 6 + 6
    assert main([*PICTURES, str(near)]) == 0
    assert contents(far) == contents(near)
    assert list((far / ".addnorm" / "work").iterdir()) == []
    capsys.readouterr()


OTHERS = """
import sys
from addnorm.scenes import makers
from addnorm.scenes.cli import main
version = makers.version
makers.version = lambda name: "1.0" if name == "numpy" else version(name)
sys.exit(main(sys.argv[1:]))
"""


def test_workers_that_draw_with_something_else_are_refused(cluster: Cluster, tmp_path: Path) -> None:
    refused = run(OTHERS, *PICTURES, str(tmp_path), "--scheduler", cluster.address)
    assert (refused.returncode, refused.stdout) == (1, "")
    [line] = refused.stderr.splitlines()
    assert line.startswith("addnorm: worker tcp://127.0.0.1:")
    assert line.endswith(" where this machine has 1.0; install the same on both")


DEADLY = """
import os, sys
from functools import partial
from addnorm.scenes.cluster import on_cluster
for name, result in on_cluster([("deadly", partial(os._exit, 1))], sys.argv[1]):
    print(name, type(result).__name__, result)
"""


def test_a_shot_that_ends_every_worker_is_given_up(cluster: Cluster) -> None:
    given_up = run(DEADLY, cluster.address)
    assert given_up.stdout.startswith("deadly AddnormError every worker that was given it has died, tcp://127.0.0.1:")
    assert (given_up.returncode, given_up.stderr) == (0, "")


def test_without_dask_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main([*PICTURES, str(tmp_path), "--scheduler", "tcp://127.0.0.1:1"]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line == "addnorm: --scheduler needs Dask; install it with: pip install 'addnorm[cluster]'"


def test_where_no_scheduler_answers_is_one_line(tmp_path: Path) -> None:
    address = "tcp://127.0.0.1:1"
    program = f"from addnorm.scenes import cluster; cluster.PATIENCE = 0.2; {RENDER}"
    failed = run(program, *PICTURES, str(tmp_path), "--scheduler", address)
    assert failed.returncode == 1
    [line] = failed.stderr.splitlines()
    assert line.startswith(f"addnorm: {address}: no Dask scheduler answers there: ")
