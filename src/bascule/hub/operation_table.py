"""The table of the hub's operations, gathered from the modules that declare them."""

from bascule.hub.api import (
    answers,
    audit,
    cast,
    comparisons,
    daemon_link,
    files,
    found,
    git,
    grants,
    launch,
    limits,
    links,
    listening,
    machine,
    notifications,
    pages,
    pairing,
    projects,
    prompt_files,
    prompts,
    rules,
    search,
    session_commands,
    sessions,
    starts,
    tunnels,
    unlogged,
    uplink,
    usage,
)
from bascule.hub.api.openapi import description_of
from bascule.hub.calls.operation import Operation, Table
from bascule.hub.live import subscriptions
from bascule.hub.live.socket_endpoint import socket_operation
from bascule.hub.terminal import viewer


def operation_table() -> Table:
    """Every operation of the hub."""
    operations: list[Operation] = [*pages.OPERATIONS, *sessions.OPERATIONS, *session_commands.OPERATIONS]
    operations += [
        *answers.OPERATIONS,
        *usage.OPERATIONS,
        *search.OPERATIONS,
        *machine.OPERATIONS,
        *pairing.OPERATIONS,
        *starts.OPERATIONS,
        *links.OPERATIONS,
        *tunnels.OPERATIONS,
        *uplink.OPERATIONS,
        *limits.OPERATIONS,
        *grants.OPERATIONS,
        *audit.OPERATIONS,
        *notifications.OPERATIONS,
        *projects.OPERATIONS,
        *files.OPERATIONS,
        *cast.OPERATIONS,
        *git.OPERATIONS,
        *listening.OPERATIONS,
    ]
    operations += [*found.OPERATIONS, *rules.OPERATIONS, *comparisons.OPERATIONS, *unlogged.OPERATIONS]
    operations += [
        *daemon_link.OPERATIONS,
        *subscriptions.OPERATIONS,
        *viewer.OPERATIONS,
        *launch.OPERATIONS,
    ]
    operations += [*prompts.OPERATIONS, *prompt_files.OPERATIONS]
    operations.append(socket_operation(lambda: table))
    table = Table([*operations, description_of(operations)])
    return table
