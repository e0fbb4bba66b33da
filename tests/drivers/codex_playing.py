"""How a recorded conversation with `codex app-server` is done again through our driver."""

from tests.drivers.playing import Message, Play, messages_of

from bascule.drivers.base import DriverLaunch
from bascule.drivers.codex import CodexDriver
from bascule.drivers.codex.encode import MODES
from bascule.model.events import AnyEvent, PermissionAnswered, PermissionRequested


class CodexHandling:
    def __init__(self, name: str) -> None:
        self.recording = messages_of("codex", name)
        opened = next(
            said for way, said in self.recording if way == "in" and "thread/" in said.get("method", "")
        )
        params = opened["params"]
        modes = {policy: mode for mode, (policy, sandbox) in MODES.items() if sandbox == "workspace-write"}
        self.launch = DriverLaunch(
            cwd=params.get("cwd", ""),
            run="r",
            resume=params.get("threadId"),
            history=True,
            mode=modes.get(params.get("approvalPolicy")),
        )

    def begin(self) -> CodexDriver:
        return CodexDriver(self.launch)

    def restore(self, state: bytes) -> CodexDriver:
        return CodexDriver.restore(state)

    def do(self, play: Play, said: Message) -> None:
        driver, params = play.driver, said.get("params", {})
        match said.get("method"):
            case "initialize":
                (write,) = driver.start()
                (sent,) = play.wrote(write, said)
                assert (write.write_id, sent["id"], sent["method"]) == ("start:1", 0, "initialize")
                assert "jsonrpc" not in sent
            case "initialized":
                pass  # goes out together with the next one
            case "thread/start" | "thread/resume" as method:
                sent = play.take_owed(method)
                play.ids[said["id"]] = sent["id"]
                # What it may write is said with the first turn: said here, Codex trusts the folder.
                assert {**params, "sandbox": "read-only"}.items() <= sent["params"].items()
            case "turn/start":
                (sent,) = play.wrote(driver.prompt(play.next_prompt(params["input"][0]["text"])), said)
                assert params.items() <= sent["params"].items()
                assert sent["method"] == "turn/start"
            case "turn/interrupt":
                (sent,) = play.wrote(driver.interrupt("interrupt:1"), said)
                assert sent == {**said, "id": sent["id"]}
            case "model/list":
                sent = play.take_owed("model/list")
                play.ids[said["id"]] = sent["id"]
            case "thread/list" if "cursor" not in params:
                assert isinstance(driver, CodexDriver)
                (sent,) = play.wrote(driver.list_conversations("list:1"), said)
                assert params.items() <= {**sent["params"], "limit": params["limit"]}.items()
            case None:
                self._answer(play, said)
            case _:
                play.drop(said)

    def _answer(self, play: Play, said: Message) -> None:
        asked = play.open_request(said["id"])
        assert isinstance(asked, PermissionRequested)
        decision = said["result"]["decision"]
        option = "amendment" if isinstance(decision, dict) else decision
        kind = next(one.kind for one in asked.options if one.option_id == option)
        word = "deny" if kind == "deny" else "allow"
        # The plain yes and no need not be named.
        chosen = None if option in ("accept", "decline") else option
        answered = PermissionAnswered(asked.request_id, word, "ana", option=chosen)
        (sent,) = play.wrote(play.driver.answer_permission(asked, answered))
        if option == "amendment":  # the recorder shortened the rule; ours goes back as it was offered
            offered = {"execpolicy_amendment": ["touch", "u5.txt"]}
            assert sent["result"]["decision"] == {"acceptWithExecpolicyAmendment": offered}
        else:
            assert sent == said


def events_of(name: str) -> list[AnyEvent]:
    handling = CodexHandling(name)
    return Play(handling, handling.recording).run()
