"""Starting: exactly what was asked, once per spawn_id, and a failure leaves nothing behind."""

import asyncio
import json
import os
import sys

import pytest

from bascule.transport.errors import KeeperError

FACTS = (
    "import json, os, signal\n"
    "fds = [int(n) for n in os.listdir('/proc/self/fd')]\n"
    "fds = [n for n in fds if n > 2 and os.path.exists(f'/proc/self/fd/{n}')]\n"
    "print(json.dumps({'env': dict(os.environ), 'fds': fds, 'cwd': os.getcwd(), 'sid': os.getsid(0),\n"
    "  'pgid': os.getpgid(0), 'pid': os.getpid(), 'umask': os.umask(0),\n"
    "  'blocked': [int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])],\n"
    "  'ignored': [l for l in open('/proc/self/status') if l.startswith('SigIgn')]}))"
)


async def refused(client, argv, cwd="/", **options):
    with pytest.raises(KeeperError) as refusal:
        await client.keeper.spawn("bad", argv, {"PATH": "/usr/bin:/bin"}, cwd, spawn_id="x", **options)
    assert await client.keeper.list() == []
    assert os.listdir(client.folder / "spool") == []
    return refusal.value.code


@pytest.mark.row("S34")
async def test_the_child_has_exactly_the_environment_given_and_no_descriptor_above_two(world):
    canaries = {"AWS_SECRET": "canary", "LD_PRELOAD": "", "PYTHONPATH": "/nowhere", "BASCULE_TOKEN": "canary"}
    await world.start(env={**os.environ, **canaries})
    client = await world.client()
    await client.spawn("other", "import sys; sys.stdin.read()")
    await client.spawn("a", FACTS, env={"ONLY": "this"}, cwd="/tmp")
    await client.exit_of("a")
    facts = json.loads(client.read("a"))
    marks = {name: facts["env"].pop(name) for name in ("BASCULE_SESSION", "BASCULE_KEEPER")}
    # Python itself adds LC_CTYPE when it coerces the C locale; it is not in what was handed over.
    facts["env"].pop("LC_CTYPE", None)
    assert facts["env"] == {"ONLY": "this"}
    assert marks["BASCULE_SESSION"] == "a"
    assert facts["fds"] == []
    assert facts["cwd"] == "/tmp"
    assert facts["sid"] == facts["pgid"] == facts["pid"]


async def test_the_child_gets_back_the_signals_and_umask_the_keeper_was_started_with(world):
    await world.start(preexec_fn=lambda: os.umask(0o027))
    client = await world.client()
    # Not through a shell, which may change masks of its own for a moment.
    raw = ["/bin/grep", "-E", "SigIgn|SigBlk|Umask", "/proc/self/status"]
    await client.keeper.spawn("a", raw, {}, "/", spawn_id="x")
    await client.exit_of("a")
    facts = dict(line.split(":\t") for line in client.read("a").decode().splitlines())
    # 32 and 33 belong to the C library; nobody can set them, and they come down from whoever began it all.
    masks = {name: int(facts[name], 16) & ~(0b11 << 31) for name in ("SigBlk", "SigIgn")}
    assert (facts["Umask"], masks) == ("0027", {"SigBlk": 0, "SigIgn": 0})
    await client.keeper.spawn("b", ["/bin/sh", "-c", "umask"], {}, "/", spawn_id="x", umask=0o077)
    await client.exit_of("b")
    assert client.read("b") == b"0077\n"


async def test_a_program_is_found_on_the_path_handed_over_but_never_in_the_working_folder(client, tmp_path):
    trap = tmp_path / "tool"
    trap.write_text("#!/bin/sh\necho trapped\n")
    trap.chmod(0o755)
    with pytest.raises(KeeperError) as refusal:
        await client.keeper.spawn("a", ["tool"], {"PATH": ":.:/bin"}, str(tmp_path), spawn_id="x")
    assert refusal.value.code == "ENOENT"
    await client.keeper.spawn("a", ["tool"], {"PATH": str(tmp_path)}, "/", spawn_id="x")
    await client.exit_of("a")
    assert client.read("a") == b"trapped\n"


async def test_the_same_spawn_asked_twice_starts_one_program_and_answers_the_same(world, client):
    first = await client.spawn("a", "import sys; sys.stdin.read()")
    second = await (await world.client()).spawn("a", "import sys; sys.stdin.read()")
    assert first == second
    assert len(await client.keeper.list()) == 1
    with pytest.raises(KeeperError) as refusal:
        await client.spawn("a", "pass", spawn_id="another")
    assert refusal.value.code == "exists"


async def test_the_answer_identifies_the_process(client, alive):
    spawned = await client.spawn("a", "import sys; sys.stdin.read()")
    assert alive(spawned)
    await client.keeper.close_stdin("a")
    await client.exit_of("a")
    assert not alive(spawned)


async def test_a_missing_program_is_told_as_enoent(client):
    assert await refused(client, ["/no/such/program"]) == "ENOENT"
    assert await refused(client, ["no-such-program-anywhere"]) == "ENOENT"


async def test_a_program_that_may_not_be_run_is_told_as_eacces(client, tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    plain.chmod(0o644)
    assert await refused(client, [str(plain)]) == "EACCES"


async def test_a_file_that_is_no_program_is_told_as_enoexec(client, tmp_path):
    junk = tmp_path / "junk"
    junk.write_bytes(b"\x00\x01\x02")
    junk.chmod(0o755)
    assert await refused(client, [str(junk)]) == "ENOEXEC"


async def test_a_missing_working_folder_is_told(client, tmp_path):
    assert await refused(client, ["/bin/true"], cwd=str(tmp_path / "gone")) == "bad_cwd"
    (tmp_path / "file").touch()
    assert await refused(client, ["/bin/true"], cwd=str(tmp_path / "file")) == "bad_cwd"


async def test_a_working_folder_swapped_after_the_check_is_refused(client, tmp_path):
    good, evil, link = tmp_path / "good", tmp_path / "evil", tmp_path / "link"
    good.mkdir()
    evil.mkdir()
    link.symlink_to(good)
    facts = os.stat(link)
    checked = (facts.st_dev, facts.st_ino)
    await client.spawn("a", "import os; print(os.getcwd())", cwd=str(link), cwd_stat=checked)
    await client.exit_of("a")
    assert client.read("a").decode().strip() == os.path.realpath(good)
    await client.keeper.forget("a")
    link.unlink()
    link.symlink_to(evil)
    assert await refused(client, ["/bin/true"], cwd=str(link), cwd_stat=checked) == "cwd_changed"


@pytest.mark.parametrize(
    "change",
    [
        {"session": "../up"},
        {"session": ".hidden"},
        {"session": "a/b"},
        {"session": ""},
        {"argv": []},
        {"argv": ["a\0b"]},
        {"argv": "sh -c"},
        {"argv": ["\ud800"]},
        {"env": {"A=B": "c"}},
        {"env": {"": "c"}},
        {"env": {"A": 1}},
        {"cwd": None},
        {"pty": {"cols": "wide", "rows": 1}},
        {"pty": []},
        {"spool_cap": -1},
        {"cwd_stat": [1]},
    ],
)
async def test_a_request_with_a_wrong_field_is_refused_and_starts_nothing(client, change):
    message = {"op": "spawn", "session": "a", "argv": [sys.executable], "env": {}, "cwd": "/", **change}
    with pytest.raises(KeeperError) as refusal:
        await client.keeper._protocol.request(message)
    assert refusal.value.code == "bad_request"
    assert await client.keeper.list() == []


async def test_what_was_started_and_its_label_are_told_again_also_by_the_next_keeper(world):
    process = await world.start()
    client = await world.client()
    await client.spawn("a", "import sys; print('hi'); sys.stdin.read()", "word", label="mine")
    about = await client.keeper.about("a")
    assert (about.argv[-1], about.cwd, about.label) == ("word", "/", "mine")
    assert about.at > 0
    await client.keeper.label("a", "another")
    assert (await client.keeper.about("a")).label == "another"
    process.kill()
    await asyncio.to_thread(process.wait)
    await world.start()
    client = await world.client()
    later = await client.keeper.about("a")
    assert (later.argv, later.label, later.at) == (about.argv, "another", about.at)


async def test_a_write_that_reached_the_agent_is_known(world):
    await world.start()
    client = await world.client()
    await client.spawn("a", "import sys; print(sys.stdin.readline())")
    assert not await client.keeper.has_written("a", "w1")
    await client.keeper.write("a", "w1", b"hello\n")
    assert await client.keeper.has_written("a", "w1")
