"""The same request gives the same bytes, wherever, whenever and by however many processes it is filled."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

LATER = 400_000_000
"""Seconds: more than twelve years."""

_RUN = f"""
import sys, time
clock, clock_ns = time.time, time.time_ns
late = {LATER} * (sys.argv[1] == "later")
time.time, time.time_ns = lambda: clock() + late, lambda: clock_ns() + late * 10**9
from addnorm.scenes.cli import main
sys.exit(main(sys.argv[2:]))
"""
REQUEST = ["render", "r44", "--size", "480p15", "--pace", "4"]


def rendered(out: Path, clock: str, jobs: int, **environment: str) -> dict[Path, bytes]:
    """Every file that a render in a process of its own leaves, by its path below ``out``."""
    surroundings: Mapping[str, str] = {name: value for name, value in os.environ.items() if not name.startswith("LC_")}
    subprocess.run(
        [sys.executable, "-c", _RUN, clock, *REQUEST, "--jobs", str(jobs), "-o", str(out)],
        env={**surroundings, **environment},
        check=True,
        capture_output=True,
    )
    files = (path for path in out.rglob("*") if path.is_file() and ".addnorm" not in path.parts)
    return {path.relative_to(out): path.read_bytes() for path in files}


def test_the_bytes_depend_on_the_request_alone(tmp_path: Path) -> None:
    here = rendered(tmp_path / "here", "now", 1, LC_ALL="C", TZ="UTC", PYTHONHASHSEED="1")
    there = rendered(
        tmp_path / "it's 那里", "later", 2, LC_ALL="zh_CN.UTF-8", TZ="Asia/Shanghai", PYTHONHASHSEED="2"
    )
    assert {path.name for path in here} > {"film.mp4", "values.json", "captions.srt", "transcript.md", "b4.svg"}
    assert here.keys() == there.keys()
    assert [path for path in here if here[path] != there[path]] == []
