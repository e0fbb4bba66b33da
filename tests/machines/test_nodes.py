"""Several hub nodes on one PostgreSQL, and machines that joined: real processes, killed and restarted."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.chaos.viewers import said
from tests.daemon.repositories import git
from tests.machines.balancer import BySocket, ByStream, balanced
from tests.machines.cluster import (
    Cluster,
    Watcher,
    grown,
    newer_node,
    problem,
    start,
    until_reply,
)
from tests.machines.machines import equal_logs
from tests.terminal.test_terminal_viewers import ASKER, ask
from tests.terminal.viewing import Viewer, terminal, viewing
from tests.waiting import PATIENCE, within

from bascule.hub.nodes.envelope import enclose
from bascule.link.frames import PROTOCOL, Welcome
from bascule.link.ladder import MAX_SECONDS
from bascule.link.line import Line
from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio

MOVED_SECONDS = 1.0  # from the end of a machine's node until its next rows are at a page of another one


@pytest.mark.row("X11")
async def test_a_browser_at_one_node_drives_a_session_of_a_machine_at_another(cluster: Cluster) -> None:
    a, b, _ = cluster.nodes
    await cluster.joined_anew(0, b)
    await cluster.joined_anew(1, a)
    for node, machine, home in ((a, cluster.laptop, b), (b, cluster.desk, a)):
        assert await cluster.attached_to(machine) == home.url
        session = await start(node, machine, "count 5")
        ended = await node.wait_for(session, TurnEnded)
        await node.send(session, "count 3")
        await node.wait_for(session, TurnEnded, ended.seq)
        for other in cluster.nodes:
            await equal_logs(other, machine, session)
        assert await cluster.attached_to(machine) == home.url


@pytest.mark.row("X11")
async def test_nothing_is_lost_or_doubled_when_nodes_the_database_and_its_notifications_go(
    cluster: Cluster,
) -> None:
    a, b, c = cluster.nodes
    laptop, line = cluster.laptop, cluster.lines[0]
    ledger = laptop.folder / "counted"  # the agent's own
    await cluster.joined_anew(0, b)
    session = await start(a, laptop, "go", agent="counts")
    watcher = Watcher(session, [a, c])
    try:
        await watcher.beyond(5)
        await a.kill()  # the page's node
        with within(1.0):
            await watcher.beyond(watcher.last + 1)
        line.target = c.url  # the balancer has another one
        with within(MOVED_SECONDS):
            await b.kill()  # the machine's node
            await watcher.beyond(await grown(laptop, session, watcher.last))
        await a.start()
        connected = watcher.connected
        await asyncio.to_thread(cluster.postgres.stop)
        try:
            head = await grown(laptop, session, watcher.last)
            assert await grown(laptop, session, head) > head  # its agent goes on
            await problem(c, "database can't be reached")
        finally:
            await asyncio.to_thread(cluster.postgres.start)
        with within(1.0):
            await watcher.beyond(watcher.last)
        await watcher.beyond(await grown(laptop, session, watcher.last))
        assert watcher.connected == connected  # its page stayed open
        assert [one["storageProblem"] for one in (await c.devices()).values()] == [None, None]
        await cluster.moved(0, a)  # so that rows come to c by notifications again
        await watcher.beyond(watcher.last + 1)
        await cluster.end_listening()
        with within(1.0):
            await watcher.beyond(watcher.last + 3)
        ledger.with_name("counted.stop").touch()
        await c.wait_for(session, TurnEnded)
        counted = [int(line) for line in ledger.read_text().split()]
        for node in (a, c):
            rows = await equal_logs(node, laptop, session)
            assert [int(word) for word in said(await node.log(session)).split()] == counted
        await watcher.beyond(len(rows) - 1)
        assert counted == list(range(1, len(counted) + 1))
    finally:
        await watcher.close()


@pytest.mark.row("X11")
async def test_three_viewers_of_one_terminal_at_three_nodes_have_one_size_and_miss_nothing_when_one_dies(
    cluster: Cluster,
) -> None:
    a, b, c = cluster.nodes
    await cluster.moved(0, b)
    session = await terminal(a, cwd=str(cluster.laptop.work), device="d-laptop")
    async with viewing(a, session) as one, viewing(b, session) as two, viewing(c, session) as three:
        for viewer, size in ((one, (120, 50)), (two, (100, 40)), (three, (90, 45))):
            await viewer.line.resize(*size)
        for viewer in (one, two, three):
            await viewer.until(lambda seen: (seen.said[-1].cols, seen.said[-1].rows) == (90, 40))
        await three.type("stty size; echo fr''om three\r")
        for viewer in (one, two, three):
            await viewer.shows(b"40 90")
            await viewer.shows(b"from three")
        await a.kill()
        await one.over()
        begun = await one.hears("begin")
        async with viewing(b, session, after=one.next, run=begun.run, epoch=begun.epoch) as again:
            await again.type("echo fr''om again\r")
            for viewer in (again, two, three):
                await viewer.shows(b"from again")
            assert again.first == one.next
            seen, first = bytes(one.data + again.data), max(one.first or 0, three.first or 0)
            ends = min(again.next, three.next)
            assert seen[first - (one.first or 0) :][: ends - first] == bytes(
                three.data[first - (three.first or 0) :][: ends - first]
            )


@pytest.mark.row("X11")
async def test_files_of_a_machine_at_one_node_are_listed_read_and_compared_at_another(
    cluster: Cluster,
) -> None:
    a, b, _ = cluster.nodes
    await cluster.joined_anew(0, b)
    tree = cluster.laptop.work / "tree"
    (tree / "inner").mkdir(parents=True)
    (tree / "notes.txt").write_text("one\n")
    for words in (("init", "-q", "-b", "trunk"), ("add", "."), ("commit", "-qm", "first")):
        await asyncio.to_thread(git, tree, *words)
    (tree / "notes.txt").write_text("two\n")
    session = await a.create("count 1", cwd=str(tree), device="d-laptop")
    await a.wait_for(session, TurnEnded)
    asked = f"/api/sessions/{session}"
    folders = (
        await a.http.get("/api/directories", params={"prefix": f"{tree}/", "device": "d-laptop"})
    ).json()
    listed = (await a.http.get(f"{asked}/files")).json()
    read = (await a.http.get(f"{asked}/files/content", params={"path": "notes.txt"})).json()
    changes = (await a.http.get(f"{asked}/changes")).json()
    assert str(tree / "inner") in json.dumps(folders)
    assert {("inner", "folder"), ("notes.txt", "file")} <= {
        (one["name"], one["kind"]) for one in listed["items"]
    }
    assert read["text"] == "two\n"
    (changed,) = changes["files"]
    assert (changes["branch"], changed["path"], changed["status"]) == ("trunk", "notes.txt", "modified")
    assert "-one\n+two" in changed["patch"]
    assert await cluster.attached_to(cluster.laptop) == b.url


@pytest.mark.row("X11", "S54")
async def test_a_viewer_of_a_node_that_is_killed_goes_on_at_another_and_one_still_answers_each_query(
    cluster: Cluster,
) -> None:
    a, b, laptop = cluster.nodes[0], cluster.nodes[1], cluster.laptop
    (laptop.work / "asker.py").write_text(ASKER)
    session = await terminal(b, cwd=str(laptop.work), device="d-laptop")

    async def one_answer(number: int, *viewers: Viewer) -> None:
        places = [len(viewer.data) for viewer in viewers]
        await viewers[0].type(ask(r"\033[c\033[6n", "XYZ"))
        for viewer, place, letter in zip(viewers, places, "XYZ", strict=True):
            await viewer.shows(b"\x1b[c\x1b[6n", after=place)
            await viewer.type(b"\x1b[?1;2c\x1b[5;7R")
            await viewer.type(letter)
        await viewers[0].shows(b"<>over", times=number)
        assert viewers[0].data.count(b"got=<1b5b3f313b32631b5b353b3752>") == number

    async with viewing(laptop, session) as near, viewing(b, session) as at_b:
        async with viewing(a, session) as at_a:
            await one_answer(1, near, at_a, at_b)
            place = at_a.next
            await a.kill()
        await near.type("echo bet''ween\r")
        await near.shows(b"between")
        async with viewing(b, session, after=place) as again:
            await again.shows(b"between")
            assert (again.first, near.first) == (place, 0)
            assert bytes(again.data) == bytes(near.data[place : place + len(again.data)])
            await one_answer(2, near, again, at_b)


# What a newer version may add: columns, books that nodes have in memory, words in wakes, other wakes.
NEWER = (
    "ALTER TABLE bascule.nodes ADD COLUMN region text NOT NULL DEFAULT 'north'",
    "ALTER TABLE bascule.attachments ADD COLUMN since timestamptz NOT NULL DEFAULT now()",
    "ALTER TABLE bascule.sessions ADD COLUMN colour text NOT NULL DEFAULT ''",
    "INSERT INTO bascule.book_changes (book, n) VALUES ('recipes', 7)",
    """SELECT pg_notify('bascule', '{"node":"newer","recipes":[1],"books":["recipes"],"everything":true}')""",
    """SELECT pg_notify('bascule', '["another kind of wake"]')""",
)


@pytest.mark.row("X11")
async def test_what_a_newer_node_says_and_writes_is_left_alone_and_the_rest_goes_on(cluster: Cluster) -> None:
    a, b, c = cluster.nodes
    await cluster.moved(0, b)
    await asyncio.to_thread(cluster.postgres.run, *NEWER, url=cluster.store)
    async with newer_node(cluster, b) as line:
        await line.send('{"type":"recipes","soup":1}')
        await line.send('{"type":"call","n":1,"what":"recipes","body":{}}')
        answer = json.loads(await asyncio.wait_for(line.recv(), PATIENCE))
        assert (answer["type"], answer["n"]) == ("answer", 1)
        assert answer["refusal"] is not None
        # The machine there, by frames of a link: those it does not know are passed over, or refused.
        hub = Line("hub", deflated=False)
        hub.send(Welcome(PROTOCOL, "", "", "x", 1, 0.0, 0))
        unknown = '{"type":"ask","ask":9,"command":{"type":"dance"},"by":{"name":"ana"}}'
        for message in (*hub.take(1 << 20), '{"type":"dance"}', unknown):
            await line.send(enclose("d-laptop", message))
        refused = await until_reply(line, hub, 9)
        assert refused.refusal is not None
        assert refused.refusal.code == "NOT_SUPPORTED"
    session = await start(a, cluster.laptop, "count 3")
    await c.wait_for(session, TurnEnded)
    for node in cluster.nodes:
        await equal_logs(node, cluster.laptop, session)
        assert "Traceback" not in node.stderr()


@pytest.mark.row("X11")
async def test_the_proxy_of_the_example_carries_sockets_and_streams_past_nodes_that_die(
    cluster: Cluster, module_dir: Path
) -> None:
    a, b, c = cluster.nodes
    await cluster.moved(0, b)
    session = await start(a, cluster.laptop, "slow 100000")
    async with balanced(module_dir / "proxy", cluster.proxy_port, [a, c]) as url:
        async with BySocket(url, a.token).client() as http:
            assert "<html" in (await http.get("/")).text
            assert (await http.get("/api/sessions")).status_code == 200
            assert (await http.get("/ws/node")).status_code == 404
        socket = Watcher(session, [BySocket(url, a.token)])
        stream = Watcher(session, [ByStream(url, a.token)])
        try:
            for node in (a, c):
                for watcher in (socket, stream):
                    await watcher.beyond(watcher.last)
                await node.kill()
                for watcher in (socket, stream):
                    await watcher.beyond(watcher.last + 1)
                await node.start()
                await cluster.online(node)
            # Each of them had one of the nodes that died.
            assert min(socket.connected, stream.connected) >= 2
            assert (await a.http.delete(f"/api/sessions/{session}")).status_code == 200
            head = len(await equal_logs(a, cluster.laptop, session))
            for watcher in (socket, stream):
                await watcher.beyond(head - 1)
        finally:
            await socket.close()
            await stream.close()


@pytest.mark.row("X11")
async def test_a_node_that_is_stopped_leaves_its_machines_to_the_others(cluster: Cluster) -> None:
    a, b, _ = cluster.nodes
    count = "SELECT count(*)::int FROM bascule.nodes"
    ((before,),) = (await asyncio.to_thread(cluster.postgres.run, count, url=cluster.store))[0]
    cluster.lines[0].target = a.url
    epoch = await cluster.epoch("d-laptop")
    await b.stop()  # the balancer leads to another one
    # Its lines were cut by the tests before: it may stand on the ladder's last step.
    with within(MAX_SECONDS + 3.0):
        await cluster.is_newer("d-laptop", epoch)
        session = await start(a, cluster.laptop, "count 1")
    await a.wait_for(session, TurnEnded)
    ((after,),) = (await asyncio.to_thread(cluster.postgres.run, count, url=cluster.store))[0]
    assert after == before - 1
