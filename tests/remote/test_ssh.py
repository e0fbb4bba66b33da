"""Scripts and their data over ssh, and what the other machine says of itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.remote.far_machine import FarMachine

from bascule.model.errors import InvalidInput
from bascule.remote.far_side import Far, here, path_in
from bascule.remote.ssh import RemoteFailed, Ssh, destination

pytestmark = pytest.mark.anyio


@pytest.fixture
def far(short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FarMachine]:
    made = FarMachine(short_dir)
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    yield made
    made.end()


async def test_a_script_arrives_whole_and_its_data_follow_on_stdin(far: FarMachine) -> None:
    script = "printf '%s|' 'it'\"'\"'s' \"$HOME\" '\\n' \"a  b\"\ncat"
    async with Ssh("ana@far") as ssh:
        ran = await ssh.run(script, b"data\x00with 'quotes' and\nlines")
    assert ran.out == f"it's|{far.home}|\\n|a  b|data\x00with 'quotes' and\nlines"
    assert all("quotes" not in call and "printf" not in call for call in far.calls)


async def test_a_machine_that_cannot_be_reached_is_named_with_the_words_of_ssh(far: FarMachine) -> None:
    (far.folder / "broken").touch()
    async with Ssh("ana@far") as ssh:
        with pytest.raises(RemoteFailed, match=r"ssh ana@far failed: .*Connection refused"):
            await ssh.run("true")


@pytest.mark.parametrize("text", ["-oProxyCommand=evil", "a b", "", "$(x)", "a;b", "\n"])
def test_what_ssh_could_misunderstand_is_no_machine(text: str) -> None:
    with pytest.raises(InvalidInput):
        destination(text)


async def test_the_path_is_the_login_shells_whatever_else_it_prints(far: FarMachine) -> None:
    (far.home / ".profile").write_text('echo welcome\nPATH="$HOME/tools:$PATH"\necho "news: PATH=/evil"\n')
    async with Ssh("far") as ssh:
        machine = Far(ssh)
        path = await machine.user_path()
        assert path.split(":")[0] == f"{far.home}/tools"
        found = await machine.look()
    assert found.same_kind(here())
    assert (found.installed, found.state) == (False, False)


def test_a_shell_that_says_nothing_between_the_marks_has_no_path() -> None:
    assert path_in("") == ""
    assert path_in("hello\nBASCULE-MARK\n") == ""
    assert path_in("hello\nBASCULE-MARK\n/a:/b\nBASCULE-MARK\nbye\n") == "/a:/b"


async def test_without_a_python_that_is_new_enough_it_says_where_it_looked(far: FarMachine) -> None:
    (far.home / ".profile").write_text('mkdir -p "$HOME/bin"; PATH="$HOME/bin"\n')
    (far.home / "bin").mkdir()
    for name in ("printenv", "sh"):
        (far.home / "bin" / name).symlink_to(f"/usr/bin/{name}")
    async with Ssh("far") as ssh:
        machine = Far(ssh)
        await machine.user_path()
        with pytest.raises(RemoteFailed, match=f"no Python 3.11 .*Searched: {far.home}/bin"):
            await machine.look()
