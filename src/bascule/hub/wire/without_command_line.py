"""Imports uvicorn's server without its command line, which would bring click and multiprocessing along."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_COMMAND_LINE = "uvicorn.main"


def import_uvicorn() -> None:
    """Once, before anything of uvicorn is used. Its package imports the command line for three names, which a
    stand-in gives it; the real one can still be imported afterwards."""
    if "uvicorn" in sys.modules:
        return
    stand_in = ModuleType(_COMMAND_LINE)
    stand_in.__getattr__ = _part
    sys.modules[_COMMAND_LINE] = stand_in
    try:
        import_module("uvicorn")
    finally:
        del sys.modules[_COMMAND_LINE]


def _part(name: str) -> Any:
    return import_module("uvicorn.server").Server if name == "Server" else None
