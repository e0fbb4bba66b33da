"""The words an agent starts with and the environment it gets."""

import pytest

from bascule.agents.catalogue import BadAgentFile, Catalogue
from bascule.agents.command import Launch, build_argv, child_environment, running_mode
from bascule.agents.spec import AgentSpec, DriverSpec, FoundProgram
from bascule.model.errors import InvalidInput, NotSupported

CLAUDE = Catalogue.load("/nonexistent").get("claude-code")
FOUND = FoundProgram("/opt/claude")


def test_a_plain_start_has_only_the_words_of_the_file() -> None:
    argv = build_argv(CLAUDE, FOUND, Launch())
    assert argv[0] == "/opt/claude"
    assert argv[1:] == [*CLAUDE.driver().args, "--permission-mode=manual"]
    assert "--verbose" in argv
    assert argv[argv.index("--permission-prompt-tool") + 1] == "stdio"


@pytest.mark.row("S33")
def test_an_agent_is_told_to_ask_so_that_no_settings_file_decides_otherwise() -> None:
    assert "--permission-mode=manual" in build_argv(CLAUDE, FOUND, Launch(resume="abc"))
    assert "--permission-mode=plan" in build_argv(CLAUDE, FOUND, Launch(mode="plan"))


def test_each_value_is_one_word_with_its_flag() -> None:
    launch = Launch(model="opus", mode="default", resume="abc-123", fork=True)
    argv = build_argv(CLAUDE, FOUND, launch)
    assert argv[-4:] == ["--model=opus", "--permission-mode=manual", "--resume=abc-123", "--fork-session"]


HOSTILE = ["-rf", "--dangerously-skip-permissions", "a\nb", "a\rb", "a\0b", "\x1b[2J", "", "x" * 300, "a​b"]


@pytest.mark.row("S20", "S24")
@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("field", ["model", "resume"])
def test_a_value_that_could_be_a_flag_or_hold_control_characters_is_refused(field: str, value: str) -> None:
    with pytest.raises(InvalidInput):
        build_argv(CLAUDE, FOUND, Launch(**{field: value}))


@pytest.mark.row("S20")
@pytest.mark.parametrize("value", ["a; touch x", "$(touch x)", "`touch x`", "a b", "*", "~", "'\"", "é"])
def test_shell_characters_are_only_characters(value: str) -> None:
    assert f"--model={value}" in build_argv(CLAUDE, FOUND, Launch(model=value))


@pytest.mark.row("S24")
@pytest.mark.parametrize("mode", ["bypassPermissions", "manual --x", "-x", "nonsense"])
def test_a_session_can_start_only_in_a_listed_mode(mode: str) -> None:
    with pytest.raises(InvalidInput):
        build_argv(CLAUDE, FOUND, Launch(mode=mode))


@pytest.mark.row("F11")
@pytest.mark.parametrize("mode", ["bypassPermissions", "yolo", "", "Plan", "manual", "plan "])
def test_only_a_listed_mode_can_be_chosen_and_a_refusal_lists_them(mode: str) -> None:
    everything = ("default", "bypassPermissions", "yolo", "Plan")
    for driver in ("stream_json", "acp"):
        with pytest.raises(InvalidInput, match="choose one of: default, acceptEdits, plan, auto"):
            running_mode(CLAUDE, mode, CLAUDE.driver(driver), everything)


@pytest.mark.row("F11")
def test_a_mode_is_changed_to_by_the_agents_own_name_for_it() -> None:
    copilot = Catalogue.load("/nonexistent").get("copilot")
    assert running_mode(copilot, "plan", copilot.driver("acp"), ()).endswith("session-modes#plan")
    assert running_mode(CLAUDE, "default", CLAUDE.driver(), ()) == "manual"


@pytest.mark.row("F11")
def test_where_no_modes_are_listed_only_offers_with_a_harmless_name_count() -> None:
    driver = DriverSpec(name="acp")
    bare = AgentSpec(name="bare", title="Bare", search=("bare",), drivers=(driver,))
    harmless = ("build", "plan", "Read_Only", "https://a.example/modes#ask")
    skips = ("bypassPermissions", "yolo", "full-access", "dangerously-skip")
    # No name of these is on a list of bad ones; each lets its agent act without asking.
    others = ("autopilot", "never", "auto", "autoEdit", "turbo", "code", "my-agent", "replan", "")
    offered = (*harmless, *skips, *others)
    for mode in harmless:
        assert running_mode(bare, mode, driver, offered) == mode
    for mode in (*skips, *others):
        with pytest.raises(InvalidInput, match=r"one of: build, plan, Read_Only, .* agent file\."):
            running_mode(bare, mode, driver, offered)
    with pytest.raises(InvalidInput, match=r"#ask\.$"):  # it was not offered
        running_mode(bare, "manual", driver, offered)
    with pytest.raises(InvalidInput, match=r"no modes to choose from\.$"):
        running_mode(bare, "plan", driver, ())
    with pytest.raises(InvalidInput, match=r"no modes to choose from\. More can be listed"):
        running_mode(bare, "yolo", driver, skips)


@pytest.mark.row("F11")
def test_the_working_mode_and_the_plan_mode_of_opencode_can_be_chosen() -> None:
    opencode = Catalogue.load("/nonexistent").get("opencode")
    for mode in ("build", "plan"):
        assert running_mode(opencode, mode, opencode.driver("acp"), ("build", "plan", "autopilot")) == mode
    with pytest.raises(InvalidInput, match="build, plan"):
        running_mode(opencode, "autopilot", opencode.driver("acp"), ("build", "plan", "autopilot"))


def test_what_an_agent_can_not_do_is_said() -> None:
    bare = AgentSpec(name="bare", title="Bare", search=("bare",), drivers=(DriverSpec("stream_json"),))
    with pytest.raises(NotSupported):
        build_argv(bare, FOUND, Launch(model="opus"))
    with pytest.raises(NotSupported):
        build_argv(CLAUDE, FOUND, Launch(driver="plain"))
    with pytest.raises(NotSupported):
        build_argv(CLAUDE, FOUND, Launch(fork=True))
    with pytest.raises(NotSupported, match="earlier message"):
        build_argv(CLAUDE, FOUND, Launch(resume="abc-123", fork_at="m-7"))
    with pytest.raises(NotSupported, match="earlier message"):
        build_argv(CLAUDE, FOUND, Launch(driver="terminal", resume="abc-123", fork=True, fork_at="m-7"))


@pytest.mark.row("C6")
def test_a_fork_at_an_earlier_message_names_it_in_one_word() -> None:
    argv = build_argv(CLAUDE, FOUND, Launch(resume="abc-123", fork=True, fork_at="m-7"))
    assert argv[-3:] == ["--resume=abc-123", "--fork-session", "--resume-session-at=m-7"]
    with pytest.raises(InvalidInput):
        build_argv(CLAUDE, FOUND, Launch(resume="abc-123", fork=True, fork_at="--print"))


@pytest.mark.row("S34")
def test_the_child_sees_only_listed_variables() -> None:
    secret = [
        "BASCULE_TOKEN",
        "bascule_token",
        "DATABASE_URL",
        "AWS_SECRET_ACCESS_KEY",
        "GH_TOKEN",
        "LD_PRELOAD",
        "ld_preload",
        "PYTHONPATH",
        "pythonpath",
        "CLAUDECODE",
        "SSH_AUTH_SOCK",
        "path",
        "Home",
    ]
    common = ["HOME", "PATH", "LANG", "LC_ALL", "TERM", "USER", "SHELL", "TZ", "XDG_CONFIG_HOME"]
    listed = ["ANTHROPIC_API_KEY", "CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CONFIG_DIR"]
    parent = dict.fromkeys([*secret, *common, *listed], "canary")
    assert sorted(child_environment(CLAUDE, parent)) == sorted([*common, *listed])


@pytest.mark.row("S34")
def test_an_agent_file_cannot_list_a_variable_that_is_never_passed_on() -> None:
    spec = AgentSpec(
        name="x",
        title="X",
        search=("x",),
        drivers=CLAUDE.drivers,
        environment=type(CLAUDE.environment)(("LD_PRELOAD", "PYTHON*", "BASCULE_*"), {"LD_PRELOAD": "x.so"}),
    )
    parent = {"LD_PRELOAD": "x", "PYTHONPATH": "x", "BASCULE_TOKEN": "x"}
    assert child_environment(spec, parent) == {}


@pytest.mark.row("S34")
def test_a_variable_that_a_person_passes_on_reaches_that_agent_alone() -> None:
    catalogue = Catalogue.load("/nonexistent").passing({"codex": ("MODELS_KEY", "LD_PRELOAD")})
    parent = {"MODELS_KEY": "k", "OPENAI_API_KEY": "o", "LD_PRELOAD": "x", "OTHER_KEY": "x"}
    assert child_environment(catalogue.get("codex"), parent) == {"MODELS_KEY": "k", "OPENAI_API_KEY": "o"}
    assert child_environment(catalogue.get("opencode"), parent).keys() == {
        "OPENAI_API_KEY",
        "OPENCODE_PERMISSION",
    }


@pytest.mark.row("S34")
def test_a_variable_set_by_the_agent_file_cannot_be_overridden_by_pass_on() -> None:
    catalogue = Catalogue.load("/nonexistent").passing({"aider": ("AIDER_YES_ALWAYS",)})
    assert child_environment(catalogue.get("aider"), {"AIDER_YES_ALWAYS": "true"}) == {
        "AIDER_YES_ALWAYS": "false",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def test_passing_on_to_an_agent_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadAgentFile) as caught:
        Catalogue.load("/nonexistent").passing({"codx": ("MODELS_KEY",)})
    assert caught.value.message.startswith("config.toml (pass_on): there is no agent 'codx'")
