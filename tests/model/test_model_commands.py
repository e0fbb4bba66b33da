"""Commands of the model: the answer each declares, and the envelope around it."""

import pytest
from msgspec import json

from bascule.model.commands import (
    Command,
    Done,
    EndSession,
    PromptPlaced,
    SendPrompt,
    SentImage,
    SessionBegun,
    SessionCommand,
    StartSession,
    answer_type,
)
from bascule.model.events import Image


@pytest.mark.parametrize(
    ("command", "answer"),
    [(StartSession, SessionBegun), (SendPrompt, PromptPlaced), (EndSession, Done)],
)
def test_the_answer_of_a_command_is_the_one_its_class_declares(command: type, answer: type):
    assert answer_type(command) is answer


class Inherited(SendPrompt, frozen=True, kw_only=True):
    pass


class Undeclared(Command, frozen=True):  # pyright: ignore[reportMissingTypeArgument]
    pass


def test_a_subclass_has_the_answer_of_its_base():
    assert answer_type(Inherited) is PromptPlaced


@pytest.mark.parametrize("command", [Undeclared, SessionCommand])
def test_a_command_without_an_answer_is_a_mistake(command: type):
    with pytest.raises(TypeError, match=f"{command.__name__} does not declare its answer"):
        answer_type(command)


def test_a_command_names_its_type_and_its_fields_in_camel_case():
    command = SendPrompt(session_id="s", text="hi", client_message_id="c")
    assert json.encode(command) == (
        b'{"type":"send_prompt","sessionId":"s","text":"hi","clientMessageId":"c"}'
    )


def test_a_sent_image_is_logged_as_it_came():
    assert SentImage("image/png", "aGk=").logged() == Image("image/png", "aGk=")
