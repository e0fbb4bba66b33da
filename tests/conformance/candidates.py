"""The real agents that can be driven, as a table: what to install, how it is started, what its HOME holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

# Not a credential: the scripted model accepts anything.
DUMMY_KEY = "sk-conformance-0000-not-a-real-key-0000"
OTHER_KEY = "SCRIPTED_MODEL_KEY"  # the name of a variable that no agent is given by itself
CODEX_CONFIG = """model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.fake]
name = "Scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 1
stream_max_retries = 1
"""

Settle = Callable[[Path, str], dict[str, str]]


class Candidate(Struct, frozen=True):
    """One agent in one of its ways to be talked to."""

    name: str  # as `make conformance AGENT=…` names it
    title: str
    agent: str  # as Bascule names it
    driver: str
    package: str  # on npm, or on PyPI where `python` says so
    program: str
    settle: Settle  # fills a throw-away HOME, returns what the environment needs beside it
    start: str = ""  # the variable in which Bascule is given the program; else it is on PATH
    python: bool = False
    reject_ends_turn: bool = False
    searching: dict[str, str] = {}  # variables that switch its web search on, where it is off by itself
    # The program's words for a prompt that is answered without Bascule; none: its history is not read.
    alone: tuple[str, ...] = ()


def settle_claude(home: Path, url: str, *, key_approved: bool = False) -> dict[str, str]:
    """`key_approved`: its own screen would else ask whether the key may be used."""
    settings: dict[str, object] = {"hasCompletedOnboarding": True, "theme": "dark"}
    if key_approved:
        settings["customApiKeyResponses"] = {"approved": [DUMMY_KEY[-20:]], "rejected": []}
    (home / ".claude.json").write_text(json.dumps(settings), encoding="utf-8")
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": DUMMY_KEY,
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def _codex(home: Path, url: str) -> dict[str, str]:
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(CODEX_CONFIG.format(url=url), encoding="utf-8")
    return {"OPENAI_API_KEY": DUMMY_KEY, OTHER_KEY: DUMMY_KEY}


def _gemini(home: Path, url: str) -> dict[str, str]:
    folder = home / ".gemini"
    folder.mkdir(exist_ok=True)
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True, "enableAutoUpdate": False},
    }
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return {"GEMINI_API_KEY": DUMMY_KEY, "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_MODEL": "gemini-2.5-pro"}


def _copilot(_home: Path, url: str) -> dict[str, str]:
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": DUMMY_KEY,
        "COPILOT_MODEL": "fake-model",
        "COPILOT_AUTO_UPDATE": "false",
    }


def _opencode(home: Path, url: str) -> dict[str, str]:
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": DUMMY_KEY},
        "models": {"fake-model": {"name": "Scripted"}},
    }
    settings = {
        "provider": {"fake": provider},
        "model": "fake/fake-model",
        "small_model": "fake/fake-model",
        "autoupdate": False,
        "share": "disabled",
    }
    (folder / "opencode.json").write_text(json.dumps(settings), encoding="utf-8")
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def _qwen(_home: Path, url: str) -> dict[str, str]:
    return {"OPENAI_API_KEY": DUMMY_KEY, "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "fake-model"}


def _aider(_home: Path, url: str) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": DUMMY_KEY,
        "AIDER_OPENAI_API_BASE": f"{url}/v1",
        "AIDER_MODEL": "openai/fake-model",
        "AIDER_ANALYTICS": "false",
        "AIDER_GIT": "false",
    }


CANDIDATES: tuple[Candidate, ...] = (
    Candidate(
        "claude-agent-acp",
        "Claude Code, by its ACP adapter",
        "claude-code",
        "acp",
        "@agentclientprotocol/claude-agent-acp",
        "claude-agent-acp",
        settle_claude,
        "CLAUDE_ACP_CMD",
    ),
    Candidate(
        "codex",
        "Codex, app-server",
        "codex",
        "codex",
        "@openai/codex",
        "codex",
        _codex,
        alone=("exec", "--skip-git-repo-check"),
    ),
    Candidate(
        "codex-acp",
        "Codex, by @agentclientprotocol's adapter",
        "codex",
        "acp",
        "@agentclientprotocol/codex-acp",
        "codex-acp",
        _codex,
        "CODEX_ACP_CMD",
        reject_ends_turn=True,
    ),
    Candidate(
        "zed-codex-acp",
        "Codex, by @zed-industries' adapter",
        "codex",
        "acp",
        "@zed-industries/codex-acp",
        "codex-acp",
        _codex,
        "CODEX_ACP_CMD",
        reject_ends_turn=True,
    ),
    Candidate(
        "gemini",
        "Gemini CLI",
        "gemini",
        "acp",
        "@google/gemini-cli",
        "gemini",
        _gemini,
        alone=("--skip-trust", "-p"),
    ),
    Candidate(
        "copilot",
        "GitHub Copilot CLI",
        "copilot",
        "acp",
        "@github/copilot",
        "copilot",
        _copilot,
        alone=("-p",),
    ),
    Candidate(
        "opencode",
        "opencode",
        "opencode",
        "acp",
        "opencode-ai",
        "opencode",
        _opencode,
        alone=("run",),
        searching={"OPENCODE_ENABLE_EXA": "1"},
    ),
    Candidate("qwen", "Qwen Code", "qwen", "acp", "@qwen-code/qwen-code", "qwen", _qwen),
    Candidate(
        "aider",
        "Aider",
        "aider",
        "plain",
        "aider-chat",
        "aider",
        _aider,
        python=True,
    ),
)
