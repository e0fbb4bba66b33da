"""What every test may lean on: one event loop, a home that is nobody's, and short paths for sockets."""

import asyncio
import contextlib
import functools
import gc
import importlib
import importlib.util
import inspect
import itertools
import os
import shutil
import tempfile
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from tests.parts import Part, parts
from tests.waiting import PATIENCE, TEST_SECONDS

if TYPE_CHECKING:
    from tests.hub.running_hub import RunningHub

# A busy machine is no defect: what an example finds counts, not how long it took.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

# Settings of the person running the tests must not decide their outcome.
SCRUBBED_NAMES = {"HOST", "PORT", "TERMINAL", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}
SCRUBBED_PREFIXES = ("BASCULE_", "CLAUDE", "ANTHROPIC_", "CODEX_", "ACP_", "XDG_")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--row", metavar="ID", help="only tests that show this requirement, such as R8 or S55")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """What is imported and collected stays to the end. To look through it for garbage again and again takes
    nearly half the time of collecting, and more of it whenever a test's own garbage is looked for."""
    gc.disable()
    try:
        import_in_turn(session.config.args)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def import_in_turn(chosen: list[str]) -> None:
    """Import all test files, each worker from another place on: pytest caches their bytecode, so that after a
    fresh checkout the workers share the work of compiling them, instead of doing all of it each."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    root = Path(__file__).parent
    if workers == 1 or [Path(one).resolve() for one in chosen] != [root]:
        return
    files = sorted(root.rglob("test_*.py"))
    first = number * len(files) // workers
    for file in (*files[first:], *files[:first]):
        name = ".".join(file.relative_to(root.parent).with_suffix("").parts)
        with contextlib.suppress(Exception):  # a file that can't be imported is reported when it is collected
            importlib.import_module(name)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mix(items)
    if os.environ.get("BASCULE_TEST_MODE") == "split":
        select(config, items, starts_a_server)
        leave_out_joined(items)
    wanted = config.getoption("--row")
    if wanted:
        select(config, items, lambda item: any(wanted in mark.args for mark in item.iter_markers("row")))


def select(config: pytest.Config, items: list[pytest.Item], wanted: Callable[[pytest.Item], bool]) -> None:
    """Keep these; the others are counted in the last line as deselected."""
    chosen = [wanted(item) for item in items]
    config.hook.pytest_deselected(
        items=[one for one, is_one in zip(items, chosen, strict=True) if not is_one]
    )
    items[:] = [one for one, is_one in zip(items, chosen, strict=True) if is_one]


def starts_a_server(item: pytest.Item) -> bool:
    """Whether its file knows `LiveServer`: all others are the same in both modes."""
    return isinstance(item, pytest.Function) and hasattr(item.module, "LiveServer")


def leave_out_joined(items: list[pytest.Item]) -> None:
    for item in items:
        for mark in item.iter_markers("joined"):
            item.add_marker(pytest.mark.skip(reason=f"of one process: {mark.args[0]}"))


def mix(items: list[pytest.Item]) -> None:
    """Tests of the page need the processor, those of processes mostly wait: mixed file by file, both go on at
    once, to the end. The order is the same in every worker and every run."""
    root = Path(__file__).parent
    files = [list(group) for _, group in itertools.groupby(items, key=lambda item: item.path)]
    files.sort(key=lambda group: zlib.crc32(str(group[0].path.relative_to(root)).encode()))
    items[:] = [one for group in files for one in group]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Ends an async test that hangs, with a traceback; pytest-timeout can only end its whole worker."""
    run = pyfuncitem.obj
    if not inspect.iscoroutinefunction(run):
        return

    seconds = seconds_for(pyfuncitem)

    @functools.wraps(run)
    async def bounded(*args: Any, **kwargs: Any) -> None:
        async with asyncio.timeout(seconds):
            await run(*args, **kwargs)

    pyfuncitem.obj = bounded


def seconds_for(item: pytest.Item) -> float:
    """Less than its worker has, so that this comes first; a long test, or a long run, is given more."""
    marker = item.get_closest_marker("timeout")
    allowed = marker.args[0] if marker is not None else item.config.getoption("timeout")
    return max(TEST_SECONDS, (allowed or 0) - PATIENCE)


@pytest.fixture
def part(subtests: pytest.Subtests) -> Part:
    return parts(subtests)


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": importlib.util.find_spec("uvloop") is not None}


@pytest.fixture(scope="session", autouse=True)
def borrowed_home() -> Iterator[Path]:
    """Give the whole run an empty home and none of the user's own settings."""
    home = _make_short_dir()
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name in SCRUBBED_NAMES or name.startswith(SCRUBBED_PREFIXES):
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        yield home
    shutil.rmtree(home)


@pytest.fixture
def short_dir() -> Iterator[Path]:
    """A private folder with a short path: a unix socket's holds about 107 bytes, tmp_path often more."""
    folder = _make_short_dir()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def module_dir() -> Iterator[Path]:
    """The same for all tests of a module, which share one server: starting it costs more than a second."""
    folder = _make_short_dir()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
async def hub(tmp_path: Path) -> "AsyncIterator[RunningHub]":
    """A hub on a real port, with a scripted device behind it."""
    from tests.hub.running_hub import (
        running_hub,  # only where it is wanted: the keeper's tests need none of it
    )

    async with running_hub(tmp_path) as running:
        yield running


def _make_short_dir() -> Path:
    # Not TMPDIR: on macOS and under some runners that is long itself.
    base = "/tmp" if os.access("/tmp", os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="b-", dir=base)).resolve()
