"""The rules of the rooms that import-linter's layers cannot say, kept over the graph of our own imports."""

import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

PACKAGE = "bascule"
PURE_ROOMS = ("model", "drivers", "policy", "link")
INPUT_AND_OUTPUT = ("asyncio", "socket", "subprocess", "selectors", "anyio", "uvloop")


def breaches(graph: grimp.ImportGraph, package: str) -> Iterator[str]:
    """Every broken rule as one sentence; a room that does not exist breaks none."""

    def imports_of(room: str) -> set[tuple[str, str]]:
        top = f"{package}.{room}"
        inside = {top, *graph.find_descendants(top)} if top in graph.modules else set()
        return {
            (module, target)
            for module in inside
            for target in graph.find_modules_directly_imported_by(module)
        }

    def is_within(module: str, room: str) -> bool:
        return f"{module}.".startswith(f"{package}.{room}.")

    def is_ours(module: str) -> bool:
        return f"{module}.".startswith(f"{package}.")

    for room in PURE_ROOMS:
        for module, target in imports_of(room):
            if target in INPUT_AND_OUTPUT:
                yield f"{module} imports {target}, but {room} is pure"

    for module, target in imports_of("keeper"):
        if is_ours(target) and not is_within(target, "keeper"):
            yield f"{module} imports {target}, but the keeper imports nothing of ours"
        if not is_ours(target) and target not in sys.stdlib_module_names:
            yield f"{module} imports {target}, but the keeper needs the standard library only"

    for module in graph.modules:
        for target in graph.find_modules_directly_imported_by(module):
            allowed = is_within(module, "keeper") or is_within(module, "transport")
            if is_within(target, "keeper") and not allowed:
                yield f"{module} imports {target}, but only transport may import the keeper"

    hub = f"{package}.hub"
    for room in ("session", "drivers", "transport"):
        if {hub, f"{package}.{room}"} <= graph.modules:
            for chain in graph.find_shortest_chains(hub, f"{package}.{room}", as_packages=True):
                yield f"the hub reaches {room}: {' -> '.join(chain)}"

    for module, target in imports_of("demo"):
        if is_ours(target) and not is_within(target, "demo"):
            yield f"{module} imports {target}, but the demo agent is a program of its own"

    for module, target in imports_of("hooks.claude.feedback_hook"):
        if is_ours(target) or target not in sys.stdlib_module_names:
            yield f"{module} imports {target}, but a hook program needs the standard library only"

    # Before anything has to be typed it must start at once: a window is waiting for it.
    for name in ("__main__", "taking_up"):
        for module, target in imports_of(f"launch.launcher.{name}"):
            light = [f"launch.{one}" for one in ("launcher", "plan", "handing_over")]
            if is_ours(target) and not any(is_within(target, one) for one in light):
                yield f"{module} imports {target}, but the launcher needs little before it starts the agent"

    for module, target in imports_of("client"):
        if is_ours(target) and not any(
            is_within(target, room) for room in ("client", "api", "link", "model")
        ):
            yield f"{module} imports {target}, but the client imports only the API's words"


def graph_of(package: str) -> grimp.ImportGraph:
    return grimp.build_graph(package, include_external_packages=True, cache_dir=None)


def test_every_room_keeps_its_import_rule():
    assert sorted(breaches(graph_of(PACKAGE), PACKAGE)) == []


@pytest.mark.parametrize(
    ("module", "source", "sentence"),
    [
        ("model", "import asyncio.subprocess", "model is pure"),
        ("drivers.acp", "def later():\n    from socket import socket", "drivers is pure"),
        ("keeper.spool", "from specimen.model import words", "nothing of ours"),
        ("keeper.spool", "import msgspec", "the standard library only"),
        ("store.log", "from specimen.keeper import frames", "only transport may import the keeper"),
        ("hub.routes", "import specimen.launch", "the hub reaches drivers"),
        ("demo", "from specimen import model", "a program of its own"),
        ("hooks.claude.feedback_hook", "from specimen import model", "a hook program needs"),
        ("client", "from specimen.hub import routes", "imports only the API's words"),
    ],
)
def test_a_broken_rule_is_found(
    module: str, source: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    files = {
        "__init__": "",
        "model.__init__": "",
        "model.words": "import enum",
        "keeper.__init__": "",
        "keeper.frames": "import struct, asyncio",
        "transport.__init__": "from specimen.keeper import frames",
        "drivers.__init__": "from specimen.model import words",
        "launch": "import specimen.drivers",
        "hub.__init__": "",
        "hooks.__init__": "",
        "hooks.claude.__init__": "",
        "store.__init__": "",
    }
    assert found_in(files, tmp_path / "sound", monkeypatch) == []

    name = f"{module}.__init__" if f"{module}.__init__" in files else module
    found = found_in({**files, name: source}, tmp_path / "broken", monkeypatch)
    assert len(found) >= 1
    assert all(sentence in breach for breach in found)


def found_in(files: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    for name, source in files.items():
        path = folder / "specimen" / (name.replace(".", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    # grimp finds a package by importing its name: forget the specimen of the test before.
    monkeypatch.delitem(sys.modules, "specimen", raising=False)
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(folder))
        return sorted(breaches(graph_of("specimen"), "specimen"))
