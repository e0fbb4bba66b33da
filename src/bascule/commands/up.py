"""`bascule up`: starts the server, prints its link as the only line on stdout, opens the browser."""

import argparse
import asyncio
import errno
import gc
import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from bascule import logs
from bascule.commands import exits
from bascule.config import load
from bascule.model.loopback import is_loopback
from bascule.model.settings import Settings
from bascule.state_folder import prepare

NAMED = 5  # sessions that still run, by their titles


def up(args: argparse.Namespace) -> int:
    return _start(args, agents=True)


def hub(args: argparse.Namespace) -> int:
    """A server for machines that join it; it runs no agents itself."""
    return _start(args, agents=False)


def _start(args: argparse.Namespace, *, agents: bool) -> int:
    flags = {
        "host": args.host,
        "port": args.port,
        "data_dir": args.data,
        "insecure_bind": True if args.insecure_bind else None,
        "tls_cert": args.tls_cert,
        "tls_key": args.tls_key,
        "public_url": args.public_url,
        "store": None if agents else args.store,
    }
    settings = load(flags)

    def ready(link: str, running: Sequence[str]) -> None:
        print(link, flush=True)
        print("Open the link in a browser. Ctrl-C stops the server; agents keep running.", file=sys.stderr)
        if running:
            print(_running_words(running), file=sys.stderr)
        if settings.insecure_bind and settings.tls_cert is None and not is_loopback(settings.host):
            print("warning: this link crosses the network unencrypted.", file=sys.stderr)
        if not args.no_open and _has_browser():
            _open(link)

    prepare(Path(settings.data_dir))
    try:
        logs.set_up(settings.data_dir)
    except OSError as error:
        file = Path(settings.data_dir) / logs.FILE_NAME
        words = (
            f"The log {file} can't be written ({error.strerror}). Move it away, or check its owner and disk."
        )
        print(words, file=sys.stderr)
        return exits.FAILED
    try:
        return _serve(settings, ready, agents=agents)
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES, errno.EADDRNOTAVAIL):
            print(_address_words(settings, error), file=sys.stderr)
            return exits.FAILED
        raise


def _running_words(titles: Sequence[str]) -> str:
    from bascule.commands.request_prompt import flat

    named = ", ".join(repr(flat(title)) for title in titles[:NAMED])
    more = f" and {len(titles) - NAMED} more" if len(titles) > NAMED else ""
    count = f"{len(titles)} session{'' if len(titles) == 1 else 's'}"
    return f"{count} still running: {named}{more}. `bascule down` ends everything."


def _serve(settings: Settings, ready: Callable[[str, Sequence[str]], None], *, agents: bool) -> int:
    # What is imported and built until the server is ready stays: looking through it for garbage is a tenth
    # of a start. `app` switches the collection on again.
    gc.disable()
    # Last, so that a wrong setting is named before the server's rooms are loaded.
    import uvloop

    from bascule import app

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(app.serve(settings, ready=ready, agents=agents))


def _address_words(settings: Settings, error: OSError) -> str:
    where = f"{settings.host} port {settings.port}"
    if error.errno == errno.EADDRINUSE:
        return f"{where} is in use; stop what uses it, or start with --port 0 for any free one."
    if error.errno == errno.EACCES:
        return f"{where} needs more rights than you have; choose a port above 1023 with --port."
    return f"{where} is not an address of this machine; choose another with --host."


def _has_browser() -> bool:
    """Only for a person in front of a screen: never from a script, a service or over ssh."""
    if not sys.stderr.isatty():
        return False
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _open(link: str) -> None:
    import webbrowser

    # A browser that is slow to start must not hold up the server.
    threading.Thread(target=webbrowser.open, args=(link,), name="open the browser", daemon=True).start()
