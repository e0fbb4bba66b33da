"""Writes `js/types.d.ts`: the vocabulary as TypeScript types, from the same structs the server speaks.

Run it after changing the model; a test fails while the file is behind.
"""

import sys
import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Raw

from bascule.link.machine import AgentInfo
from bascule.model import entries, events, records

TARGET = Path(__file__).resolve().parent.parent / "src" / "bascule" / "web" / "js" / "types.d.ts"
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", Raw: "any"}
HEAD = "// Made by web/page_types.py from the model's structs. Do not edit.\n"


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
        return hint.__name__
    if isinstance(hint, type) and issubclass(hint, str):
        return " | ".join(f"'{value.value}'" for value in hint)  # type: ignore[attr-defined]
    raise TypeError(f"No TypeScript form for {hint!r}.")


def interface(struct: type, found: dict[str, type]) -> str:
    config = struct.__struct_config__  # type: ignore[attr-defined]
    lines = [f"export interface {struct.__name__} {{"]
    if config.tag is not None:
        lines.append(f"  {config.tag_field}: '{config.tag}';")
    # Entries and records are filled with their defaults before the page uses them; events come as they are.
    optional = not issubclass(struct, entries.Entry | records.SessionRecord)
    for field in msgspec.structs.fields(struct):
        mark = "?" if optional and not field.required else ""
        lines.append(f"  {field.encode_name}{mark}: {type_of(field.type, found)};")
    return "\n".join([*lines, "}"])


def union(name: str, members: Any) -> str:
    return f"export type {name} = " + " | ".join(one.__name__ for one in get_args(members)) + ";"


def generate() -> str:
    found: dict[str, type] = {}
    roots = [
        *get_args(events.AnyEvent),
        *get_args(entries.AnyEntry),
        records.SessionRecord,
        records.RequestRecord,
    ]
    done: dict[str, str] = {}
    waiting: list[type] = [*roots, AgentInfo]
    while waiting:
        for struct in waiting:
            done[struct.__name__] = interface(struct, found)
        waiting = [struct for name, struct in found.items() if name not in done]
    log = "export interface Logged {\n  seq: number;\n  at: string;\n  event: Event;\n}"
    unions = [union("Event", events.AnyEvent), union("Entry", entries.AnyEntry)]
    return "\n\n".join([HEAD.strip(), *done.values(), *unions, log]) + "\n"


def main() -> None:
    TARGET.write_text(generate())
    sys.stderr.write(f"wrote {TARGET.name}\n")


if __name__ == "__main__":
    main()
