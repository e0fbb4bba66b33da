"""`bascule bridge`: the launch bridge alone, for web pages that open a terminal with an agent."""

import argparse
import errno
import logging
import sys

from bascule.commands import exits
from bascule.config import load


async def bridge(args: argparse.Namespace) -> int:
    from bascule.hub.launch.bridge_server import port_in_use
    from bascule.launch.gate import FIRST_ORIGINS
    from bascule.launch_setup import serve_bridge

    flags = {"launch.port": args.port, "launch.terminal": args.terminal, "data_dir": args.data}
    settings = load(flags)
    _log_errors()

    def ready(port: int) -> None:
        print(f"Listening on 127.0.0.1:{port}", flush=True)

    try:
        await serve_bridge(settings, settings.launch.origins or FIRST_ORIGINS, ready)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        print(port_in_use(settings.launch.port), file=sys.stderr)
        return exits.FAILED
    return exits.OK


class _ErrorLines(logging.Formatter):
    """`[ISO time] [ERROR] code: message`, on one line."""

    def format(self, record: logging.LogRecord) -> str:
        from bascule.model.codec import timestamp
        from bascule.policy.visible import visible

        text = visible(record.getMessage()).replace("\n", " ")
        return f"[{timestamp(record.created)}] [ERROR] {text}"


def _log_errors() -> None:
    """Errors only: a launch that went well leaves no trace."""
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(_ErrorLines())
    logger = logging.getLogger("bascule")
    logger.setLevel(logging.ERROR)
    logger.addHandler(lines)
