"""`bascule audit …`: lists, exports and verifies the audit log."""

import argparse
import csv
import sqlite3
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from bascule.api.audit_answers import AuditCopy, AuditVerdict
from bascule.client import Client, NotRunning
from bascule.commands import exits
from bascule.commands.console import Console
from bascule.commands.request_prompt import flat
from bascule.commands.screen import print_json
from bascule.commands.server_address import connected, data_dir_of
from bascule.commands.transcript import one_line
from bascule.model.errors import InvalidInput
from bascule.store.audit import verify as verify_chain
from bascule.store.reader import connect_read_only

DATABASE = "bascule.db"
PAGE = 500
COLUMNS = (
    "n",
    "at",
    "action",
    "actor",
    "grant_id",
    "address",
    "user_agent",
    "session_id",
    "request_id",
    "decision",
    "detail",
    "via",
)


class _Record(msgspec.Struct, frozen=True):
    """What is shown of a record. A machine of another version may have actions that are not known here."""

    action: str
    actor: str
    session_id: str | None = None
    address: str = ""
    decision: str | None = None
    detail: str = ""
    grant_id: str = ""
    user_agent: str = ""
    request_id: str | None = None
    via: str = ""


class _Entry(msgspec.Struct, frozen=True):
    n: int
    at: str
    record: _Record


class _Line(msgspec.Struct, frozen=True):
    entry: _Entry


async def list_records(args: argparse.Namespace) -> int:
    terminal = Console()
    async with await connected(args) as client:
        async for raw in _records(client, args, args.after):
            terminal.line(_words(msgspec.json.decode(raw, type=_Line).entry))
    return exits.OK


async def _records(client: Client, args: argparse.Namespace, after: int = 0) -> AsyncIterator[bytes]:
    device = await _device(client, args.device)
    while (page := await client.audit(after=after, limit=PAGE, device=device, chain=args.chain)).records:
        for raw in page.records:
            if _is_wanted(args, msgspec.json.decode(raw, type=_Line).entry.record):
                yield bytes(raw)
        after = page.last


def _is_wanted(args: argparse.Namespace, record: _Record) -> bool:
    wanted = ((args.action, record.action), (args.actor, record.actor), (args.session, record.session_id))
    return all(asked is None or asked == held for asked, held in wanted)


async def _device(client: Client, named: str | None) -> str | None:
    """The id of the machine that has this id or, alone, this name."""
    if named is None:
        return None
    known = await client.devices()
    ids = [one.device for one in known if one.device == named] or [
        one.device for one in known if one.name == named
    ]
    if len(ids) > 1:
        raise InvalidInput(f"There are several machines called {named}: {', '.join(ids)}.")
    return ids[0] if ids else named  # a machine that was taken off the list still has its copies


def _words(entry: _Entry) -> str:
    record = entry.record
    via = f"by the hub {record.via}" if record.via else ""
    parts = [record.action, record.decision, record.session_id, record.detail, record.address, via]
    details = "  ".join(one_line(part, 100) for part in parts if part)
    return f"{entry.n:>6}  {one_line(entry.at)}  {one_line(record.actor, 40)}  {details}"


async def export(args: argparse.Namespace) -> int:
    """Every record as one JSON line with its hashes, on stdout: the chain can be walked with it; or CSV."""
    async with await connected(args) as client:
        if args.csv:
            table = csv.writer(sys.stdout)
            table.writerow(COLUMNS)
            async for raw in _records(client, args):
                table.writerow(csv_row(msgspec.json.decode(raw, type=_Line).entry))
            return exits.OK
        async for raw in _records(client, args):
            print_json(raw)
    return exits.OK


def csv_row(entry: _Entry) -> list[str]:
    """A cell that a spreadsheet would take for a formula gets a quote before it."""
    record = entry.record
    fields = (getattr(record, name) for name in COLUMNS[2:])
    cells = (str(entry.n), entry.at, *("" if field is None else flat(str(field)) for field in fields))
    return [f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t") else cell for cell in cells]


async def verify(args: argparse.Namespace) -> int:
    """Ask the server, or walk the file itself when none runs."""
    try:
        async with await connected(args) as client:
            verdict = await client.verify_audit(await _device(client, args.device))
    except NotRunning:
        if args.device is not None:
            raise
        verdict = verify_file(Path(data_dir_of(args)) / DATABASE)
        if verdict is None:
            print("There is no audit log yet.")
            return exits.OK
    for copy in verdict.copies:
        _print_copy(copy)
    if verdict.ok:
        print(f"ok: {verdict.count} records, each follows from the one before.")
        return exits.OK
    print(
        f"The audit log is broken after record {verdict.count}: {flat(verdict.problem or '')}.",
        file=sys.stderr,
    )
    print("Keep a copy of the state folder and compare it with a backup.", file=sys.stderr)
    return exits.FAILED


def _print_copy(copy: AuditCopy) -> None:
    """A line for what is not as it was: a copy that is broken, a chain that was followed by another."""
    name = f"{flat(copy.name)} ({flat(copy.device)}), chain {copy.chain}"
    if copy.problem:
        print(f"{name}: broken at record {copy.broken_at}: {flat(copy.problem)}.", file=sys.stderr)
    if not copy.current:
        where = "" if copy.differs_at is None else f", which differs from record {copy.differs_at} on"
        print(
            f"{name}: kept as it was, {copy.count} records. The machine sent another chain{where}: it was "
            "restored from a backup, or its audit log was rewritten.",
            file=sys.stderr,
        )


def verify_file(path: Path) -> AuditVerdict | None:
    """Walk the chain in a database nobody serves, without changing it. None when there is none."""
    if not path.exists():
        return None
    connection = connect_read_only(path)
    try:
        check = verify_chain(connection)
    except (sqlite3.Error, TypeError) as error:  # a row whose body is no longer bytes is a TypeError
        return AuditVerdict(ok=False, problem=f"{path} can't be read ({error})")
    finally:
        connection.close()
    return AuditVerdict(
        ok=check.bad is None and not check.fault, count=check.checked, problem=check.fault or None
    )
