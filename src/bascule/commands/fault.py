"""Reports an internal error of a command: one sentence on stderr, the traceback in a private file."""

import argparse
import logging
import sys
from pathlib import Path

from bascule import logs
from bascule.commands import exits
from bascule.commands.server_address import data_dir_of
from bascule.model.errors import BasculeError
from bascule.model.faults import report

FILE_NAME = "command.log"


def tell(args: argparse.Namespace, error: Exception) -> int:
    """Say it with the id under which the file has it."""
    where = _log_file(args)
    refusal = report(logging.getLogger("bascule.cli"), "a command", error)
    fault = refusal.fields["fault"]
    place = f"{where} says what" if where else "nothing could be written down about it"
    print(f"Something went wrong inside Bascule (fault {fault}); {place}.", file=sys.stderr)
    return exits.FAILED


def _log_file(args: argparse.Namespace) -> Path | None:
    """The log file: the server's own if it was set up, else a file beside it."""
    root = logging.getLogger()
    for handler in root.handlers:
        if isinstance(handler, logs.PrivateRotatingFile):
            return Path(handler.baseFilename)
    root.handlers.clear()
    try:
        path = Path(data_dir_of(args)) / FILE_NAME
        handler = logs.PrivateRotatingFile(path, maxBytes=logs.FILE_BYTES, backupCount=1, encoding="utf-8")
    except (BasculeError, OSError):
        root.addHandler(logging.NullHandler())
        return None
    handler.setFormatter(logs.JsonLines())
    root.addHandler(handler)
    return path
