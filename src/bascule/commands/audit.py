"""`bascule audit …`: lists, exports and verifies the audit log."""

import argparse
import sqlite3
import sys
from pathlib import Path

import msgspec

from bascule.api.answers import AuditVerdict
from bascule.client import NotRunning
from bascule.commands import exits
from bascule.commands.console import Console
from bascule.commands.request_prompt import flat
from bascule.commands.screen import print_json
from bascule.commands.server_address import connected, data_dir_of
from bascule.commands.transcript import one_line
from bascule.store.audit import verify as verify_chain
from bascule.store.base import AuditRecord
from bascule.store.reader import connect_read_only

DATABASE = "bascule.db"
PAGE = 500


class _Entry(msgspec.Struct, frozen=True):
    n: int
    at: str
    record: AuditRecord


class _Line(msgspec.Struct, frozen=True):
    entry: _Entry


async def list_records(args: argparse.Namespace) -> int:
    terminal = Console()
    async with await connected(args) as client:
        after = args.after
        while (page := await client.audit(after=after, limit=PAGE)).records:
            for raw in page.records:
                entry = msgspec.json.decode(bytes(raw), type=_Line).entry
                terminal.line(_words(entry))
            after = page.last
    return exits.OK


def _words(entry: _Entry) -> str:
    record = entry.record
    parts = [record.action, record.decision, record.session_id, record.detail, record.address]
    details = "  ".join(one_line(part, 100) for part in parts if part)
    return f"{entry.n:>6}  {one_line(entry.at)}  {one_line(record.actor, 40)}  {details}"


async def export(args: argparse.Namespace) -> int:
    """Every record as one JSON line with its hashes, on stdout: the chain can be walked with it."""
    async with await connected(args) as client:
        after = 0
        while (page := await client.audit(after=after, limit=PAGE)).records:
            for raw in page.records:
                print_json(bytes(raw))
            after = page.last
    return exits.OK


async def verify(args: argparse.Namespace) -> int:
    """Ask the server, or walk the file itself when none runs."""
    try:
        async with await connected(args) as client:
            verdict = await client.verify_audit()
    except NotRunning:
        verdict = verify_file(Path(data_dir_of(args)) / DATABASE)
        if verdict is None:
            print("There is no audit log yet.")
            return exits.OK
    if verdict.ok:
        print(f"ok: {verdict.count} records, each follows from the one before.")
        return exits.OK
    print(
        f"The audit log does not hold after record {verdict.count}: {flat(verdict.problem or '')}.",
        file=sys.stderr,
    )
    print("Keep a copy of the state folder and compare it with a backup.", file=sys.stderr)
    return exits.FAILED


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
