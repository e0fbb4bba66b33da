"""Which terminal is opened and how: the rules, the argument lists, the desktop's variables."""

import socket
from collections.abc import Mapping
from pathlib import Path

import pytest

from bascule.launch import macos
from bascule.launch.choosing import choose, find_program
from bascule.launch.desktop_session import session_environment
from bascule.launch.errors import LaunchError
from bascule.launch.terminals import KNOWN, terminal_argv, terminal_name

ARGV = ["/usr/bin/python3", "-I", "-m", "bascule.launch.launcher", "/run/plan"]


class Machine:
    """Programs on a PATH of their own, and what they answer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: dict[str, str] = {}
        self.asked: list[list[str]] = []
        self.env = {"PATH": str(folder / "bin"), "HOME": str(folder), "XDG_CONFIG_DIRS": str(folder / "etc")}
        self.env["XDG_DATA_DIRS"] = str(folder / "share")
        (folder / "bin").mkdir()

    def install(self, *names: str) -> None:
        for name in names:
            (self.folder / "bin" / name).write_text("#!/bin/sh\n")
            (self.folder / "bin" / name).chmod(0o755)

    def ask(self, argv: list[str], env: Mapping[str, str]) -> str:
        self.asked.append(argv)
        return self.answers.get(Path(argv[0]).name, "")

    def chosen(self, setting: str = "", **env: str) -> tuple[str, str]:
        found = choose(setting, {**self.env, **env}, ask=self.ask)
        assert found.program.startswith("/")
        return found.name, found.rule


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.row("L5")
def test_rules_are_followed_in_their_order_and_named(machine: Machine) -> None:
    with pytest.raises(LaunchError, match="No compatible terminal found") as none:
        machine.chosen()
    assert none.value.error == "no_terminal_found"
    machine.install("xterm", "gsettings")
    assert machine.chosen() == ("xterm", "the first known terminal found")
    machine.install("konsole")
    assert machine.chosen() == ("konsole", "the first known terminal found")
    (machine.folder / "bin" / "x-terminal-emulator").symlink_to(machine.folder / "bin" / "xterm")
    assert machine.chosen() == ("xterm", "x-terminal-emulator")
    machine.install("alacritty")
    (machine.folder / ".config").mkdir()
    (machine.folder / ".config" / "kdeglobals").write_text("[General]\nTerminalApplication=alacritty\n")
    assert machine.chosen() == ("alacritty", "KDE's default terminal")
    machine.answers["gsettings"] = "'kitty'\n"
    assert machine.chosen(XDG_CURRENT_DESKTOP="ubuntu:GNOME") == ("alacritty", "KDE's default terminal")
    machine.install("kitty")
    assert machine.chosen(XDG_CURRENT_DESKTOP="ubuntu:GNOME") == ("kitty", "GNOME's default terminal")
    machine.install("xdg-terminal-exec")
    assert machine.chosen()[0] != "xdg-terminal-exec"
    (machine.folder / ".config" / "xdg-terminals.list").write_text("foot.desktop\n")
    assert machine.chosen() == ("xdg-terminal-exec", "xdg-terminals.list")
    assert machine.chosen(TERMINAL="xterm") == ("xterm", "$TERMINAL")
    assert machine.chosen("konsole", TERMINAL="xterm") == ("konsole", "the setting launch.terminal")


@pytest.mark.row("S23")
@pytest.mark.parametrize(
    "value", ["xterm; touch P", "nothing here", "./xterm", "bin/xterm", "../x", "'", "~/xterm"]
)
def test_a_terminal_that_is_no_program_is_refused_and_nothing_else_is_opened(
    machine: Machine, value: str
) -> None:
    machine.install("xterm", "konsole")
    with pytest.raises(LaunchError, match=r"\$TERMINAL") as refused:
        machine.chosen(TERMINAL=value)
    assert refused.value.error == "no_terminal_found"
    assert str(machine.folder) not in refused.value.message


@pytest.mark.row("S23")
def test_a_terminal_is_cut_into_words_and_found_on_an_absolute_path(machine: Machine) -> None:
    machine.install("xterm")
    spaced = machine.folder / "with space"
    spaced.mkdir()
    (spaced / "xterm").write_text("#!/bin/sh\n")
    (spaced / "xterm").chmod(0o755)
    assert machine.chosen(TERMINAL=str(spaced / "xterm")) == ("xterm", "$TERMINAL")
    found = choose("", {**machine.env, "TERMINAL": "xterm -fa 'Deja Vu'"}, ask=machine.ask)
    assert (found.program, found.options) == (f"{machine.folder}/bin/xterm", ("-fa", "Deja Vu"))
    assert machine.chosen(TERMINAL="  ")[1] == "the first known terminal found"
    assert find_program("xterm", {"PATH": f":.:{machine.folder}/bin"}) == f"{machine.folder}/bin/xterm"
    assert find_program("xterm", {"PATH": ":."}) is None


@pytest.mark.row("L5")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gnome-terminal", ["--wait", "--"]),
        ("konsole", ["-e"]),
        ("xfce4-terminal", ["-x"]),
        ("xterm", ["-e"]),
        ("alacritty", ["-e"]),
        ("kitty", []),
        ("foot", []),
        ("wezterm", ["start", "--"]),
        ("ghostty", ["--gtk-single-instance=false", "-e"]),
        ("ptyxis", ["--new-window", "--"]),
        ("xdg-terminal-exec", []),
        ("some-other-terminal", ["-e"]),
    ],
)
def test_each_terminal_gets_an_argument_list(name: str, words: list[str]) -> None:
    assert terminal_argv(f"/usr/bin/{name}", ["-o"], ARGV) == [f"/usr/bin/{name}", "-o", *words, *ARGV]
    with pytest.raises(ValueError, match="single word"):
        terminal_argv(f"/usr/bin/{name}", [], ["sh"])


def test_an_alternative_is_called_by_what_it_stands_for(tmp_path: Path) -> None:
    for real, name in (("xfce4-terminal.wrapper", "xfce4-terminal"), ("kitty", "kitty")):
        link = tmp_path / real / "x-terminal-emulator"
        link.parent.mkdir()
        (link.parent / real).write_text("")
        link.symlink_to(link.parent / real)
        assert terminal_name(str(link)) == name
    assert terminal_argv(str(tmp_path / "kitty" / "x-terminal-emulator"), [], ARGV)[1:] == ARGV
    assert set(KNOWN) >= {"gnome-terminal", "konsole", "xfce4-terminal", "xterm", "alacritty", "kitty"}


@pytest.fixture
def runtime(short_dir: Path):  # type: ignore[no-untyped-def]
    """A runtime folder with a Wayland display, an X display :4, and nothing else."""
    (short_dir / "x").mkdir()
    sockets = [socket.socket(socket.AF_UNIX) for _ in range(2)]
    sockets[0].bind(str(short_dir / "wayland-7"))
    sockets[1].bind(str(short_dir / "x" / "X4"))
    yield short_dir
    for one in sockets:
        one.close()


def desktop(env: dict[str, str], runtime: Path, answer: str = "") -> dict[str, str]:
    return session_environment(env, ask=lambda argv, env: answer, x_sockets=str(runtime / "x"))


@pytest.mark.row("L5")
def test_our_own_display_is_used_while_it_lives(runtime: Path) -> None:
    own = {"DISPLAY": ":4", "XAUTHORITY": "/a", "BASCULE_TOKEN": "no", "TERM": "dumb", "LANG": "C"}
    env = desktop(own, runtime)
    assert (env["DISPLAY"], env["XAUTHORITY"], env["LANG"]) == (":4", "/a", "C")
    assert not {"BASCULE_TOKEN", "TERM"} & set(env)
    assert desktop({"DISPLAY": "far:0"}, runtime)["DISPLAY"] == "far:0"
    assert desktop({"WAYLAND_DISPLAY": "wayland-7", "XDG_RUNTIME_DIR": str(runtime)}, runtime)


@pytest.mark.row("L5")
def test_a_service_asks_the_session_manager_at_each_launch(runtime: Path) -> None:
    said = "DISPLAY=:4\nXAUTHORITY=$'/home/a b\\'c'\nLD_PRELOAD=/x\nXDG_CURRENT_DESKTOP=GNOME\nEMPTY=\n"
    service = {"PATH": "/usr/bin:/bin", "DISPLAY": ":9"}
    if find_program("systemctl", service) is None:
        (runtime / "systemctl").write_text("#!/bin/sh\n")
        (runtime / "systemctl").chmod(0o755)
        service["PATH"] = str(runtime)
    env = desktop(service, runtime, said)
    assert (env["DISPLAY"], env["XAUTHORITY"], env["XDG_CURRENT_DESKTOP"]) == (":4", "/home/a b'c", "GNOME")
    assert "LD_PRELOAD" not in env


@pytest.mark.row("L5")
def test_a_wayland_socket_is_found_without_any_variable_and_nothing_is_its_own_error(runtime: Path) -> None:
    assert desktop({"XDG_RUNTIME_DIR": str(runtime)}, runtime)["WAYLAND_DISPLAY"] == "wayland-7"
    for env in ({"XDG_RUNTIME_DIR": str(runtime / "x")}, {"DISPLAY": ":5", "XDG_RUNTIME_DIR": "/nowhere"}):
        with pytest.raises(LaunchError, match="No desktop session") as refused:
            desktop(env, runtime)
        assert (refused.value.error, refused.value.fields["reason"]) == (
            "no_terminal_found",
            "no_desktop_session",
        )


@pytest.mark.row("L5")
def test_macos_opens_terminal_by_a_file_and_iterm_by_arguments_of_its_script() -> None:
    opening = macos.opening("Terminal", ARGV, "/tmp/b/window-1.command")
    assert opening.argv == ["/usr/bin/open", "-a", "Terminal", "/tmp/b/window-1.command"]
    assert opening.command_file == f"#!/bin/sh\nexec {' '.join(ARGV)}\n"
    awkward = ["/py", "-I", "/Users/o'neil/$(x) y"]
    iterm = macos.opening("iTerm", awkward, "")
    assert iterm.argv == ["/usr/bin/osascript", "-", "/py -I '/Users/o'\"'\"'neil/$(x) y'"]
    assert "item 1 of argv" in iterm.stdin
    assert "neil" not in iterm.stdin
    kitty = macos.opening("kitty", ARGV, "")
    assert kitty.argv == ["/usr/bin/open", "-na", "kitty", "--args", *ARGV]
    assert macos.opening("WezTerm", ARGV, "").argv[4:6] == ["start", "--"]


@pytest.mark.row("L5", "S23")
def test_macos_chooses_by_setting_then_variable_then_where_it_was_started() -> None:
    def chosen(setting: str = "", **env: str) -> tuple[str, str]:
        found = macos.choose_application(setting, env)
        return found.name, found.rule

    assert chosen() == ("Terminal", "the terminal of macOS")
    assert chosen(TERM_PROGRAM="iTerm.app")[0] == "iTerm"
    assert chosen(TERMINAL="kitty", TERM_PROGRAM="iTerm.app") == ("kitty", "$TERMINAL")
    assert chosen("/Applications/iTerm.app", TERMINAL="kitty") == ("iTerm", "the setting launch.terminal")
    with pytest.raises(LaunchError, match="names no terminal"):
        chosen(TERMINAL="xterm; touch P")
