"""`bascule bridge`: the launch bridge alone, for web pages that open terminals; and its button's file."""

import argparse
import errno
import logging
import sys

from bascule.commands import exits
from bascule.config import load


async def bridge(args: argparse.Namespace) -> int:
    return _print_element(args.integrity) if args.what == "element" else await _serve(args)


def _print_element(integrity_only: bool) -> int:
    from bascule.hub.launch.element_file import NAME, element_file, integrity

    if integrity_only:
        print(integrity())
        return exits.OK
    sys.stdout.buffer.write(element_file())
    sys.stdout.flush()
    tag = f'<script type="module" src="/{NAME}" integrity="{integrity()}"></script>'
    print(f"Host it beside your page, and load it with:\n  {tag}", file=sys.stderr)
    return exits.OK


async def _serve(args: argparse.Namespace) -> int:
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
