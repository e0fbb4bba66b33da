"""What an ACP agent asks for: permissions, calls of the host, and forms."""

import hashlib
import json
from typing import Any

import msgspec
import pytest
from tests.drivers.acp_lines import LAUNCH, OPTIONS, ask, line, opened, prompt, sent_by
from tests.drivers.playing import messages_of, names_in

from bascule.drivers.acp.driver import AcpDriver
from bascule.drivers.base import DriverLaunch
from bascule.model.codec import decode_event, encode
from bascule.model.errors import InvalidInput, RequestWithdrawn, UnknownOption
from bascule.model.events import (
    AnyEvent,
    ModeChanged,
    ModelChanged,
    Note,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    QuestionAnswered,
    QuestionAsked,
    TitleChanged,
    TurnEnded,
    Unrecognised,
)

# Asking ------------------------------------------------------------------------------------------------


def option_tables() -> list[tuple[str, list[dict[str, Any]]]]:
    """Every table of options any recorded agent has offered."""
    found: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    for name in names_in("acp"):
        for way, message in messages_of("acp", name):
            if way == "out" and message.get("method") == "session/request_permission":
                options = message["params"]["options"]
                found.setdefault(json.dumps(options), (name, options))
    return list(found.values())


@pytest.mark.parametrize(("name", "options"), option_tables())
@pytest.mark.parametrize("turned", [False, True])
def test_an_option_is_chosen_by_its_kind_never_by_its_place(
    name: str, options: list[dict[str, Any]], turned: bool
) -> None:
    kinds = {one["optionId"]: one["kind"] for one in options}
    for decision, kind in (("allow", "allow_once"), ("deny", "reject_once")):
        driver = opened()
        asked = ask(driver, options=options[::-1] if turned else options)
        stored = decode_event(encode(asked))
        assert isinstance(stored, PermissionRequested)
        write = driver.answer_permission(stored, PermissionAnswered(asked.request_id, decision, "ana"))  # type: ignore[arg-type]
        outcome = json.loads(write.data)["result"]["outcome"]
        assert kinds[outcome["optionId"]] == kind, name


def test_a_chosen_option_goes_back_as_it_is_called() -> None:
    driver = opened()
    asked = ask(driver)
    assert [(one.option_id, one.kind) for one in asked.options] == [
        ("a", "allow_always"),
        ("n", "deny"),
        ("y", "allow_once"),
    ]
    write = driver.answer_permission(asked, PermissionAnswered(asked.request_id, "allow", "ana", option="a"))
    assert json.loads(write.data) == {
        "jsonrpc": "2.0",
        "id": 0,
        "result": {"outcome": {"outcome": "selected", "optionId": "a"}},
    }


@pytest.mark.parametrize(("decision", "option"), [("allow", "n"), ("deny", "y"), ("allow", "made-up")])
def test_an_option_that_does_not_mean_the_decision_is_refused(decision: Any, option: str) -> None:
    driver = opened()
    asked = ask(driver)
    with pytest.raises(UnknownOption):
        driver.answer_permission(asked, PermissionAnswered(asked.request_id, decision, "ana", option=option))
    driver.answer_permission(asked, PermissionAnswered(asked.request_id, "deny", "ana"))  # it is still open


def test_where_no_refusal_is_offered_denying_cancels() -> None:
    driver = opened()
    odd = {"optionId": "?", "name": "Hm", "kind": "maybe"}
    asked = ask(driver, options=[{"optionId": "y", "name": "Yes", "kind": "allow_once"}, odd])
    assert [one.kind for one in asked.options] == ["allow_once", "deny"]
    write = driver.answer_permission(asked, PermissionAnswered(asked.request_id, "deny", "ana"))
    assert json.loads(write.data)["result"] == {"outcome": {"outcome": "cancelled"}}


def test_a_refusal_that_ends_the_turn_says_so() -> None:
    asked = ask(opened(DriverLaunch("/p", "r", quirks=("reject_ends_turn",))))
    assert next(one for one in asked.options if one.kind == "deny").scope.endswith("the turn ends")


def test_the_input_is_kept_byte_for_byte_and_ids_keep_their_kind() -> None:
    driver = opened()
    raw = b'{"command" : "caf\xc3\xa9",  "n":1.50}'
    call = b'{"toolCallId":"t1","kind":"execute","rawInput":' + raw + b"}"
    told = b'{"id":"uu-1","method":"session/request_permission","params":{"sessionId":"s1","toolCall":'
    events = driver.receive(told + call + b',"options":[]}}\n')
    asked = next(one for one in events if isinstance(one, PermissionRequested))
    assert bytes(asked.input) == raw
    assert asked.input_sha256 == hashlib.sha256(raw).hexdigest()
    write = driver.answer_permission(asked, PermissionAnswered(asked.request_id, "deny", "ana"))
    assert json.loads(write.data)["id"] == "uu-1"


def test_a_call_without_an_input_is_judged_by_its_description() -> None:
    asked = ask(opened(), content=[{"type": "content", "content": {"type": "text", "text": "in /tmp"}}])
    assert json.loads(bytes(asked.input))["title"] == "touch a"
    assert asked.note == "in /tmp"


def test_an_interrupt_answers_what_is_open_and_a_later_answer_is_too_late() -> None:
    driver = opened()
    driver.prompt(prompt())
    asked = ask(driver)
    cancel, answer = sent_by(driver.interrupt("interrupt:1"))
    assert cancel["method"] == "session/cancel"
    assert answer == {"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"outcome": "cancelled"}}}
    assert driver.settled() == [PermissionWithdrawn(asked.request_id, "interrupted")]
    with pytest.raises(RequestWithdrawn):
        driver.answer_permission(asked, PermissionAnswered(asked.request_id, "allow", "ana"))


def test_an_answered_request_is_not_answered_again_by_an_interrupt() -> None:
    driver = opened()
    driver.prompt(prompt())
    asked = ask(driver)
    driver.answer_permission(asked, PermissionAnswered(asked.request_id, "allow", "ana"))
    assert [one["method"] for one in sent_by(driver.interrupt("interrupt:1"))] == ["session/cancel"]


def test_a_turn_that_fails_because_it_was_stopped_is_interrupted() -> None:
    driver = opened()
    (sent,) = sent_by(driver.prompt(prompt()))
    driver.interrupt("interrupt:1")
    events = driver.receive(line(id=sent["id"], error={"code": -32603, "message": "aborted"}))
    assert events == [TurnEnded("interrupted")]


def test_a_repeated_request_stands_once_and_one_taken_back_is_withdrawn() -> None:
    driver = opened()
    asked = ask(driver)
    again = {"sessionId": "s1", "toolCall": {"toolCallId": "t1"}, "options": OPTIONS}
    (note,) = driver.receive(line(id=0, method="session/request_permission", params=again))
    assert isinstance(note, Note)
    gone = driver.receive(line(method="$/cancel_request", params={"requestId": 0}))
    assert gone == [PermissionWithdrawn(asked.request_id, "agent")]
    assert sent_by(*driver.data_to_send())[-1]["error"]["code"] == -32800


def test_unknown_requests_are_refused_and_kept() -> None:
    driver = opened()
    (kept,) = driver.receive(line(id=3, method="session/dance", params={"sessionId": "s1"}))
    assert isinstance(kept, Unrecognised)
    (reply,) = sent_by(*driver.data_to_send())
    assert (reply["id"], reply["error"]["code"]) == (3, -32601)
    (kept,) = driver.receive(line(method="_vendor/news", params={}))
    assert isinstance(kept, Unrecognised)
    assert kept.reason.startswith("extension notification")
    assert driver.receive(line(method="_auth/status_update", params={})) == []


def test_qwen_codes_own_news_of_mode_model_and_title_are_heard_and_its_other_news_is_passed_over() -> None:
    modes = [{"id": "default"}, {"id": "plan", "name": "Plan"}, {"name": "no id"}, {"id": 7}, "odd"]
    driver = opened(result={"modes": {"currentModeId": "default", "availableModes": modes}})
    assert driver.offered_modes == ("default", "plan")
    assert type(driver).restore(driver.state()).offered_modes == ("default", "plan")

    def news(name: str, **told: Any) -> list[AnyEvent]:
        params = {"v": 1, "sessionId": "s1", **told}
        return driver.receive(line(method=f"qwen/notify/session/{name}", params=params))

    assert news("mode-update", currentModeId="default") == []
    assert news("mode-update", currentModeId="plan") == [ModeChanged("plan")]
    assert news("model-update", currentModelId="qwen-max") == [ModelChanged("qwen-max")]
    assert news("title-update", title="Herons") == [TitleChanged("Herons")]
    assert news("prompt-suggestion", suggestion="And now?") == []
    (kept,) = news("recording-degraded", reason="write_failed")
    assert isinstance(kept, Unrecognised)
    # It asks what its own program could do; that we can't is answered, and is no news.
    assert driver.receive(line(id=7, method="craft/drainMidTurnQueue", params={"sessionId": "s1"})) == []
    assert sent_by(*driver.data_to_send())[-1]["error"]["code"] == -32601


@pytest.mark.parametrize("method", ["fs/read_text_file", "fs/write_text_file", "terminal/create"])
def test_what_no_host_serves_is_not_offered_and_politely_refused(method: str) -> None:
    driver = AcpDriver(LAUNCH)
    offered = json.loads(driver.start()[0].data)["params"]["clientCapabilities"]
    assert offered == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
        "elicitation": {"form": {}},
    }
    driver = opened()
    (note,) = driver.receive(line(id=1, method=method, params={"sessionId": "s1", "path": "/etc/passwd"}))
    assert isinstance(note, Note)
    (reply,) = sent_by(*driver.data_to_send())
    assert reply["error"]["code"] == -32601


def test_a_host_may_take_calls_and_answer_them_later() -> None:
    driver = opened(msgspec.structs.replace(LAUNCH, services=("read",)))
    asked = {"sessionId": "s1", "path": "/a"}
    assert driver.receive(line(id=1, method="fs/read_text_file", params=asked)) == []
    (call,) = driver.calls_due()
    assert (call.method, json.loads(bytes(call.params))) == ("fs/read_text_file", asked)
    restored = AcpDriver.restore(driver.state())
    assert restored.calls_due() == [call]
    (write,) = restored.answer_call(call.call_id, {"content": "hi"})
    assert json.loads(write.data) == {"jsonrpc": "2.0", "id": 1, "result": {"content": "hi"}}
    assert restored.calls_due() == []
    assert restored.answer_call(call.call_id, {}) == []


# Forms -------------------------------------------------------------------------------------------------


def form(driver: AcpDriver, **properties: Any) -> QuestionAsked:
    schema = {"type": "object", "properties": properties}
    params = {"sessionId": "s1", "mode": "form", "message": "Say.", "requestedSchema": schema}
    (asked,) = driver.receive(line(id=4, method="elicitation/create", params=params))
    assert isinstance(asked, QuestionAsked)
    return asked


MANY = {
    "type": "array",
    "description": "Which?",
    "items": {"anyOf": [{"const": "l", "title": "Lint, fast"}, {"const": "u", "title": "Unit"}]},
}


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        ("Lint, fast, Unit", {"q": ["l", "u"]}),
        ("Unit", {"q": ["u"]}),
        ("Unit, my own", {"q": ["u"], "q_custom": "my own"}),
    ],
)
def test_several_choices_and_free_words_fill_their_fields(answer: str, content: dict[str, Any]) -> None:
    driver = opened()
    asked = form(driver, q=MANY, q_custom={"type": "string", "title": "Other"})
    assert len(asked.questions) == 1
    write = driver.answer_question(asked, QuestionAnswered(asked.request_id, "ana", {"Which?": answer}))
    assert json.loads(write.data)["result"] == {"action": "accept", "content": content}


def test_a_form_is_declined_with_a_message_and_refuses_what_was_not_asked() -> None:
    driver = opened()
    asked = form(driver, a={"type": "integer", "title": "Same"}, b={"type": "boolean", "title": "Same"})
    assert [one.question for one in asked.questions] == ["Same", "Same (b)"]
    with pytest.raises(InvalidInput):
        driver.answer_question(asked, QuestionAnswered(asked.request_id, "ana", {"Other": "1"}))
    with pytest.raises(InvalidInput):
        driver.answer_question(asked, QuestionAnswered(asked.request_id, "ana", {"Same": "many"}))
    write = driver.answer_question(asked, QuestionAnswered(asked.request_id, "ana", message="no"))
    assert json.loads(write.data)["result"] == {"action": "decline"}


def test_a_form_for_another_window_is_declined_and_told() -> None:
    driver = opened()
    params = {"sessionId": "s1", "mode": "url", "url": "https://example.test", "message": "Log in"}
    (note,) = driver.receive(line(id=4, method="elicitation/create", params=params))
    assert isinstance(note, Note)
    assert "https://example.test" in note.text
    assert sent_by(*driver.data_to_send())[0]["result"] == {"action": "decline"}
