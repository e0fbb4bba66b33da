"""A home as agents leave it behind: their conversations, in their own places, with secrets beside them."""

import os
import sqlite3
from pathlib import Path

from bascule.agents.catalogue import Catalogue
from bascule.daemon.found.places import Place
from bascule.daemon.launching.launching import histories_of

FIXTURES = Path(__file__).parent.parent / "fixtures" / "disk"
CLAUDE_ID = "0bf696c4-837a-4d48-986e-b0683366ede7"
CLAUDE = f".claude/projects/-home-code-lantern/{CLAUDE_ID}.jsonl"
CODEX = ".codex/sessions/2026/11/16/rollout-2026-11-16T05-36-54-01a1e2db-bf0f-7ae2-816d-b1cb4092face.jsonl"
GEMINI = ".gemini/tmp/lantern/chats/session-2026-11-16T05-37-af463ec8.jsonl"
COPILOT = ".copilot/session-state/47707185-81b4-4151-b8c0-84e9bc5a2fc3/events.jsonl"
OPENCODE = ".local/share/opencode/opencode.db"
CANARY = "CANARY-SECRET"
SECRETS = (
    ".claude/.credentials.json",
    ".claude/sessions/4242.key",
    ".claude/settings.json",
    ".claude/projects/-home-code-lantern/agent-a1b2c3.jsonl",
    ".codex/auth.json",
    ".codex/config.toml",
    ".gemini/oauth_creds.json",
    ".gemini/tmp/lantern/logs.json",
    ".copilot/config.json",
    ".copilot/session-state/47707185-81b4-4151-b8c0-84e9bc5a2fc3/workspace.yaml",
    ".local/share/opencode/auth.json",
)


def furnish(home: Path, *names: str) -> Path:
    """Fill a home with the conversations of all five agents, or of those named. Gives their folder."""
    work = home / "code" / "lantern"
    work.mkdir(parents=True, exist_ok=True)
    for name, path in (("claude", CLAUDE), ("codex", CODEX), ("gemini", GEMINI), ("copilot", COPILOT)):
        if not names or name in names:
            write(home / path, (FIXTURES / f"{name}.jsonl").read_text().replace("{home}", str(home)))
    if not names or "opencode" in names:
        database = home / OPENCODE
        database.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(database)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript((FIXTURES / "opencode.sql").read_text().replace("{home}", str(home)))
        connection.close()
    return work


def hide_secrets(home: Path) -> None:
    for path in SECRETS:
        write(home / path, CANARY, 0o600)


def write(path: Path, text: str, mode: int = 0o600) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    os.utime(path, (1_794_807_500, 1_794_807_500))  # long over


def shipped_places() -> tuple[Place, ...]:
    return tuple(histories_of(Catalogue.load("/nonexistent")))
