"""`bascule trust … --browser`: the browsers whose signed starts this machine takes.

The secret is made and shown here. It goes to no server, not even to this machine's own.
"""

import argparse
import sys
import time
from pathlib import Path

from bascule.commands import exits
from bascule.commands.console import Console
from bascule.commands.request_prompt import command_line, flat
from bascule.commands.server_address import data_dir_of, device_in
from bascule.daemon.starts.trusted_browsers import BrowserBook, TrustedBrowser
from bascule.state_folder import prepare, read_hub_note

GROUP = 5


def generate(args: argparse.Namespace) -> int:
    folder = Path(data_dir_of(args))
    prepare(folder)
    made = BrowserBook(folder).make(args.browser, time.time(), args.days * 86400.0)
    code = "-".join(made.code[at : at + GROUP] for at in range(0, len(made.code), GROUP))
    print(code)
    _explain(folder, made, args)
    return exits.OK


def _explain(folder: Path, made: TrustedBrowser, args: argparse.Namespace) -> None:
    until = time.strftime("%Y-%m-%d", time.localtime(made.expires_at))
    words = [
        f"{flat(made.name)} may sign starts on this machine until {until}. Shown only once.",
        "In that browser: Settings, Machines, this machine, Trust this browser.",
    ]
    hub, device = read_hub_note(folder), device_in(folder)
    link = f"{hub.url.rstrip('/')}/#trust={device}.{made.code}" if hub is not None and device else ""
    if link:
        words.append(f"Or open there: {link}")
    words.append(f"Take it back with: {command_line('trust', 'revoke', made.id)}")
    print("\n".join(words), file=sys.stderr)
    if args.qr or (args.qr is None and sys.stdout.isatty()):
        import segno

        segno.make(link or made.code, micro=False).terminal(out=sys.stderr, compact=True)


def list_browsers(args: argparse.Namespace, terminal: Console) -> None:
    browsers = BrowserBook(Path(data_dir_of(args))).all()
    if browsers:
        terminal.line("Browsers whose signed starts this machine takes:")
    for browser in browsers:
        over = "  expired" if browser.expires_at <= time.time() else ""
        until = time.strftime("%Y-%m-%d", time.localtime(browser.expires_at))
        terminal.line(f"{flat(browser.id)}  {flat(browser.name)}  until {until}{over}")


def revoke(args: argparse.Namespace) -> bool:
    """By id, or by a name that only one browser has; False when none has it."""
    book = BrowserBook(Path(data_dir_of(args)))
    browsers = book.all()
    found = [browser for browser in browsers if args.grant in (browser.id, browser.name)]
    if len(found) != 1:
        return False
    book.revoke(found[0].id)
    print(f"This machine takes no more starts signed by {flat(found[0].name)}.")
    return True
