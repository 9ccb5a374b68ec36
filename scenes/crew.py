"""A crew of processes: tasks done side by side, each in a process of its own that ends with it."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterable
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from threading import Thread
from typing import Any, TypeVar

from addnorm.mathcore.errors import AddnormError

K = TypeVar("K")
T = TypeVar("T")

_STOPS = {signal.SIGINT, signal.SIGTERM}


def available_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_processes(tasks: Iterable[tuple[K, Callable[[], T]]], jobs: int) -> Generator[tuple[K, T | AddnormError]]:
    """Do tasks in at most ``jobs`` processes, and give each one's name and result, or its error, as it is done.

    The next task is taken when there is a process for it. The processes are forks, so what is loaded now is shared
    and need not be sent. With one job everything is done in this process.
    """
    if jobs <= 1:
        for name, task in tasks:
            yield name, done(task)
        return
    waiting = iter(tasks)
    running: dict[Connection, tuple[K, ForkProcess]] = {}
    try:
        while True:
            for name, task in islice(waiting, jobs - len(running)):
                _start(name, task, running)
            if not running:
                return
            for receiver in wait([*running]):
                assert isinstance(receiver, Connection)
                name, process = running[receiver]
                result = _result(receiver, process)
                del running[receiver]
                yield name, result
    finally:
        for _, process in running.values():
            process.kill()
            process.join()


def done(task: Callable[[], T]) -> T | AddnormError:
    """Do a task; its result, or the error that is to be told."""
    try:
        return task()
    except AddnormError as error:
        return error
    except OSError as error:
        place = error.filename or "a file of the render"
        remedy = "it takes a folder that may be written to and has room"
        return AddnormError(f"{place}: {error.strerror or error}; {remedy}")
    except MemoryError:
        return AddnormError("memory is too short for so many processes of the render; give --jobs 1")


def _start(name: K, task: Callable[[], Any], running: dict[Connection, tuple[K, ForkProcess]]) -> None:
    """Start a process. A signal to stop waits until the process is noted, so that it is ended too."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(task, sender))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        process.start()
        running[receiver] = name, process
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    sender.close()


def _result(receiver: Connection, process: ForkProcess) -> Any:
    try:
        result = receiver.recv()
    except EOFError:
        process.join()
        status = process.exitcode or 0
        how = f"was killed by signal {-status}" if status < 0 else f"failed with status {status}"
        return AddnormError(f"a process of the render {how}; where memory is short, fewer processes help: --jobs 1")
    process.join()
    return result


def _work(task: Callable[[], Any], sender: Connection) -> None:
    """What a process does. Interrupts are the parent's to handle: SIGINT stays blocked, SIGTERM ends it."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    Thread(target=_end_with_parent, daemon=True).start()
    gc.freeze()  # what came with the fork stays; to look through it for garbage would copy its pages
    sender.send(done(task))


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
