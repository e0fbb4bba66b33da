"""The clean environment in which the real CLI is started: nothing of the person's own leaks in."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conformance.install import Installed

# Not a credential: the scripted model accepts anything.
DUMMY_KEY = "sk-ant-conformance-0000-not-a-real-key-0000"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_BUG_COMMAND": "1",
}


def make_home(home: Path, project: Path) -> None:
    """Fill a throw-away HOME: onboarding done, the dummy key accepted, the project trusted."""
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    project.mkdir(parents=True, exist_ok=True)
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [DUMMY_KEY[-20:]], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True}},
    }
    (home / ".claude.json").write_text(json.dumps(settings), encoding="utf-8")


def clean_environment(installed: Installed, home: Path, api_url: str, retries: int = 1) -> dict[str, str]:
    """Return the whole environment of the CLI, built from nothing."""
    return {
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "PATH": installed.path,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "SHELL": "/bin/sh",
        "ANTHROPIC_BASE_URL": api_url,
        "ANTHROPIC_API_KEY": DUMMY_KEY,
        "CLAUDE_CODE_MAX_RETRIES": str(retries),
        "NO_PROXY": "127.0.0.1,localhost",
        **QUIET,
    }
