"""Writes `js/types.d.ts`: the vocabulary as TypeScript types, from the same structs the server speaks.

Run it after changing the model; a test fails while the file is behind.
"""

import sys
import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Raw

from bascule.api import pushes, terminal_messages
from bascule.api.audit_answers import AuditPage
from bascule.api.request_answers import RequestView
from bascule.api.session_answers import EntriesPage, EventsPage, SessionOpened
from bascule.hub.calls.operation import Operation
from bascule.hub.operation_table import operation_table
from bascule.link.machine import AgentInfo
from bascule.model import entries, entry_types, events, records
from bascule.model.commands import Done
from bascule.store.base import AuditRecord

TARGET = Path(__file__).resolve().parent.parent / "src" / "bascule" / "web" / "js" / "types.d.ts"
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", Raw: "unknown"}
FILLED = (entry_types.Entry, records.SessionRecord)
HEAD = "// Made by web/page_types.py from the model's structs and the operations. Do not edit.\n"
# A call for one session: its id, then the other parameters, which may be left out when none is required.
CALLS = """export type Rest<Name extends keyof Operations> =
  Omit<Operations[Name]['body'], 'sessionId'> & { key?: string };

export type InSession<Name extends keyof Operations> = (
  sessionId: string,
  ...fields: {} extends Rest<Name> ? [fields?: Rest<Name>] : [fields: Rest<Name>]
) => Promise<Operations[Name]['answer']>;"""
# What an error says beside its code and words depends on the code.
FAULT = """export interface Fault {
  code: string;
  message: string;
  [field: string]: unknown;
}"""
# An entry or a record as the server sends it: what has its default value is left out.
SPARSE = "export type Sparse<T, Left extends keyof T> = Omit<T, Left> & Partial<Pick<T, Left>>;"
# Rows that the hub passes on as the bytes they are stored as.
PASSED_ON = {
    (EntriesPage, "entries"): "WireEntry[]",
    (SessionOpened, "entries"): "WireEntry[]",
    (EventsPage, "events"): "Logged[]",
    (pushes.SessionEvents, "entries"): "Logged[]",
    (pushes.Problem, "error"): "Fault",
    (AuditPage, "records"): "AuditRow[]",
    (records.RequestRecord, "asked"): "PermissionRequested | QuestionAsked",
    (RequestView, "asked"): "PermissionRequested | QuestionAsked",
}


def type_of(hint: Any, found: dict[str, type]) -> str:
    """The TypeScript form of a Python type; structs met on the way are noted in `found`."""
    if hint in PLAIN:
        return PLAIN[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return type_of(arguments[0], found)
    if origin is Literal:
        return " | ".join(f"'{value}'" for value in arguments)
    if origin in (Union, types.UnionType):
        return " | ".join(type_of(one, found) for one in arguments)
    if origin in (tuple, list):
        inner = type_of(arguments[0], found)
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if origin is dict:
        return f"Record<string, {type_of(arguments[1], found)}>"
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        found[hint.__name__] = hint
        return f"Wire{hint.__name__}" if issubclass(hint, FILLED) else hint.__name__
    if isinstance(hint, type) and issubclass(hint, str):
        return " | ".join(f"'{value.value}'" for value in hint)  # type: ignore[attr-defined]
    raise TypeError(f"No TypeScript form for {hint!r}.")


def interface(struct: type, found: dict[str, type]) -> str:
    config = struct.__struct_config__  # type: ignore[attr-defined]
    lines = [f"export interface {struct.__name__} {{"]
    if config.tag is not None and not config.forbid_unknown_fields:  # a command's tag is its message type
        lines.append(f"  {config.tag_field}: '{config.tag}';")
    for field in msgspec.structs.fields(struct):
        mark = "?" if may_be_missing(struct, field) else ""
        shape = PASSED_ON.get((struct, field.name)) or type_of(field.type, found)
        lines.append(f"  {field.encode_name}{mark}: {shape};")
    return "\n".join([*lines, "}"])


def may_be_missing(struct: type, field: msgspec.structs.FieldInfo) -> bool:
    """What the page sends may leave out a default; so do structs that omit theirs on the wire.

    The page fills entries and records with their defaults before it uses them; `sparse` is the other form.
    """
    if field.required or issubclass(struct, FILLED):
        return False
    config = struct.__struct_config__  # type: ignore[attr-defined]
    return config.forbid_unknown_fields or config.omit_defaults


def sparse(struct: type) -> str:
    """An entry or a record before it is filled."""
    left = [field.encode_name for field in msgspec.structs.fields(struct) if not field.required]
    names = "\n  | ".join(f"'{name}'" for name in left)
    return f"export type Wire{struct.__name__} = Sparse<\n  {struct.__name__},\n  | {names}\n>;"


def operations(found: dict[str, type]) -> str:
    """Each message over the socket: what is sent with it, and what is answered."""
    lines = ["export interface Operations {"]
    for one in sorted(operation_table().all, key=lambda operation: operation.name):
        if one.name:
            body, answer = type_of(one.body, found), answer_of(one, found)
            lines += [f"  '{name}': {{ body: {body}; answer: {answer} }};" for name in one.names]
    return "\n".join([*lines, "}"])


def http_operations(found: dict[str, type]) -> str:
    """Operations that only HTTP has, by method and path."""
    lines = ["export interface HttpOperations {"]
    for one in sorted(operation_table().all, key=lambda operation: (operation.path, operation.method)):
        if not one.name and one.answer is not None:
            body, answer = type_of(one.body, found), answer_of(one, found)
            lines.append(f"  '{one.method} {one.path}': {{ body: {body}; answer: {answer} }};")
    return "\n".join([*lines, "}"])


def answer_of(operation: Operation, found: dict[str, type]) -> str:
    if operation.answer is None:
        return "unknown"
    shape = type_of(operation.answer, found)
    is_done = isinstance(operation.answer, type) and issubclass(operation.answer, Done)
    return f"{{ {operation.answer_key}: {shape} }}" if operation.answer_key and not is_done else shape


def union(name: str, members: Any, prefix: str = "") -> str:
    lines = [f"export type {name} =", *(f"{prefix}{one.__name__}" for one in get_args(members))]
    return "\n  | ".join(lines) + ";"


def generate() -> str:
    found: dict[str, type] = {}
    roots = [
        *get_args(events.AnyEvent),
        *get_args(entries.AnyEntry),
        records.SessionRecord,
        records.RequestRecord,
        *get_args(pushes.Push),
        *get_args(terminal_messages.TerminalMessage),
    ]
    done: dict[str, str] = {}
    table = [operations(found), http_operations(found)]
    waiting: list[type] = [*roots, AgentInfo, AuditRecord, *found.values()]
    while waiting:
        for struct in waiting:
            done[struct.__name__] = interface(struct, found)
        waiting = [struct for name, struct in found.items() if name not in done]
    audit = "export interface AuditRow {\n  entry: { n: number; at: string; record: AuditRecord };\n}"
    log = "export interface Logged {\n  seq: number;\n  at: string;\n  event: Event;\n}"
    filled = [*get_args(entries.AnyEntry), *(one for one in found.values() if issubclass(one, FILLED))]
    unions = [
        union("Event", events.AnyEvent),
        union("Entry", entries.AnyEntry),
        union("WireEntry", entries.AnyEntry, "Wire"),
        union("Push", pushes.Push),
        union("TerminalMessage", terminal_messages.TerminalMessage),
    ]
    rest = [SPARSE, *map(sparse, filled), *unions, log, audit, FAULT, *table, CALLS]
    return "\n\n".join([HEAD.strip(), *done.values(), *rest]) + "\n"


def main() -> None:
    TARGET.write_text(generate())
    sys.stderr.write(f"wrote {TARGET.name}\n")


if __name__ == "__main__":
    main()
