"""Starts that wait for approval on this machine: listed, answered, blocked; and the page of a one-time link.

These are for the machine that this server runs on. Its daemon refuses them from anywhere else.
"""

from typing import TypeVar

from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.forwarding import forwarding
from bascule.hub.calls.operation import Operation
from bascule.link.starts import (
    AnswerStartLink,
    BlockStarts,
    DecideStart,
    ListStarts,
    ReadStartLink,
    StartByLink,
    StartList,
    WithdrawStart,
)
from bascule.model.commands import Command, Done
from bascule.model.errors import NotSupported

A = TypeVar("A")


async def list_starts(call: AnyCall) -> StartList:
    return await call.hub.switchboard.ask(_this(call), ListStarts(), call.by)


async def own(call: Call[Command[A]]) -> A:
    """An operation whose parameters are the command."""
    # An approved start is stored before this answers; making a work tree for it takes longest.
    return await call.hub.switchboard.ask(_this(call), call.body, call.by, seconds=120)


def _this(call: AnyCall) -> str:
    this = call.hub.switchboard.this
    if not this:
        raise NotSupported(
            "This server runs no agents. Starts are approved on the machine that they are for."
        )
    return this


OPERATIONS = (
    Operation(
        name="starts:list",
        method="GET",
        path="/api/starts",
        need="owner",
        body=ListStarts,
        answer=StartList,
        run=list_starts,
        summary="List starts from elsewhere that are waiting for approval on this machine",
    ),
    Operation(
        name="starts:decide",
        method="POST",
        path="/api/starts/{start_id}/decide",
        need="owner",
        body=DecideStart,
        answer=Done,
        run=own,
        summary="Approve or deny a start, or block all for a day; from this machine only",
    ),
    forwarding(
        WithdrawStart,
        name="starts:withdraw",
        method="POST",
        path="/api/starts/{start_id}/withdraw",
        need="operator",
        summary="Withdraw a start of your own that is waiting for approval",
    ),
    Operation(
        name="starts:block",
        method="POST",
        path="/api/starts/block",
        need="owner",
        body=BlockStarts,
        answer=Done,
        run=own,
        summary="Block starts from elsewhere for a day, or accept them again; from this machine only",
    ),
    # POST, because the token stands in the body: it is in no address, log or history.
    Operation(
        method="POST",
        path="/api/starts/link",
        need="public",
        body=ReadStartLink,
        answer=StartByLink,
        run=own,
        summary="Get what a one-time link would approve; decides nothing",
    ),
    Operation(
        method="POST",
        path="/api/starts/link/answer",
        need="public",
        body=AnswerStartLink,
        answer=Done,
        run=own,
        summary="Answer a start by its one-time link",
    ),
)
