"""The command line. A command loads what it needs when it runs, so that help and errors come at once."""

from __future__ import annotations

import errno
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from io import TextIOWrapper
from itertools import product
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

import click
import cloup

from addnorm.scenes.exporters import FORMATS, Format

if TYPE_CHECKING:
    from addnorm.mathcore.trace import Trace
    from addnorm.scenes.films import Film
    from addnorm.scenes.render import Order, Step

S = TypeVar("S")
T = TypeVar("T")

DONE, FAILED, REFUSED = 0, 1, 2


class Refused(Exception):
    """The request or examples are wrong, each argument a line; nothing was done."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Its exit status: 0 done, 1 failed, 2 wrong request or example, 130 interrupted."""
    signal.signal(signal.SIGTERM, _stop)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")  # a path need not be text
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))  # held back by `start`
        # Not by `addnorm.main`, which has an interrupt end otherwise.
        with addnorm.make_context("addnorm", [*(sys.argv[1:] if arguments is None else arguments)]) as context:
            addnorm.invoke(context)
        if sys.stdout:  # None where there is nobody to print to
            sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        return _complain(error.format_message(), REFUSED)
    except Refused as error:
        return max(_complain(line, REFUSED) for line in error.args)
    except KeyboardInterrupt as stop:
        return _complain("interrupted; what was published before is as it was", 128 + _signal_of(stop))
    except BrokenPipeError:  # whoever reads our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        status = _told(error)
        if status is None:
            raise
        return status
    return DONE


def _told(error: Exception) -> int | None:
    """Say in a line what is wrong and give the exit status; None if it is a mistake of ours."""
    from addnorm.mathcore.errors import AddnormError, ExampleError

    if isinstance(error, AddnormError):
        return _complain(str(error), REFUSED if isinstance(error, ExampleError) else FAILED)
    if isinstance(error, OSError) and error.filename:
        return _complain(f"{os.fsdecode(error.filename)}: {error.strerror}", FAILED)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # it would be written to once more
        return _complain("no space left where this is written; make room", FAILED)
    return None


def _stop(number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt(number)


def _signal_of(stop: KeyboardInterrupt) -> int:
    return int(stop.args[0]) if stop.args else signal.SIGINT


def _complain(message: str, status: int) -> int:
    click.echo(f"addnorm: {' '.join(message.split())}", err=True)
    return status


@contextmanager
def _asking() -> Iterator[None]:
    """In here what is wrong is the request's fault."""
    from addnorm.mathcore.errors import AddnormError

    try:
        yield
    except AddnormError as error:
        raise Refused(str(error)) from error


@cloup.group(
    invoke_without_command=True,
    context_settings=cloup.Context.settings(help_option_names=["-h", "--help"], max_content_width=100),
    epilog="Exit status: 0 done, 1 the render or a check failed, 2 the request or the example is wrong, "
    "130 interrupted.",
)
@cloup.version_option(package_name="addnorm", message="addnorm %(version)s")
@cloup.pass_context
def addnorm(context: click.Context) -> None:
    """Explainer videos of the Transformer's Add & Norm: no frame shows a number that the math does not have.

    'addnorm render' makes the R44 film. You find it in out/r44/zh/film.mp4.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@addnorm.command(short_help="Print the numbers of an example.")
@cloup.argument("example", default="r44", help="The name of a bundled example (r44), or a .toml or .npz file.")
@cloup.option("--json", "as_json", is_flag=True, help="Print all of it as strict JSON.")
def values(example: str, as_json: bool) -> None:
    """Print the numbers of an example, and the labels of every state as they appear on screen."""
    with _asking():
        trace = _trace(example)
        board = _film().storyboard(trace)
    from addnorm.scenes.manifest import as_bytes
    from addnorm.scenes.values import values_json, values_tables

    content = as_bytes(values_json(trace, board)) if as_json else f"{values_tables(trace, board)}\n".encode()
    click.echo(content, nl=False)  # as bytes: it is UTF-8 whatever the locale


@addnorm.command(short_help="Write a commented example file to start from.")
@cloup.argument("path", type=click.Path(path_type=Path), help="The new .toml file.")
def new(path: Path) -> None:
    """Write a commented example file that renders as it is, to put your own numbers into."""
    from addnorm.scenes.new_example import write_new_example

    with _asking():
        write_new_example(path)
    argument = f"./{path}" if str(path).startswith("-") else str(path)  # or it would be taken for an option
    click.echo(f"{path} is ready; see it with: addnorm render {shlex.quote(argument)} --stills")


@addnorm.command(short_help="Make films, clips and pictures.")
@cloup.argument(
    "examples",
    nargs=-1,
    metavar="[EXAMPLE]...",
    help="Names of bundled examples, or .toml or .npz files; r44 when left out.",
)
@cloup.option_group(
    "What to make",
    cloup.option(
        "-o",
        "--out",
        default="out",
        show_default=True,
        metavar="FOLDER",
        help="Files go below it, to EXAMPLE/LANG.",
    ),
    cloup.option(
        "--lang",
        default="zh",
        show_default=True,
        metavar="zh|en[,..]",
        help="Languages, with a comma between them.",
    ),
    cloup.option(
        "--states",
        metavar="b0[,..]",
        help="Only the clips and stills of these states. The film stays as it is.",
    ),
    cloup.option("--stills", is_flag=True, help="Only pictures, of every state and of the details, in seconds."),
    cloup.option(
        "--format",
        "formats",
        default="mp4",
        show_default=True,
        metavar="mp4|webm[,..]",
        help="With webm each clip comes on a transparent ground too, to lay over slides and videos.",
    ),
)
@cloup.option_group(
    "How it looks",
    cloup.option(
        "--theme",
        default="dark",
        show_default=True,
        metavar="dark|light",
        help="dark for a lecture hall, light for white slides.",
    ),
    cloup.option(
        "--size",
        default="1080p60",
        show_default=True,
        metavar="HEIGHTpRATE",
        help="Height in pixels and frames a second, from 480p15 to 2160p60.",
    ),
    cloup.option(
        "--captions",
        type=click.Choice(["on", "off"]),
        default="on",
        show_default=True,
        help="Whether captions are in the picture. As subtitles they come with the film in any case.",
    ),
    cloup.option(
        "--pace",
        type=float,
        default=1.0,
        show_default=True,
        metavar="FACTOR",
        help="Everything so many times as fast, from 0.25 to 4.",
    ),
)
@cloup.option_group(
    "How it is made",
    cloup.option(
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="Processes at work. One for each processor when left out.",
    ),
    cloup.option(
        "--scheduler",
        default="",
        metavar="tcp://HOST:PORT",
        help="Have a Dask cluster film instead; its workers need the same addnorm, and no disk in common.",
    ),
    cloup.option(
        "--cache",
        type=click.FloatRange(min=0),
        default=2.0,
        show_default=True,
        envvar="ADDNORM_CACHE",
        show_envvar=True,
        metavar="GIB",
        help="How much is kept in OUT/.addnorm to be used again.",
    ),
)
def render(
    examples: tuple[str, ...],
    out: str,
    lang: str,
    states: str | None,
    stills: bool,
    formats: str,
    theme: str,
    size: str,
    captions: str,
    pace: float,
    jobs: int | None,
    scheduler: str,
    cache: float,
) -> None:
    """Render films, each with its clips, stills, captions, transcript and values.json.

    \b
    addnorm render                             the R44 film in Chinese
    addnorm render mine.toml --lang zh,en      a film of your own numbers in two languages
    addnorm render course/*.toml               many films; one that fails does not stop the others
    addnorm render --states b2 --size 2160p60  one clip in 4K
    """
    traces = _traces(examples or ("r44",))  # first: what is wrong with them is said before more is loaded

    from addnorm.scenes.captions import FASTEST, SLOWEST
    from addnorm.scenes.crew import available_processors
    from addnorm.scenes.render import Order, render, require_possible
    from addnorm.scenes.video import parse_size

    with _asking():
        from addnorm.mathcore.errors import AddnormError

        if not SLOWEST <= pace <= FASTEST:
            raise AddnormError(f"pace: {pace:g}; give a factor from {SLOWEST:g} to {FASTEST:g}")
        if scheduler and not re.fullmatch(r"(tcp|tls|ws|wss)://\S+:[0-9]+", scheduler):
            raise AddnormError(f"scheduler: {scheduler!r}; write its address as tcp://HOST:PORT")
        looks = partial(
            Order,
            _film(),
            theme=theme,
            size=parse_size(size),
            pace=pace,
            captions=captions == "on",
            states=() if states is None else _listed(states),
            moving=not stills,
            transparent="webm" in _formats(formats),
        )
        _require_folder(out)

    def order(wanted: tuple[Trace, str]) -> Order:
        order = looks(trace=wanted[0], language=wanted[1])
        require_possible(order, Path(out))
        return order

    orders = _each(product(traces, _listed(lang)), order)
    limit = int(cache * 2**30)
    steps = render(orders, Path(out), jobs or available_processors(), scheduler=scheduler, cache_limit=limit)
    _follow(steps, orders)


def _follow(steps: Generator[Step], orders: Sequence[Order]) -> None:
    """Have it rendered, with a bar on a terminal and a line for each step elsewhere; say what failed and what is where.

    The exit status is that of a wrong example where nothing else is wrong.
    """
    from addnorm.mathcore.errors import ExampleError
    from addnorm.scenes.render import Failed, Taken

    results: list[Path] = []
    failures: list[Failed] = []
    with closing(steps), _bar(orders) if sys.stderr and sys.stderr.isatty() else nullcontext(click.echo) as tell:
        for step in steps:
            if isinstance(step, Taken):
                what = "still" if step.seconds is None else f"{float(step.seconds):.1f} s of film"
                tell(f"{step.order.folder} {step.name}  {what}{', as before' if step.kept else ''}")
            elif isinstance(step, Failed):
                failures.append(step)
            else:
                results += step.paths
    for path in results:
        click.echo(path)
    for order, error in failures:  # an example's error names the file
        _complain(str(error) if isinstance(error, ExampleError) else f"{order.folder}: {error}", FAILED)
    if failures:
        wrong = all(isinstance(error, ExampleError) for _, error in failures)
        raise click.exceptions.Exit(REFUSED if wrong else FAILED)


@contextmanager
def _bar(orders: Sequence[Order]) -> Iterator[Callable[[str], None]]:
    """A progress bar on standard error, and a call that moves it one step on and says what was done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # Refreshed by hand: a thread that does it would be there when the processes fork.
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False, redirect_stdout=False) as bar:
        task = bar.add_task("starting", total=sum(len(order.stills) for order in orders))
        bar.refresh()
        yield lambda done: bar.update(task, advance=1, description=done, refresh=True)


@addnorm.command(short_help="Remove what is kept to be used again.")
@cloup.option("-o", "--out", default="out", show_default=True, metavar="FOLDER", help="The output folder.")
def clean(out: str) -> None:
    """Remove what an output folder keeps to be used again, and what interrupted renders left. Films stay."""
    from addnorm.scenes.cache import clean

    kept = clean(Path(out))
    click.echo(f"{kept / 2**20:.1f} MB removed" if kept else "nothing was kept")


@addnorm.command(short_help="Check finished videos against the math.")
@cloup.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), help="Videos, or folders of them.")
@cloup.option("--json", "as_json", is_flag=True, help="Print the report as strict JSON.")
@cloup.option(
    "--example",
    metavar="EXAMPLE",
    help="What the videos have to be made from. It is needed for an example of your own that is too large to be "
    "carried along in a video.",
)
def verify(paths: tuple[Path, ...], as_json: bool, example: str | None) -> None:
    """Check finished videos, as they are now, frame by frame: does each show what the math has?

    From the example that a video carries everything is computed and staged again. Each number is read from the
    pixels, and the values.json beside the video is held against the core. Works on a video alone, and on one that
    was encoded again or made smaller.
    """
    with _asking():
        from addnorm.scenes.verify import main as check

        status = check(paths, as_json=as_json, example=None if example is None else _trace(example).example)
    raise click.exceptions.Exit(status)


@addnorm.command(short_help="Say what is missing on this machine, and how to mend it.")
@cloup.option("-o", "--out", default="out", show_default=True, metavar="FOLDER", help="Where films are to go.")
def doctor(out: str) -> None:
    """Say what is missing on this machine, and give the line that mends it.

    What is marked with a dash is only needed for what it says. The exit status is 1 if a film cannot be made.
    """
    from addnorm.scenes.doctor import main as examine

    raise click.exceptions.Exit(examine(out))


@addnorm.group(short_help="Put films into a page, into slides, …")
def export() -> None:
    """Put films into a page, into slides and more. Reads what 'addnorm render' made and renders nothing again.

    \b
    addnorm export page out/r44                     all languages and themes found there, in one file
    addnorm export reveal out/r44 out/mine          two examples in one deck
    addnorm export page out/r44/zh -o lecture.html  one language only
    """


def _exporting(form: Format) -> click.Command:
    """The command of one format."""

    @cloup.argument(
        "folders",
        nargs=-1,
        required=True,
        type=click.Path(path_type=Path),
        metavar="OUT/EXAMPLE...",
        help="What was rendered of an example, or of one in one language. Several go one after the other.",
    )
    @cloup.option(
        "-o",
        "--out",
        type=click.Path(path_type=Path),
        metavar="PATH",
        help=f"Where it goes; {form.makes} beside what was rendered when left out.",
    )
    @cloup.option(
        "--example",
        "examples",
        multiple=True,
        metavar="FILE",
        help="The example itself, where it was too large to be kept with the film and is not a bundled one.",
    )
    def run(folders: tuple[Path, ...], out: Path | None, examples: tuple[str, ...], **flags: bool) -> None:
        from addnorm.mathcore.example_files import load_example
        from addnorm.scenes.exporters import export
        from addnorm.scenes.exporters.outputs import read_outputs
        from addnorm.scenes.paths import find_example

        with _asking():
            given = [load_example(find_example(example)) for example in examples]
            rendered = read_outputs(folders, given)
        click.echo(export(form, rendered, out, flags))

    for flag in form.flags:
        run = cloup.option(f"--{flag.name.replace('_', '-')}", flag.name, is_flag=True, help=flag.help)(run)
    command: click.Command = cloup.command(form.name, short_help=form.help, help=form.help)(run)
    return command


for _format in FORMATS.values():
    export.add_command(_exporting(_format))


def _film() -> Film:
    from addnorm.scenes.films import DEFAULT_FILM, FILMS

    return FILMS[DEFAULT_FILM]


def _trace(example: str) -> Trace:
    from addnorm.mathcore.example_files import load_example
    from addnorm.mathcore.trace import run
    from addnorm.scenes.paths import find_example

    return run(load_example(find_example(example)))


def _traces(examples: Sequence[str]) -> list[Trace]:
    """The traces of examples that are not to be written to one folder."""
    seen: dict[str, str] = {}

    def own(example: str) -> Trace:
        from addnorm.mathcore.errors import AddnormError

        trace = _trace(example)
        name = trace.example.id
        folder = name.casefold()  # some file systems do not tell cases apart
        if folder in seen:
            raise AddnormError(f"{example}: id: {name!r} is also that of {seen[folder]}; give each its own")
        seen[folder] = example
        return trace

    return _each(examples, own)


def _each(subjects: Iterable[S], made: Callable[[S], T]) -> list[T]:
    """What is made of each. All that is wrong is refused at once."""
    from addnorm.mathcore.errors import AddnormError

    results, wrong = [], []
    for subject in subjects:
        try:
            results.append(made(subject))
        except AddnormError as error:
            wrong.append(str(error))
    if wrong:
        raise Refused(*dict.fromkeys(wrong))
    return results


def _formats(text: str) -> tuple[str, ...]:
    """The formats asked for. Clips are mp4 in any case; what is made of them is exported."""
    from addnorm.mathcore.errors import AddnormError

    for name in _listed(text):
        if name not in ("mp4", "webm"):
            exported = f"; it is made by: addnorm export {name} OUT/EXAMPLE" if name in FORMATS else ""
            raise AddnormError(f"format: {name!r}; give mp4, or mp4,webm{exported}")
    return _listed(text)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",")))


def _require_folder(out: str) -> None:
    from addnorm.mathcore.errors import AddnormError

    if os.path.lexists(out) and not os.path.isdir(out):  # noqa: PTH112  unlike Path, never an error
        kind = "a file" if os.path.exists(out) else "a link that leads nowhere"  # noqa: PTH110
        raise AddnormError(f"{out}: {kind}; give a folder for -o")
