"""Lasting rules answer exactly what they say, for every agent; what can't be read exactly asks."""

from pathlib import Path

import pytest
from tests.policy.asking import DISK, LANTERN, answer, asked, bash, command, edit, recorded, rule, verdict

from bascule.model.errors import InvalidInput
from bascule.model.events import PermissionRequested
from bascule.model.rules import RuleSpec, StandingRule
from bascule.policy.decide import decide
from bascule.policy.fitting import RequestOrigin
from bascule.policy.globs import covers
from bascule.policy.lasting_rules import check, words
from bascule.policy.shell import parts_of
from bascule.policy.subject import subject_of

STATUS = command("allow", "git status", folder=LANTERN)

HOSTILE = [
    "git status; rm x",
    "git status ;rm x",
    "git status\nrm x",
    "git status\r\nrm x",
    "git status \\\nrm x",
    "git  status",
    " git status",
    "git status ",
    "git\tstatus",
    "git\u00a0status",
    "git\u2028status",
    "git status\u202e",
    "git stat\u200bus",
    "gіt status",  # a Cyrillic letter
    "GIT_PAGER=evil git status",
    "env GIT_PAGER=evil git status",
    "git status && rm x",
    "git status || rm x",
    "git status ; rm x",
    "git status | sh",
    "git status & rm x",
    "git status > /etc/passwd",
    "git status >> x",
    "git status < x",
    "git status <<< x",
    "git status 2>&1",
    "git status $(rm x)",
    "git status `rm x`",
    "git status ${x}",
    "git status $x",
    "git status *",
    "git status ~",
    "git status {a,b}",
    "git status &",
    "git status #",
    "git 'status'",
    'git "status"',
    "git st\\atus",
    "'git' status",
    "\\git status",
    "git status --help",
    "./git status",
    "/tmp/git status",
    "../lantern/git status",
    "bash -c git status",
    "bash -lc 'git status'",
    "sudo git status",
    "command git status",
    "cd /tmp && git status",
    "if git status ; then rm x ; fi",
    "time git status",
    "! git status",
    "(git status)",
    "{ git status; }",
    "eval git status",
    "Git status",
    "",
]


@pytest.mark.row("S43", "X7")
@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_only_looks_like_it_is_allowed_by_a_lasting_rule(text: str):
    assert answer(bash("git status"), STATUS) == "allow"
    assert answer(bash(text), STATUS) == "ask"


@pytest.mark.row("S43")
@pytest.mark.parametrize("text", [one for one in HOSTILE if parts_of(one) is None])
def test_what_cant_be_read_is_asked_about_where_a_rule_denies_even_if_the_mode_allows_all(text: str):
    assert answer(bash(text), mode="auto") == "allow"
    assert answer(bash(text), command("deny", "git push"), mode="auto") == "ask"


@pytest.mark.row("S43")
@pytest.mark.parametrize(
    "text",
    ["env git push", "sudo git push", "/usr/bin/git push", "git push; ls", "git push $x", "xargs git push"],
)
def test_ways_around_a_deny_rule_are_asked_about_not_waved_through_by_the_mode(text: str):
    assert answer(bash("git push"), command("deny", "git push"), mode="auto") == "deny"
    assert answer(bash(text), command("deny", "git push"), mode="auto") == "ask"
    assert answer(bash("ls"), command("deny", "git push"), mode="auto") == "allow"


@pytest.mark.row("S43")
def test_a_rule_holds_only_in_its_folder_session_and_agent():
    here = command("allow", "git status", folder=LANTERN)
    assert answer(bash("git status"), here, cwd=f"{LANTERN}/api") == "allow"
    assert answer(bash("git status"), here, cwd="/home/dev/lantern-2") == "ask"
    assert answer(bash("git status"), here, cwd="/home/dev") == "ask"
    assert answer(bash("git status"), command("allow", "git status", session_id="s1")) == "allow"
    assert answer(bash("git status"), command("allow", "git status", session_id="s2")) == "ask"
    assert answer(bash("git status"), command("allow", "git status", agent="codex")) == "ask"
    assert answer(bash("git status"), command("allow", "git status", agent="codex"), agent="codex") == "allow"
    assert answer(asked("Bash", "other", command="git status"), here) == "ask"


@pytest.mark.row("S43")
def test_a_command_that_says_it_runs_elsewhere_is_not_covered_by_a_folders_rule():
    assert answer(bash("git status", cwd=f"{LANTERN}/api"), STATUS) == "allow"
    assert answer(bash("git status", cwd="/tmp"), STATUS) == "ask"
    assert answer(bash("git status", cwd="../.."), STATUS) == "ask"
    assert answer(bash("git status", cwd=7), STATUS) == "ask"


@pytest.mark.row("S43")
def test_a_field_nobody_knows_makes_a_command_one_to_ask_about():
    assert answer(bash("git status", timeout=5000, run_in_background=True), STATUS) == "allow"
    assert answer(bash("git status", dangerouslyDisableSandbox=True), STATUS) == "ask"
    assert answer(bash("git status", commands=["git status", "rm x"]), STATUS) == "ask"
    assert answer(bash("git status", additionalPermissions={"network": True}), STATUS) == "ask"
    assert answer(bash("git status", environmentId="elsewhere", commandActions=[]), STATUS) == "ask"


@pytest.mark.row("S43")
def test_a_program_beside_the_project_is_another_program_in_another_folder():
    here = command("allow", "./check", folder=LANTERN)
    assert answer(bash("./check"), here) == "allow"
    assert answer(bash("./check"), here, cwd=f"{LANTERN}/vendor") == "ask"
    with pytest.raises(InvalidInput, match="Choose a project"):
        check(RuleSpec(answer="allow", tool_class="command", argv=("./check",)))


@pytest.mark.row("X7")
def test_further_words_are_allowed_only_when_a_person_wrote_it_so():
    assert answer(bash("pytest -q tests"), command("allow", "pytest")) == "ask"
    assert answer(bash("pytest -q tests"), command("allow", "pytest …")) == "allow"
    assert answer(bash("pytest"), command("allow", "pytest …")) == "allow"
    assert answer(bash("pytest-evil -q"), command("allow", "pytest …")) == "ask"
    assert answer(bash("pytest -q; rm x"), command("allow", "pytest …")) == "ask"


@pytest.mark.row("X7")
def test_a_chain_is_allowed_when_every_part_is_and_denied_when_one_part_is():
    rules = [command("allow", "pytest …", id="a"), command("allow", "git status", id="b")]
    found = verdict(bash("pytest -q && git status"), *rules)
    assert found is not None
    assert (found.decision, found.rule_ids) == ("allow", ("a", "b"))
    assert answer(bash("pytest -q && rm -rf build"), *rules) == "ask"
    assert answer(bash("pytest -q && git push"), *rules, command("deny", "git push …", id="c")) == "deny"
    assert answer(bash("git status ; cd /tmp ; git status"), *rules) == "ask"


@pytest.mark.row("X7")
def test_deny_beats_ask_and_ask_beats_allow_and_the_most_specific_is_named():
    wide = command("allow", "git …", id="wide")
    exact = command("allow", "git push", id="exact", folder=LANTERN)
    asking = command("ask", "git push", id="ask")
    denying = rule("deny", "command", id="deny", folder=LANTERN)
    found = verdict(bash("git push"), wide, exact)
    assert found is not None
    assert found.rule_ids == ("exact",)
    assert found.rule == "Allow `git push` in lantern"
    assert answer(bash("git push"), wide, exact, asking) == "ask"
    assert answer(bash("git push"), wide, exact, asking, mode="auto") == "ask"
    assert answer(bash("git push"), wide, exact, asking, denying) == "deny"


@pytest.mark.row("R9")
def test_a_whole_class_can_be_answered_by_a_setting():
    assert answer(asked("Read", "read", file_path=f"{LANTERN}/a.py"), rule("allow", "read")) == "allow"
    assert answer(asked("Grep", "search", pattern="x"), rule("allow", "read")) == "allow"
    assert answer(edit(f"{LANTERN}/a.py"), rule("allow", "edit")) == "allow"
    assert answer(edit(f"{LANTERN}/a.py"), rule("allow", "read")) == "ask"
    assert answer(bash("anything; at all"), rule("allow", "command")) == "allow"
    assert answer(bash("anything; at all"), rule("deny", "command"), mode="auto") == "deny"
    assert answer(asked("WebFetch", "fetch", url="https://a.example/x"), rule("allow", "fetch")) == "allow"
    assert answer(asked("WebSearch", "search", query="x"), rule("allow", "read")) == "ask"
    assert answer(asked("mcp__db__query", "other", sql="x"), rule("deny", "mcp")) == "deny"
    with pytest.raises(InvalidInput, match="Name the tool"):
        check(RuleSpec(answer="allow", tool_class="other"))


@pytest.mark.row("S43")
def test_a_label_evades_no_rule_even_if_the_mode_allows_all():
    for kind in ("read", "edit", "execute", "fetch", "other"):
        call = asked("mcp__evil__run", kind, path=f"{LANTERN}/a", command="x", url="https://a.example/")
        assert answer(call, rule("deny", "mcp", tool="mcp__evil"), mode="auto") == "deny", kind
        assert answer(call, rule("deny", "mcp"), mode="auto") == ("deny" if kind == "other" else "ask"), kind
        everything = [rule("allow", one, id=one) for one in ("read", "edit", "command", "fetch")]
        assert answer(call, *everything) == "ask", kind
    running = asked("fetch", "fetch", url="https://a.example/", command="rm -rf /")
    assert answer(running, rule("allow", "fetch")) == "ask"
    assert answer(running, command("deny", "git push"), mode="auto") == "ask"
    assert (
        answer(
            asked("f", "fetch", url="https://evil.example./"),
            rule("deny", "fetch", host="evil.example"),
            mode="auto",
        )
        == "ask"
    )


@pytest.mark.row("S43")
def test_reading_by_a_pattern_is_a_search_whatever_it_is_called():
    for fields in ({"path": ".", "pattern": "/etc/*"}, {"paths": ["**"]}, {"paths": ["[.]env"]}):
        assert answer(asked("read_many", "read", **fields), mode="auto_read") == "ask", fields
    assert answer(asked("Read", "read", file_path="app/[id]/page.tsx"), mode="auto_read") == "allow"


@pytest.mark.row("R9")
def test_a_plan_or_question_is_never_answered_by_a_rule():
    everything = [rule("allow", one, id=one) for one in ("read", "edit", "command", "fetch", "mcp")]
    assert answer(asked("ExitPlanMode", "plan", plan="x"), *everything) == "ask"


@pytest.mark.row("R9")
def test_reading_and_editing_in_general_reach_no_further_than_the_sessions_folder_and_no_hidden_file():
    for path in (
        "/etc/passwd",
        f"{LANTERN}/../other/a.py",
        "~/.bashrc",
        f"{LANTERN}-2/a",
        f"{LANTERN}/.git/hooks/x",
    ):
        assert answer(edit(path), rule("allow", "edit")) == "ask", path
        assert answer(edit(path), rule("deny", "edit"), mode="auto") == "deny", path
    assert answer(asked("Glob", "search", pattern="/etc/**"), rule("allow", "read")) == "ask"
    assert answer(asked("Glob", "search", pattern="../**"), rule("allow", "read")) == "ask"


@pytest.mark.row("X7")
@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("/p/src/**", "/p/src/a/b.py", True),
        ("/p/src/**", "/p/srcs/a", False),
        ("/p/src/*", "/p/src/a", True),
        ("/p/src/*", "/p/src/a/b", False),
        ("/p/**/*.py", "/p/a.py", True),
        ("/p/**/*.py", "/p/x/y/a.py", True),
        ("/p/**/*.py", "/p/x/a.pyc", False),
        ("/p/*a*b*", "/p/xaxbx", True),
        ("/p/*a*b*", "/p/xbxax", False),
        ("/p/a*a", "/p/a", False),
        ("/p/[ab]", "/p/a", False),
        ("/p/a?", "/p/ab", False),
        ("/p/**", "/p/.env", False),
        ("/p/*", "/p/.env", False),
        ("/p/.env", "/p/.env", True),
        ("/p/.*", "/p/.env", True),
        ("/p/**/.env", "/p/x/.env", True),
        ("/p/a\nb", "/p/a\nb", True),
    ],
)
def test_stars_in_a_path_mean_exactly_one_thing(pattern: str, path: str, fits: bool):
    assert covers(pattern, path, hidden=False) is fits


@pytest.mark.row("X7")
def test_what_denies_reaches_hidden_files_by_a_star_too():
    assert (
        answer(edit(f"{LANTERN}/.env"), rule("deny", "edit", path="**", folder=LANTERN), mode="auto")
        == "deny"
    )
    assert (
        answer(edit(f"{LANTERN}/.env"), rule("ask", "edit", path="**", folder=LANTERN), mode="auto") == "ask"
    )


@pytest.mark.row("S21")
def test_a_link_out_of_the_folder_is_judged_by_where_it_leads(tmp_path: Path):
    project, outside = tmp_path / "p", tmp_path / "o"
    for one in (project / "src", outside):
        one.mkdir(parents=True)
    (project / "src" / "link").symlink_to(outside)
    (project / "src" / "file").symlink_to(outside / "secret")
    here = rule("allow", "edit", path="src/**", folder=str(project))
    where = {"cwd": str(project)}
    assert answer(edit("src/new.py"), here, **where) == "allow"
    assert answer(edit(f"{project}/src/./new.py"), here, **where) == "allow"
    assert answer(edit(f"{project}/src/link/x"), here, **where) == "ask"
    assert answer(edit(f"{project}/src/link/../x"), here, **where) == "ask"  # leads beside the link's target
    assert answer(edit(f"{project}/src/file"), here, **where) == "ask"
    assert answer(edit(f"{project}/src/../x"), here, **where) == "ask"
    denied = rule("deny", "edit", path=f"{outside}/**")
    assert answer(edit(f"{project}/src/link/x"), denied, mode="auto", **where) == "deny"


@pytest.mark.row("S43")
def test_a_path_with_hidden_characters_asks():
    here = rule("allow", "edit", folder=LANTERN)
    for path in (f"{LANTERN}/a\u202etxt.py", f"{LANTERN}/a\nb", f"{LANTERN}/a\x00b", ""):
        assert answer(edit(path), here) == "ask"
        assert answer(edit(path), rule("deny", "edit", path="a.py", folder=LANTERN), mode="auto") == "ask"


@pytest.mark.row("X7")
def test_every_path_of_a_change_must_be_covered_and_one_is_enough_to_deny():
    def change(*paths: str):
        return asked("fileChange", "edit", changes=[{"path": one, "diff": ""} for one in paths])

    here = rule("allow", "edit", path="src/**", folder=LANTERN)
    assert answer(change(f"{LANTERN}/src/a"), here) == "allow"
    assert answer(change(f"{LANTERN}/src/a", "/etc/passwd"), here) == "ask"
    assert answer(change(f"{LANTERN}/src/a", "/etc/passwd"), rule("deny", "edit", path="/etc/**")) == "deny"
    moved = asked("e", "edit", changes=[{"path": f"{LANTERN}/src/a", "kind": {"move_path": "/etc/passwd"}}])
    assert answer(moved, here) == "ask"
    keyed = asked("e", "edit", changes={f"{LANTERN}/src/a": {"add": {}}, "/etc/passwd": {"add": {}}})
    assert answer(keyed, here) == "ask"
    granting = asked("e", "edit", changes=[{"path": f"{LANTERN}/src/a"}], request={"grantRoot": "/"})
    assert answer(granting, here) == "ask"


@pytest.mark.row("X7")
@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://docs.python.org/3/", "docs.python.org"),
        ("https://DOCS.python.org/", "docs.python.org"),
        ("https://docs.python.org@evil.example/", None),
        ("https://docs.python.org\\@evil.example/", None),
        ("https://docs.python.org.evil.example/", "docs.python.org.evil.example"),
        ("https://docs.python.org:8443/", None),
        ("file:///etc/passwd", None),
        ("https://docs.python.org /", None),
        ("https://dócs.python.org/", None),
        ("//docs.python.org/", None),
    ],
)
def test_a_host_is_compared_exactly(url: str, host: str | None):
    found = subject_of(asked("WebFetch", "fetch", url=url))
    assert found is not None
    assert found.host == host
    here = rule("allow", "fetch", host="docs.python.org")
    assert answer(asked("WebFetch", "fetch", url=url), here) == (
        "allow" if host == "docs.python.org" else "ask"
    )


@pytest.mark.row("X7")
def test_an_mcp_rule_names_a_tool_or_a_whole_server():
    call = asked("mcp__db__query", "other", sql="x")
    assert answer(call, rule("allow", "mcp", tool="mcp__db__query")) == "allow"
    assert answer(call, rule("allow", "mcp", tool="mcp__db")) == "allow"
    assert answer(call, rule("allow", "mcp", tool="mcp__d")) == "ask"
    assert answer(call, rule("allow", "mcp", tool="mcp__db__q")) == "ask"


@pytest.mark.row("X7")
@pytest.mark.parametrize(
    "spec",
    [
        {"tool_class": "command", "argv": ()},
        {"tool_class": "command", "argv": ("git status",)},
        {"tool_class": "command", "argv": ("git", "$(rm)")},
        {"tool_class": "command", "argv": ("A=1", "git")},
        {"tool_class": "command", "argv": ("git", "&&", "ls")},
        {"tool_class": "command", "path": "src"},
        {"tool_class": "command", "more": True},
        {"tool_class": "edit", "path": "../x"},
        {"tool_class": "edit", "path": "a//b"},
        {"tool_class": "edit", "path": "a**"},
        {"tool_class": "edit", "path": "a\u202eb"},
        {"tool_class": "fetch", "host": "a b"},
        {"tool_class": "fetch", "host": "*.example"},
        {"tool_class": "mcp", "tool": ""},
    ],
)
def test_a_rule_that_would_not_mean_one_thing_is_refused(spec: dict[str, object]):
    with pytest.raises(InvalidInput):
        check(RuleSpec(answer="allow", **spec))  # pyright: ignore[reportArgumentType]


@pytest.mark.row("X7")
def test_a_rule_is_described_in_words():
    assert words(command("allow", "pytest …", folder=LANTERN)) == "Allow `pytest …` in lantern"
    assert (
        words(rule("deny", "edit", path="src/**", session_id="s")) == "Deny editing `src/**` in this session"
    )
    assert words(rule("ask", "read", agent="codex")) == "Ask reading files everywhere, for codex"


PROJECT = "/home/dev/project"
TOUCHES = [
    ("claude/deny", "touch no.txt"),
    ("acp/claude_agent_basic", "touch a.txt"),
    ("acp/zed_claude_basic", "touch a.txt"),
    ("acp/codex_adapter_cancel", "touch c.txt"),
    ("acp/zed_codex_basic", "touch a.txt"),
    ("acp/copilot_basic", "touch a.txt"),
    ("acp/opencode_basic", "touch a.txt"),
    ("codex/app_server", "touch esc.txt"),
    ("codex/app_server_approvals", "touch u1.txt"),
]


@pytest.mark.row("X7")
@pytest.mark.parametrize(("name", "text"), TOUCHES)
def test_one_rule_answers_the_same_command_of_every_recorded_agent(name: str, text: str):
    request = next(one for one in recorded(name) if one.kind == "execute")
    where = {"cwd": PROJECT}
    assert answer(request, command("allow", text, folder=PROJECT), **where) == "allow"
    assert answer(request, command("deny", text), **where) == "deny"
    assert answer(request, command("allow", "touch …"), **where) == "allow"
    assert answer(request, command("allow", text + "x"), **where) == "ask"
    assert answer(request, command("allow", text, folder="/home/dev/other"), cwd=PROJECT) == "ask"


EDITS = [
    "claude/write_edit_read",
    "acp/claude_agent_basic",
    "acp/zed_claude_basic",
    "acp/gemini_fs_nofs",
    "acp/opencode_basic",
    "codex/app_server_approvals",
]


@pytest.mark.row("X7")
@pytest.mark.parametrize("name", EDITS)
def test_one_rule_answers_the_edits_of_every_recorded_agent(name: str):
    request = next(one for one in recorded(name) if one.kind == "edit")
    where = {"cwd": PROJECT}
    assert answer(request, rule("allow", "edit", path="*.txt", folder=PROJECT), **where) == "allow"
    assert answer(request, rule("deny", "edit", path=f"{PROJECT}/**"), mode="auto", **where) == "deny"
    assert answer(request, rule("allow", "edit", path="src/**", folder=PROJECT), **where) == "ask"


@pytest.mark.row("X7")
def test_an_agent_that_only_describes_its_command_is_asked_about():
    request = next(one for one in recorded("acp/gemini_basic") if one.kind == "execute")
    assert answer(request, command("allow", "touch a.txt"), cwd=PROJECT) == "ask"
    assert answer(request, command("deny", "rm …"), cwd=PROJECT, mode="auto") == "ask"


@pytest.mark.row("X7")
def test_codex_asks_about_an_edit_outside_the_folder_whatever_the_rule_inside():
    outside = [one for one in recorded("codex/app_server_approvals") if one.kind == "edit"][-1]
    assert answer(outside, rule("allow", "edit", folder=PROJECT), cwd=PROJECT) == "ask"


@pytest.mark.row("X9")
def test_a_folders_rules_hold_in_the_work_trees_made_from_it_and_reach_no_further():
    tree = "/home/dev/lantern-worktrees/fix-1"

    def there(request: PermissionRequested, held: StandingRule) -> str:
        place = RequestOrigin("s1", tree, "codex", LANTERN)
        found = decide(request, "relay", [], tree, [held], place, DISK)
        return found.decision if found else "ask"

    here = {"folder": LANTERN}
    assert there(bash("git status"), command("allow", "git status", **here)) == "allow"
    assert there(bash("git status", cwd=f"{tree}/api"), command("allow", "git status", **here)) == "allow"
    assert there(bash("git status", cwd="/tmp"), command("allow", "git status", **here)) == "ask"
    assert there(bash("git status"), command("allow", "git status", folder="/home/dev/other")) == "ask"
    assert there(edit(f"{tree}/src/a.py"), rule("allow", "edit", path="src/**", **here)) == "allow"
    assert there(edit(f"{LANTERN}/src/a.py"), rule("allow", "edit", path="src/**", **here)) == "ask"
    assert there(edit(f"{tree}/src/a.py"), rule("deny", "edit", path="src/**", **here)) == "deny"
    assert there(bash("./check"), command("allow", "./check", **here)) == "ask"
