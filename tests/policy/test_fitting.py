"""Fitting: each rule against each reading of a request, as a table of yes, no and unsure."""

from typing import Any

import pytest
from msgspec import structs

from bascule.model.rules import RuleSpec
from bascule.policy.disk import UNSEEN, Disk
from bascule.policy.fitting import Fit, RequestOrigin, fit, reads_plainly
from bascule.policy.shell import Argv
from bascule.policy.subject import Subject

NO, UNSURE, YES = Fit.NO, Fit.UNSURE, Fit.YES
P = "/p"  # the session's folder
PLACE = RequestOrigin("s1", P, "demo")


def real(path: str) -> str | None:
    """A disk where /p/link leads to /etc, and nothing can be said of /p/odd."""
    if path.startswith("/p/odd"):
        return None
    return path.replace("/p/link", "/etc").replace("/p/./", "/p/").replace("/p/../", "/")


def hidden(folder: str) -> tuple[str, ...] | None:
    return None if folder == "/p/huge" else (f"{folder}/.env", f"{folder}/.git/config")


DISK = Disk(real, hidden)


def spec(answer: str, tool_class: str, **fields: Any) -> RuleSpec:
    return RuleSpec(answer=answer, tool_class=tool_class, **fields)  # pyright: ignore[reportArgumentType]


def subject(tool_class: str, tool: str = "T", **fields: Any) -> Subject:
    return Subject(tool_class, tool, **{"exact": True, **fields})  # pyright: ignore[reportArgumentType]


def command(text: str, **fields: Any) -> tuple[Subject, Argv]:
    part = tuple(text.split(" "))
    return subject("command", "Bash", parts=(part,), text=text, said=text, **fields), part


LS = command("ls")[0]


# Scope -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "place", "fits"),
    [
        ({}, {}, YES),
        ({"session_id": "s1"}, {}, YES),
        ({"session_id": "s2"}, {}, NO),
        ({"agent": "demo"}, {}, YES),
        ({"agent": "other"}, {}, NO),
        ({"folder": "/p"}, {}, YES),
        ({"folder": "/p"}, {"cwd": "/p/api"}, YES),
        ({"folder": "/p"}, {"cwd": "/p/.hidden"}, YES),
        ({"folder": "/p"}, {"cwd": "/p2"}, NO),
        ({"folder": "/p/api"}, {}, NO),
        # A work tree belongs to the folder it was made from.
        ({"folder": "/p"}, {"cwd": "/trees/1", "worktree_of": "/p"}, YES),
        ({"folder": "/trees"}, {"cwd": "/trees/1", "worktree_of": "/p"}, NO),
    ],
)
@pytest.mark.parametrize("answer", ["allow", "deny", "ask"])
def test_a_rule_holds_for_its_session_its_agent_and_its_folder(
    scope: dict[str, Any], place: dict[str, Any], fits: Fit, answer: str
):
    assert fit(spec(answer, "command", **scope), LS, ("ls",), structs.replace(PLACE, **place), DISK) is fits


@pytest.mark.parametrize(
    ("answer", "cwd", "place", "fits"),
    [
        ("allow", "/p", {}, YES),
        ("allow", "api", {}, YES),
        ("allow", "/etc", {}, NO),
        ("allow", "link", {}, NO),  # by where it leads
        ("allow", "odd", {}, NO),
        ("deny", "/etc", {}, YES),  # what denies goes by the session alone
        ("ask", "/etc", {}, YES),
        ("allow", "/trees/1/a", {"cwd": "/trees/1", "worktree_of": "/p"}, YES),
        ("allow", "/p", {"cwd": "/trees/1", "worktree_of": "/p"}, NO),
    ],
)
def test_a_rule_of_a_folder_allows_only_what_runs_in_it_too(
    answer: str, cwd: str, place: dict[str, Any], fits: Fit
):
    asked = structs.replace(LS, cwd=cwd)
    rule = spec(answer, "command", folder="/p")
    assert fit(rule, asked, ("ls",), structs.replace(PLACE, **place), DISK) is fits


# Tools -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "tool", "fits"),
    [
        (None, "mcp__db__query", YES),
        ("mcp__db__query", "mcp__db__query", YES),
        ("mcp__db__query", "mcp__db__drop", NO),
        ("mcp__db", "mcp__db__query", YES),
        ("mcp__db", "mcp__db2__query", NO),
        ("mcp__d", "mcp__db__query", NO),
        ("mcp__db__q", "mcp__db__q__x", NO),  # a tool's name is no server's
        ("db", "db__query", NO),
        ("a__b", "a__b__c", NO),
    ],
)
@pytest.mark.parametrize("answer", ["allow", "deny", "ask"])
def test_a_tool_is_named_whole_or_by_its_server(named: str | None, tool: str, fits: Fit, answer: str):
    assert fit(spec(answer, "mcp", tool=named), subject("mcp", tool), None, PLACE, DISK) is fits


@pytest.mark.parametrize(("answer", "fits"), [("allow", NO), ("deny", YES), ("ask", YES)])
@pytest.mark.parametrize("tool_class", ["mcp", "other"])
def test_a_tool_that_is_not_read_exactly_is_not_allowed(tool_class: str, answer: str, fits: Fit):
    asked = subject(tool_class, "mcp__db__query", exact=False)
    assert fit(spec(answer, tool_class), asked, None, PLACE, DISK) is fits


OUTSIDE = "mcp__evil__run"


@pytest.mark.parametrize("said_to_be", ["command", "read", "edit", "fetch", "other"])
@pytest.mark.parametrize(
    ("rule", "fits"),
    [
        (spec("deny", "mcp", tool=OUTSIDE), YES),
        (spec("deny", "mcp", tool="mcp__evil"), YES),
        (spec("ask", "mcp", tool="mcp__evil"), YES),
        (spec("deny", "other", tool=OUTSIDE), YES),
        (spec("deny", "mcp", tool="mcp__good"), NO),
        (spec("deny", "mcp"), UNSURE),
        (spec("ask", "mcp"), UNSURE),
        (spec("allow", "mcp"), NO),
        (spec("allow", "mcp", tool=OUTSIDE), NO),
    ],
)
def test_a_tool_from_outside_does_not_evade_a_rule_by_the_label_it_gives_itself(
    said_to_be: str, rule: RuleSpec, fits: Fit
):
    asked = subject(said_to_be, OUTSIDE, exact=False)
    assert fit(rule, asked, None, PLACE, DISK) is fits


@pytest.mark.parametrize("tool_class", ["command", "fetch", "read", "edit", "other"])
def test_a_tool_from_outside_is_not_allowed_as_what_it_says_it_is(tool_class: str):
    asked = subject(tool_class, OUTSIDE, paths=("/p/a",))
    assert fit(spec("allow", tool_class), asked, None, PLACE, DISK) is NO
    assert fit(spec("allow", tool_class, tool=OUTSIDE), asked, None, PLACE, DISK) is NO
    own = subject(tool_class, "mcp__acp__Read", paths=("/p/a",))  # an adapter's
    assert fit(spec("allow", tool_class), own, None, PLACE, DISK) is YES


# Another class ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "asked", "fits"),
    [
        # A rule about commands, and a request with a command in it.
        (spec("deny", "command"), subject("read", runs=True), UNSURE),
        (spec("ask", "command", argv=("ls",)), subject("fetch", runs=True), UNSURE),
        (spec("deny", "command"), subject("read"), NO),
        (spec("allow", "command"), subject("read", runs=True), NO),
        # A rule about files, and one said to be the other kind of it.
        (spec("deny", "edit"), subject("read"), NO),
        (spec("deny", "edit"), subject("read", exact=False), UNSURE),
        (spec("deny", "read"), subject("edit", exact=False), UNSURE),
        (spec("deny", "edit", path="a"), subject("read", paths=("a",)), NO),
        (spec("deny", "edit", path="a"), subject("read", exact=False, paths=("a",)), UNSURE),
        (spec("deny", "edit", path="a"), subject("read", exact=False, paths=("b",)), NO),
        # A rule about files, and what may name one.
        (spec("deny", "edit"), LS, NO),
        (spec("deny", "read", path=".env"), command("cat .env")[0], UNSURE),
        (spec("deny", "read", path=".env"), command("cat b")[0], NO),
        (spec("allow", "read", path=".env"), command("cat .env")[0], NO),
        (spec("deny", "read", path="sub/.env"), command("cat .env", cwd="sub")[0], UNSURE),
        (spec("deny", "read", path="/etc/x*"), command("cat xy", cwd="/etc")[0], UNSURE),
        (spec("deny", "read", path="/etc/x*"), command("cat xy")[0], NO),
        (spec("deny", "read", path="a"), subject("mcp", paths=("a",)), UNSURE),
        (spec("deny", "read", path="/etc/**"), subject("mcp", paths=("link/x",)), UNSURE),
        (spec("deny", "read", path="a"), subject("mcp", said="see ./a"), UNSURE),
        (spec("deny", "read", path="a"), subject("mcp", said=None), UNSURE),
        (spec("deny", "read", path="a"), subject("mcp"), NO),
        # A rule about the web.
        (spec("deny", "fetch"), subject("read", sends=True), UNSURE),
        (spec("deny", "fetch"), subject("read"), NO),
        (spec("deny", "fetch", host="a.example"), command("curl A.example/x")[0], UNSURE),
        (spec("deny", "fetch", host="a.example"), command("curl b.example")[0], NO),
        (spec("deny", "fetch", host="a.example"), subject("mcp", said=None), UNSURE),
        (spec("allow", "fetch", host="a.example"), command("curl a.example")[0], NO),
        # A rule about another tool.
        (spec("deny", "other"), LS, NO),
        (spec("deny", "mcp"), LS, NO),
    ],
)
def test_a_request_said_to_be_something_else_is_asked_about_when_it_may_do_it(
    rule: RuleSpec, asked: Subject, fits: Fit
):
    assert fit(rule, asked, asked.parts[0] if asked.parts else None, PLACE, DISK) is fits


# Commands --------------------------------------------------------------------------------------------------

PUSH = ("git", "push")


@pytest.mark.parametrize(
    ("rule", "text", "allow", "deny"),
    [
        ({}, "ls", YES, YES),
        ({"argv": PUSH}, "git push", YES, YES),
        ({"argv": PUSH}, "git push -f", UNSURE, UNSURE),  # may run it; no allow, for an allow must fit
        ({"argv": PUSH, "more": True}, "git push -f", YES, YES),
        ({"argv": PUSH, "more": True}, "git push", YES, YES),
        ({"argv": PUSH, "more": True}, "git", NO, NO),
        ({"argv": PUSH}, "env git push", UNSURE, UNSURE),
        ({"argv": PUSH}, "ls", NO, NO),
        ({"argv": PUSH, "tool": "Bash"}, "git push", YES, YES),
        ({"argv": PUSH, "tool": "Bash"}, "ls", NO, NO),  # a tool's name alone is not what it is about
        ({"argv": PUSH, "tool": "Other"}, "git push", NO, NO),
        ({"argv": ("./check",), "folder": "/p"}, "./check", YES, YES),
        ({"argv": ("./check",), "folder": "/"}, "./check", UNSURE, UNSURE),
        ({"argv": ("/bin/check",), "folder": "/"}, "/bin/check", YES, YES),
    ],
)
def test_a_command_fits_word_by_word(rule: dict[str, Any], text: str, allow: Fit, deny: Fit):
    asked, part = command(text)
    assert fit(spec("allow", "command", **rule), asked, part, PLACE, DISK) is allow
    assert fit(spec("deny", "command", **rule), asked, part, PLACE, DISK) is deny
    assert fit(spec("ask", "command", **rule), asked, part, PLACE, DISK) is deny


@pytest.mark.parametrize(
    ("rule", "part", "allow", "deny"),
    [
        ({}, None, YES, YES),
        ({"argv": PUSH}, None, UNSURE, UNSURE),
        ({"argv": PUSH, "more": True}, None, UNSURE, UNSURE),
        ({"argv": PUSH}, PUSH, UNSURE, YES),
        ({"argv": PUSH}, ("ls",), UNSURE, UNSURE),
    ],
)
def test_a_command_that_is_not_read_exactly_fits_no_rule_that_allows_one(
    rule: dict[str, Any], part: Argv | None, allow: Fit, deny: Fit
):
    asked = subject("command", exact=False)
    assert fit(spec("allow", "command", **rule), asked, part, PLACE, DISK) is allow
    assert fit(spec("deny", "command", **rule), asked, part, PLACE, DISK) is deny


@pytest.mark.parametrize(("cwd", "fits"), [(None, YES), ("/p", YES), ("sub", UNSURE), ("odd", NO)])
def test_a_program_by_a_relative_path_is_one_program_in_one_folder(cwd: str | None, fits: Fit):
    asked, part = command("./check", cwd=cwd)
    assert fit(spec("allow", "command", argv=("./check",), folder="/p"), asked, part, PLACE, DISK) is fits


# The web ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "asked", "allow", "deny"),
    [
        ({}, {"host": None}, YES, YES),
        ({}, {"host": None, "exact": False}, YES, YES),
        ({}, {"runs": True}, UNSURE, YES),
        ({"host": "a.example"}, {"host": "a.example"}, YES, YES),
        ({"host": "a.example"}, {"host": "a.example", "exact": False}, UNSURE, YES),
        ({"host": "a.example"}, {"host": "b.example"}, NO, NO),
        ({"host": "a.example"}, {"host": "b.example", "exact": False}, UNSURE, UNSURE),
        ({"host": "a.example"}, {"host": None}, UNSURE, UNSURE),
    ],
)
def test_a_host_fits_exactly(rule: dict[str, Any], asked: dict[str, Any], allow: Fit, deny: Fit):
    assert fit(spec("allow", "fetch", **rule), subject("fetch", **asked), None, PLACE, DISK) is allow
    assert fit(spec("deny", "fetch", **rule), subject("fetch", **asked), None, PLACE, DISK) is deny


# Files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "folder", "paths", "fits"),
    [
        (None, None, ("/p/a",), YES),
        (None, None, ("a",), YES),
        (None, None, ("a", "/etc/x"), NO),
        (None, None, ("link/x",), NO),
        (None, None, ("odd",), NO),
        (None, None, (".env",), NO),
        (None, None, ("x/.git/hooks",), NO),
        (None, "/", ("/usr/a",), YES),
        (None, "/", ("/proc/1/environ",), NO),
        (None, "/", ("/sys/x",), NO),
        (None, "/", ("/dev/sda",), NO),
        ("src/**", None, ("src/a",), YES),
        ("src/**", None, ("src/.a",), NO),
        ("src/**", None, ("a",), NO),
        ("src/**", "/p", ("src/a", "/p/src/b/c"), YES),
        ("src/**", "/", ("/p/src/a",), NO),  # relative to the rule's folder
        ("/etc/**", None, ("link/x",), YES),
        ("link/**", None, ("link/x",), NO),
        ("odd", None, ("odd",), NO),
    ],
)
def test_files_are_allowed_when_every_one_is_covered_where_it_leads(
    path: str | None, folder: str | None, paths: tuple[str, ...], fits: Fit
):
    for tool_class in ("read", "edit"):
        rule = spec("allow", tool_class, path=path, folder=folder)
        assert fit(rule, subject(tool_class, paths=paths), None, PLACE, DISK) is fits
        unread = subject(tool_class, paths=paths, exact=False)
        assert fit(rule, unread, None, PLACE, DISK) is UNSURE


def test_a_rule_in_a_work_tree_starts_at_the_tree():
    tree = structs.replace(PLACE, cwd="/trees/1", worktree_of="/p")
    rule = spec("allow", "edit", path="src/**", folder="/p")
    assert fit(rule, subject("edit", paths=("src/a",)), None, tree, DISK) is YES
    assert fit(rule, subject("edit", paths=("/p/src/a",)), None, tree, DISK) is NO
    whole = spec("allow", "edit", folder="/p")
    assert fit(whole, subject("edit", paths=("a",)), None, tree, DISK) is YES
    assert fit(whole, subject("edit", paths=("/p/a",)), None, tree, DISK) is NO


@pytest.mark.parametrize("answer", ["deny", "ask"])
@pytest.mark.parametrize(
    ("path", "paths", "exact", "fits"),
    [
        (None, ("anything",), True, YES),
        (None, (), False, YES),
        ("a", ("b", "a"), True, YES),
        ("**", (".env",), True, YES),
        ("/etc/**", ("link/x",), True, YES),  # by where it leads
        ("link/**", ("link/x",), True, YES),  # by its name
        ("a", ("sub/../a",), True, YES),
        ("a", ("b",), True, NO),
        ("a", ("b",), False, UNSURE),
        ("a", ("odd",), True, UNSURE),
        ("odd", ("odd",), True, YES),
    ],
)
def test_one_file_is_enough_to_deny_or_ask(
    answer: str, path: str | None, paths: tuple[str, ...], exact: bool, fits: Fit
):
    asked = subject("edit", paths=paths, exact=exact)
    assert fit(spec(answer, "edit", path=path), asked, None, PLACE, DISK) is fits


# Searches --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "folder", "searches", "fits"),
    [
        (None, "/p", ("*.py",), YES),
        (None, "/p", ("./*.py",), YES),
        (None, "/p", (), NO),  # all names: hidden ones too
        (None, "/p", ("*",), NO),
        (None, "/p", (".e*",), NO),
        (None, "/p", ("?env",), NO),
        (None, "/p", ("{a,b}",), NO),  # more than one reading: any name
        (None, "/p", ("[a]",), NO),
        (None, "/p", ("*.py,*.js",), NO),
        (None, "/p", ("src/*.py",), YES),
        (None, "/p", (".git/config",), NO),
        (None, "/p/huge", ("*.py",), NO),  # too many hidden files to say
        (None, "/etc", ("*.py",), NO),
        ("**", "/p", ("*.py",), YES),
        ("src/**", "src", ("*.py",), YES),
        ("src/*", "src", ("*.py",), NO),  # a search goes deeper
        ("src/*.py", "src", ("*.py",), NO),
        ("a.py", "a.py", ("*.py",), NO),
    ],
)
def test_a_search_is_allowed_when_it_meets_nothing_hidden(
    path: str | None, folder: str, searches: tuple[str, ...], fits: Fit
):
    asked = subject("read", paths=(folder,), searches=searches)
    assert fit(spec("allow", "read", path=path), asked, None, PLACE, DISK) is fits


@pytest.mark.parametrize(
    ("path", "folder", "searches", "fits"),
    [
        ("src/a.py", "/p", ("*.py",), UNSURE),
        ("src/a.py", "/p", (), UNSURE),
        ("src/a.py", "/p", ("*.js",), NO),
        ("src/a.py", "/p", ("lib/*.py",), NO),  # from the session's own folder, the whole pattern counts
        ("lib/src/a.py", "lib", ("src/*.js",), NO),
        ("lib/x/a.py", "lib", ("src/*.py",), UNSURE),  # elsewhere only its last name
        ("src/a.py", "/p", ("s**/a.py",), UNSURE),  # `**` beside letters is a plain star
        ("x/src/a.py", "/p", ("s**/a.py",), NO),
        ("/etc/passwd", "link", (), UNSURE),
        ("link/passwd", "link", (), UNSURE),
        ("src/a.py", "other", (), NO),
        ("src", "src", ("*.py",), YES),  # the folder itself
    ],
)
def test_a_search_that_may_meet_a_denied_file_is_unsure(
    path: str, folder: str, searches: tuple[str, ...], fits: Fit
):
    asked = subject("read", paths=(folder,), searches=searches)
    assert fit(spec("deny", "read", path=path), asked, None, PLACE, DISK) is fits


# Reading alone ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "plainly"),
    [
        (subject("read", paths=("a",)), True),
        (subject("read", paths=("a",), exact=False), False),
        (subject("read", paths=("/etc/x",)), False),
        (subject("read", paths=(".env",)), False),
        (subject("read", OUTSIDE, paths=("a",)), False),
        (subject("edit", paths=("a",)), False),
        (subject("fetch"), False),
        (LS, False),
    ],
)
def test_reading_plainly_is_reading_in_the_folder_and_nothing_hidden(asked: Subject, plainly: bool):
    assert reads_plainly(asked, PLACE, DISK) is plainly


def test_without_a_disk_nothing_is_read_plainly():
    assert not reads_plainly(subject("read", paths=("a",)), PLACE, UNSEEN)
