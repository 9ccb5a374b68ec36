"""The crew on other machines: the same tasks, done by the workers of a Dask cluster. Results come back as data.

A worker films in the thread that Dask gives it, one shot at a time, since manim's settings are the process's own:
more threads a worker gain nothing, more workers do. A worker that dies takes no film with it, for Dask gives its
shots to another; one that ends several workers is given up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import suppress
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.crew import done
from addnorm.scenes.makers import makers

if TYPE_CHECKING:
    from distributed import Client

K = TypeVar("K")
T = TypeVar("T")

PATIENCE = 20
"""Seconds to wait for the scheduler to answer, and then for its first worker."""

_ALONE = Lock()


def on_cluster(
    tasks: Iterable[tuple[K, Callable[[], T]]], address: str
) -> Generator[tuple[K, T | AddnormError]]:
    """Have tasks, which are pickled, done by the cluster at ``address``; give names and results as they come.

    Raises AddnormError where there is no cluster, or one whose workers would draw with something else.
    """
    try:
        from distributed import Client, as_completed
    except ModuleNotFoundError:
        raise AddnormError("--scheduler needs Dask; install it with: pip install 'addnorm[cluster]'") from None
    for name in [*logging.root.manager.loggerDict]:  # what concerns the user is said here
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except OSError as error:
        raise AddnormError(f"{address}: no Dask scheduler answers there: {error}; see that it runs") from error
    try:
        _require_workers(client, address)
        futures: dict[str, K] = {}
        waiting = iter(tasks)
        coming = as_completed([], loop=client.loop)

        def submit(count: int) -> None:
            for name, task in islice(waiting, count):
                future = client.submit(_do, task, makers(), pure=False)
                futures[future.key] = name
                coming.add(future)

        submit(2 * len(client.nthreads()))  # so that no worker waits for its next one
        for future in coming:
            yield futures.pop(future.key), _result(future)
            submit(1)
    finally:
        with suppress(OSError, TimeoutError):
            client.close(timeout=2)


def _require_workers(client: Client, address: str) -> None:
    """Wait for a worker, and refuse all if one would draw with something else."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise AddnormError(
            f"{address}: the scheduler has no workers; start some with: dask worker {address} --nthreads 1"
        ) from None
    for worker, theirs in client.run(makers, on_error="return").items():
        if isinstance(theirs, Exception):
            raise AddnormError(f"worker {worker}: addnorm cannot be loaded there: {theirs}; install it in this version")
        if differences := _differences(theirs, makers()):
            raise AddnormError(f"worker {worker}: {differences}")


def _differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """How another machine's makers differ from ours; empty if they do not."""
    different = [
        f"{name} {theirs.get(name, 'missing')[:12]} where this machine has {ours.get(name, 'none')[:12]}"
        for name in sorted({*theirs, *ours})
        if theirs.get(name) != ours.get(name)
    ]
    return f"{', '.join(different)}; install the same on both" if different else ""


def _do(task: Callable[[], T], wanted: Mapping[str, str]) -> T | AddnormError:
    """What a worker does. It may have joined, or changed, after the others were asked what they draw with."""
    if differences := _differences(makers(), wanted):
        return AddnormError(f"a worker of the cluster: {differences}")
    with _ALONE:
        return done(task)


def _result(future: Any) -> Any:
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker as error:
        return AddnormError(f"every worker that was given it has died, {error.last_worker.address} last")
    except CancelledError:
        return AddnormError("the connection to the cluster is lost")
