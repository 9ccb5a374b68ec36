"""Tasks side by side: the same results in any number of processes, a failure is that task's alone, nobody is left."""

from __future__ import annotations

import multiprocessing
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from addnorm.mathcore import AddnormError, ExampleError
from addnorm.scenes.crew import available_processors, in_processes


def square(number: int) -> tuple[int, int]:
    return number**2, os.getpid()


def wait_forever() -> None:
    signal.pause()


def raise_error(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("jobs", [1, 2, 3, 9])
def test_every_task_is_done_once(jobs: int) -> None:
    done: dict[int, Any] = dict(in_processes(((n, partial(square, n)) for n in range(5)), jobs))
    assert {number: result for number, (result, _) in done.items()} == {n: n**2 for n in range(5)}
    inside = {pid == os.getpid() for _, pid in done.values()}
    assert inside == {jobs == 1}


def test_a_large_result_arrives_whole() -> None:
    results: dict[str, Any] = dict(in_processes([("a", lambda: b"a" * 10**7), ("b", lambda: b"b" * 10**7)], 2))
    assert {name: result[:1] for name, result in results.items()} == {"a": b"a", "b": b"b"}
    assert {len(result) for result in results.values()} == {10**7}


def test_there_is_nothing_to_do() -> None:
    assert list(in_processes([], 2)) == []


def test_there_is_at_least_one_processor() -> None:
    assert available_processors() >= 1


@pytest.mark.parametrize(
    "error", [AddnormError("state b2: wrong"), ExampleError("token", "token 9 of 3", "1 to 3", "a.toml")]
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_task_that_fails_leaves_the_others_alone(error: AddnormError, jobs: int) -> None:
    tasks: list[tuple[str, Callable[[], Any]]] = [("bad", partial(raise_error, error)), ("good", lambda: "done")]
    results = dict(in_processes(tasks, jobs))
    assert results["good"] == "done"
    assert (type(results["bad"]), str(results["bad"])) == (type(error), str(error))


def test_memory_that_is_short_is_one_line() -> None:
    [(_, error)] = in_processes([("big", partial(raise_error, MemoryError()))], 1)
    assert str(error).endswith("--jobs 1")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_task_is_taken_only_when_there_is_a_process_for_it(jobs: int) -> None:
    taken = []

    def tasks() -> Iterator[tuple[int, Callable[[], int]]]:
        for n in range(5):
            taken.append(n)
            yield n, partial(int, n)

    for done, _ in enumerate(in_processes(tasks(), jobs)):
        assert len(taken) <= done + jobs


@pytest.mark.parametrize(
    ("end", "how"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "was killed by signal 9"),
        (lambda: os._exit(3), "failed with status 3"),
    ],
)
def test_a_process_that_vanishes_is_one_line(end: Callable[[], None], how: str) -> None:
    tasks: list[tuple[str, Callable[[], Any]]] = [("gone", end), ("there", partial(square, 3))]
    results: dict[str, Any] = dict(in_processes(tasks, 2))
    assert re.fullmatch(f"a process of the render {how}; .*--jobs 1", str(results["gone"]))
    assert results["there"][0] == 9


def test_leaving_early_ends_the_rest() -> None:
    tasks: list[tuple[str, Callable[[], Any]]] = [("quick", partial(square, 3)), ("endless", wait_forever)]
    results = in_processes(tasks, 2)
    name, result = next(results)
    assert not isinstance(result, AddnormError)
    assert (name, result[0]) == ("quick", 9)
    results.close()
    assert multiprocessing.active_children() == []


PARENT = """
import os, signal
from addnorm.scenes.crew import in_processes

def report():
    os.write(1, f"{os.getpid()}\\n".encode())  # at once, or two processes' lines could run into each other
    signal.pause()

list(in_processes([("a", report), ("b", report)], 2))
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process that is not its own, as Linux can")
def test_processes_end_with_a_parent_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        try:
            children = [os.pidfd_open(int(parent.stdout.readline())) for _ in range(2)]
        finally:
            parent.kill()  # or leaving the block would wait for it
    for child in children:
        assert select.select([child], [], [], 30)[0], "it is still there"
        os.close(child)
