"""How a recorded ACP conversation is done again through our driver."""

from typing import Any

from tests.drivers.playing import Message, Play, messages_of

from bascule.drivers.acp.driver import AcpDriver
from bascule.drivers.base import DriverLaunch
from bascule.model.events import AnyEvent, PermissionAnswered, PermissionRequested, QuestionAnswered

OPENING = ("session/new", "session/load", "session/resume")
QUIRKS = {
    "zed_codex": ("reject_ends_turn",),
    "copilot": ("errors_as_text",),
    "codex_adapter": ("errors_as_text",),
}


def quirks_of(name: str) -> tuple[str, ...]:
    return next((quirks for agent, quirks in QUIRKS.items() if name.startswith(agent)), ())


class AcpHandling:
    """`opening` picks which of the recorded session requests is this driver's; the others are not its own."""

    def __init__(self, name: str, opening: str | None = None) -> None:
        self.recording = messages_of("acp", name)
        opened = [said for way, said in self.recording if way == "in" and said.get("method") in OPENING]
        self.said = next((one for one in opened if one["method"] == opening), None) or _that_worked(
            self.recording, opened
        )
        resume = self.said["params"].get("sessionId")
        self.launch = DriverLaunch(
            cwd=self.said["params"]["cwd"],
            run="r",
            resume=resume,
            history=self.said["method"] == "session/load",
            quirks=quirks_of(name),
        )

    def begin(self) -> AcpDriver:
        return AcpDriver(self.launch)

    def restore(self, state: bytes) -> AcpDriver:
        return AcpDriver.restore(state)

    def do(self, play: Play, said: Message) -> None:
        method, params = said.get("method"), said.get("params", {})
        driver = play.driver
        ours = params.get("sessionId") in (None, self._session(play))
        match method:
            case "initialize":
                (write,) = driver.start()
                (sent,) = play.wrote(write, said)
                assert (write.write_id, sent["id"]) == ("start:1", 0)
                assert sent["method"] == "initialize"
                assert set(sent["params"]) == set(params)
                assert sent["params"]["protocolVersion"] == 1
            case "session/new" | "session/load" | "session/resume" if said is self.said:
                sent = play.take_owed(method)
                play.ids[said["id"]] = sent["id"]
                assert sent == {**said, "id": sent["id"]}
            case "session/prompt" if ours:
                (sent,) = play.wrote(driver.prompt(play.next_prompt(params["prompt"][0]["text"])), said)
                assert sent == {**said, "id": sent["id"]}
            case "session/cancel" if ours:
                cancel, *answers = play.wrote(driver.interrupt("interrupt:1"))
                assert cancel == said
                play.written += answers
            case "session/set_mode" if ours:
                (sent,) = play.wrote(driver.set_mode("mode:1", params["modeId"]), said)
                assert sent == {**said, "id": sent["id"]}
            case "session/set_model" if ours:
                (sent,) = play.wrote(driver.set_model("model:1", params["modelId"]), said)
                assert sent == {**said, "id": sent["id"]}
            case "session/set_config_option" if ours and params["configId"] in ("mode", "model"):
                self._set_option(play, said)
            case None:
                self._answer(play, said)
            case _:
                play.drop(said)

    def _session(self, play: Play) -> str | None:
        import json

        return json.loads(play.driver.state()).get("facts", {}).get("session_id")

    def _set_option(self, play: Play, said: Message) -> None:
        """The driver uses the option only where the agent has no method for it."""
        value = said["params"]["value"]
        set_it = play.driver.set_mode if said["params"]["configId"] == "mode" else play.driver.set_model
        (sent,) = play.wrote(set_it("set:1", value), said)
        if sent["method"] == "session/set_config_option":
            assert sent == {**said, "id": sent["id"]}

    def _answer(self, play: Play, said: Message) -> None:
        if said in play.written:
            play.written.remove(said)  # went out together with the cancelling
            return
        result = said.get("result", {})
        if "outcome" in result:
            asked = play.open_request(said["id"])
            assert isinstance(asked, PermissionRequested)
            write = play.driver.answer_permission(asked, decision_by_kind(asked, result["outcome"]))
            assert play.wrote(write) == [said]
            assert write.write_id == f"answer:{asked.request_id}"
        elif "action" in result:
            self._fill_form(play, said)
        # the rest are files, which the recorder served and the driver refuses

    def _fill_form(self, play: Play, said: Message) -> None:
        asked = play.open_request(said["id"])
        assert not isinstance(asked, PermissionRequested)
        answers = {"Which colour should the button be?": "Blue"}
        (sent,) = play.wrote(
            play.driver.answer_question(asked, QuestionAnswered(asked.request_id, "ana", answers))
        )
        given = {key: value for key, value in said["result"]["content"].items() if value != []}
        assert sent["result"] == {"action": "accept", "content": given}


def decision_by_kind(asked: PermissionRequested, outcome: dict[str, Any]) -> PermissionAnswered:
    """Only allow or deny, without naming the option: the driver finds it by its kind."""
    kinds = {one.option_id: one.kind for one in asked.options}
    decision = "deny" if kinds[outcome["optionId"]] == "deny" else "allow"
    return PermissionAnswered(asked.request_id, decision, "ana")


def _that_worked(recording: list[tuple[str, Message]], opened: list[Message]) -> Message:
    """A conversation may begin with a refused or a second opening; the last one is where it goes on."""
    assert recording
    return opened[-1]


def events_of(name: str, opening: str | None = None) -> list[AnyEvent]:
    handling = AcpHandling(name, opening)
    return Play(handling, handling.recording).run()
