"""Writes `docs/settings.md` from the settings structs, the loader's names and the flags of `bascule up`.

Run `python -m tests.project.settings_page` after changing a setting; a test fails while the file is behind.
"""

import argparse
import ast
import sys
import types
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo

from bascule.cli import build_parser
from bascule.config.load import (
    ENVIRONMENT_NAMES,
    FIELDS,
    FILE_KEYS,
    ONLY_IN_FILE,
    SEED_NAMES,
    TABLES,
    flag_name,
)
from bascule.model import settings

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "docs" / "settings.md"
HEAD = """# Settings

<!-- Made by tests/project/settings_page.py from bascule.model.settings. Do not edit. -->

Bascule reads its settings once, when the server starts: first `config.toml`, then the environment, then the
flags of `bascule up`; the later one wins. An owner can change the limits in the page; such a change holds at
once, outlasts restarts and goes before all of these.

`config.toml` lies in `$XDG_CONFIG_HOME/bascule`, which is `~/.config/bascule` unless you changed it. It is
plain TOML, must belong to you or root and must not be writable by everybody. Bascule refuses to start with a
key it does not know, and names the nearest one it knows.

```toml
port = 4000
roots = ["~/code", "/srv/projects"]

[limits]
sessions = 6

[pass_on]
codex = ["MISTRAL_API_KEY"]
```

In the environment, lists are separated by commas and switches are `true` or `false`. Where two variables are
listed, the one that begins with `BASCULE_` wins.
"""
TAIL = """## Variables that are not settings of the server

| variable | what it does |
|---|---|
| `BASCULE_SERVER` | The server that the command line talks to, instead of the one on this machine. |
| `BASCULE_TOKEN` | The secret that the command line sends to `BASCULE_SERVER`. |
| `TERMINAL` | Terminal that a launch opens, where `launch.terminal` names none. |
| `CLAUDE_ACP_CMD`, `CODEX_ACP_CMD` | Command line of an ACP adapter to use for that agent. |
"""
DEFAULTS = {
    "data_dir": "`$XDG_STATE_HOME/bascule` (`~/.local/state/bascule`)",
    "config_dir": "`$XDG_CONFIG_HOME/bascule` (`~/.config/bascule`)",
}
TITLES = {
    "": "## The server",
    "limits": "## Sessions",
    "terminal": "## Terminals",
    "acp": "## ACP agents",
    "launch": "## The launch bridge",
    "starts": "## Starts",
    "notify": "## Notifications",
}


def sentences_of(struct: type) -> dict[str, str]:
    """The text under each field: field name to sentence."""
    tree = ast.parse(Path(settings.__file__).read_text())
    body = next(
        node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == struct.__name__
    )
    found: dict[str, str] = {}
    for field, text in pairwise(body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(sentence))):
                found[name] = sentence
            case _:
                pass
    return found


def flags() -> dict[str, str]:
    """Setting to flag, as `bascule up` takes them."""
    parser: Any = build_parser()
    commands = next(one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    offered = {name for action in commands.choices["up"]._actions for name in action.option_strings}
    return {key: flag_name(key) for key in FIELDS if flag_name(key) in offered}


def kind_of(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return " or ".join(f'`"{value}"`' for value in get_args(hint))
    if get_origin(hint) in (Union, types.UnionType):
        return kind_of(get_args(hint)[0])
    if get_origin(hint) is tuple:
        return "list of text"
    if get_origin(hint) is dict:
        return "table of lists"
    return {str: "text", int: "whole number", bool: "`true` or `false`"}[hint]


def default_of(key: str, field: FieldInfo) -> str:
    if key in DEFAULTS:
        return DEFAULTS[key]
    if field.default is msgspec.NODEFAULT or field.default in (None, "", ()):
        return "none"
    if field.default is True or field.default is False:
        return f"`{str(field.default).lower()}`"
    if isinstance(field.default, tuple):
        return ", ".join(f'`"{one}"`' for one in cast("tuple[str, ...]", field.default))
    quoted = f'"{field.default}"' if isinstance(field.default, str) else str(field.default)
    return f"`{quoted}`{_in_words(key, field.default)}"


def _in_words(key: str, value: object) -> str:
    if isinstance(value, int) and key.endswith("_bytes"):
        return f" ({value // 1024**2} MiB)"
    if isinstance(value, int) and key.endswith("_seconds") and value >= 60:
        return f" ({value // 3600} h)" if value % 3600 == 0 else f" ({value // 60} min)"
    return ""


def entry(key: str, field: FieldInfo, sentence: str, flag: str | None) -> str:
    names = [name for name, target in ENVIRONMENT_NAMES.items() if target == key]
    names += [name for name, target in SEED_NAMES.items() if target == key]
    facts = [f"* type: {kind_of(field.type)}; default: {default_of(key, field)}"]
    if names:
        facts.append("* environment: " + ", ".join(f"`{name}`" for name in names))
    if flag:
        facts.append(f"* flag: `{flag}`")
    if key not in FILE_KEYS:
        facts.append("* not in `config.toml`")
    if key in ONLY_IN_FILE:
        facts.append("* only in `config.toml`")
    return "\n".join([f"### `{key}`", "", sentence, "", *facts])


def part(table: str, struct: type[msgspec.Struct]) -> str:
    sentences, offered = sentences_of(struct), flags()
    lines = [TITLES[table]]
    if table:
        lines.append(f"Table `[{table}]`. {struct.__doc__}")
    for field in msgspec.structs.fields(struct):
        key = f"{table}.{field.name}" if table else field.name
        if key not in TABLES:
            lines.append(entry(key, field, sentences[field.name], offered.get(key)))
    return "\n\n".join(lines)


def generate() -> str:
    parts = [part("", settings.Settings), *(part(table, kind) for table, kind in TABLES.items())]
    return "\n\n".join([HEAD.strip(), *parts, TAIL.strip()]) + "\n"


def main() -> None:
    TARGET.write_text(generate())
    sys.stderr.write(f"wrote {TARGET.name}\n")


if __name__ == "__main__":
    main()
