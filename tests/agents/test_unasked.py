"""What an agent runs without asking: declared in its file, typed, and told to whoever chooses it."""

import json
from pathlib import Path
from typing import get_args

import pytest
from tests.agents.test_locate import program
from tests.agents.test_ways import info, launcher, start

from bascule.agents.catalogue import BadAgentFile, Catalogue, parse
from bascule.agents.command import child_environment
from bascule.agents.unasked import NOT_VERIFIED, Unasked, sentences
from bascule.daemon.trusted import TrustedFolders

pytestmark = pytest.mark.anyio
CATALOGUE = Catalogue.load("/nonexistent")
OWN = 'name = "heron"\ntitle = "Heron"\nsearch = ["heron"]\n{more}\n[[drivers]]\nname = "acp"\n'


def test_every_shipped_agent_says_what_it_runs_unasked_or_that_nobody_tried() -> None:
    silent = {spec.name for spec in CATALOGUE if spec.unasked is None}
    assert silent == {"cursor", "goose"}


def test_each_word_of_the_field_is_a_sentence_of_its_own() -> None:
    words = get_args(Unasked)
    told = sentences(words)
    assert len(set(told)) == len(words)
    assert all(one.endswith("without asking.") for one in told)


def declared(agent: str, driver: str) -> set[str]:
    spec = CATALOGUE.get(agent)
    return set(spec.unasked_of(spec.driver(driver)) or ())


@pytest.mark.parametrize(
    ("agent", "driver", "said"),
    [
        ("claude-code", "stream_json", {"reads"}),
        ("claude-code", "acp", {"reads"}),
        ("codex", "codex", {"pictures", "web_search"}),
        ("codex", "acp", {"reads_anywhere", "web_search"}),
        ("gemini", "acp", {"reads", "web_search"}),
        ("copilot", "acp", {"reads"}),
        ("opencode", "acp", {"reads"}),
        ("qwen", "acp", {"reads"}),
        ("aider", "plain", set[str]()),
    ],
)
def test_reading_and_searching_the_web_are_declared_as_the_real_agent_was_seen_to_do_them(
    agent: str, driver: str, said: set[str]
) -> None:
    assert declared(agent, driver) & {"reads", "reads_anywhere", "pictures", "web_search"} == said


async def test_a_person_is_told_who_reads_and_who_searches_the_web_without_asking(tmp_path: Path) -> None:
    for name in ("gemini", "codex", "codex-acp"):
        program(tmp_path / "bin" / name)
    made = launcher(tmp_path)
    reads, searches = sentences(("reads", "web_search"))
    assert (await info(made, "gemini")).unasked["acp"][:2] == (reads, searches)
    codex = (await info(made, "codex")).unasked
    assert searches in codex["codex"]
    assert not any(" reads " in one for one in codex["codex"])
    assert sentences(("reads_anywhere",))[0] in codex["acp"]


def test_an_unknown_word_is_refused_with_its_line() -> None:
    with pytest.raises(BadAgentFile, match="unasked") as caught:
        parse(OWN.format(more='unasked = ["everything"]').encode(), "heron.toml")
    assert caught.value.fields["line"] == 4


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", (NOT_VERIFIED,)),
        ("unasked = []", ()),
        ('unasked = ["mcp"]', ("This agent runs MCP tools without asking.",)),
    ],
)
def test_a_file_that_says_nothing_means_that_nobody_looked(more: str, told: tuple[str, ...]) -> None:
    spec = parse(OWN.format(more=more).encode(), "heron.toml")
    assert sentences(spec.unasked_of(spec.drivers[0])) == told


async def test_the_sentences_come_with_the_agent_by_the_way_it_is_talked_to(tmp_path: Path) -> None:
    for name in ("codex", "codex-acp", "goose"):
        program(tmp_path / "bin" / name)
    made = launcher(tmp_path)
    codex = (await info(made, "codex")).unasked
    assert codex.keys() == {"codex", "acp"}
    assert any("only read" in one for one in codex["codex"])
    assert any(one.startswith("Settings in the project") for one in codex["acp"])
    assert not any(one.startswith("Settings in the project") for one in codex["codex"])
    assert (await info(made, "goose")).unasked == {"acp": (NOT_VERIFIED,)}
    assert (await info(made, "demo")).unasked == (await info(made, "shell")).unasked == {}


# opencode, which asks about nothing by itself


def permissions() -> dict[str, object]:
    return json.loads(CATALOGUE.get("opencode").environment.set["OPENCODE_PERMISSION"])


def decided(permission: str) -> object:
    """As opencode reads them: the last rule that fits wins."""
    rules = permissions()
    return next(rules[name] for name in reversed(rules) if name in (permission, "*"))


@pytest.mark.row("B1")
@pytest.mark.parametrize(
    "permission",
    [
        "bash",
        "edit",
        "webfetch",
        "websearch",
        "skill",
        "lsp",
        "external_directory",
        "doom_loop",
        "lamp_switch",
    ],
)
def test_opencode_is_told_to_ask_for_everything_that_acts(permission: str) -> None:
    assert decided(permission) == "ask"


def test_opencode_looks_at_the_project_by_itself_but_not_at_its_secrets() -> None:
    reading = permissions()["read"]
    assert isinstance(reading, dict)
    assert (reading["*"], reading["*.env"], reading["*.env.*"]) == ("allow", "ask", "ask")
    assert {decided(one) for one in ("glob", "grep", "list", "todowrite")} == {"allow"}


@pytest.mark.row("B4")
def test_opencode_has_no_sub_agents_whose_requests_would_be_lost() -> None:
    spec = CATALOGUE.get("opencode")
    assert decided("task") == "deny"
    assert "loses_requests_of:task" in spec.driver("acp").quirks
    # "*" must come first: what stands later wins.
    assert next(iter(permissions())) == "*"


@pytest.mark.row("B1")
def test_nobodys_variable_takes_the_place_of_what_makes_opencode_ask() -> None:
    hostile = {"OPENCODE_PERMISSION": '{"*":"allow"}', "OPENCODE_DISABLE_PROJECT_CONFIG": "0"}
    given = child_environment(CATALOGUE.get("opencode"), hostile, trusted=False)
    assert json.loads(given["OPENCODE_PERMISSION"])["*"] == "ask"
    assert given["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"


@pytest.mark.row("B1")
async def test_a_projects_settings_count_for_opencode_only_where_the_folder_is_trusted(
    tmp_path: Path,
) -> None:
    """They can allow every tool, and opencode itself asks nobody whether to trust them."""
    program(tmp_path / "bin/opencode")
    project = tmp_path / "project"
    project.mkdir()
    made = launcher(tmp_path)
    started = await made.complete(start("opencode", "acp", project), str(project))
    assert made.plan(started, "s").env["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"
    own = tmp_path / "own"
    own.mkdir(exist_ok=True)
    TrustedFolders(own).change(str(project), trusted=True)
    assert "OPENCODE_DISABLE_PROJECT_CONFIG" not in made.plan(started, "s").env
