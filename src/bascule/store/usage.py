"""Sums over all sessions: turns and cost for each agent on each machine, and the sessions that cost most."""

from bascule.model.errors import StoreDamaged
from bascule.store.base import AgentUsage, Usage
from bascule.store.connection import Connection
from bascule.store.reader import current_records

# SQLite parses the records, without holding up Python; a record that is no JSON counts as an empty one.
_JSON = "CASE WHEN json_valid(CAST(record AS TEXT)) THEN CAST(record AS TEXT) ELSE '{}' END"
# The copy of a log as it was before its machine was restored tells of work that the living log tells of, too.
_EARLIER = "(SELECT session_id FROM replicas WHERE copy_of IS NOT NULL)"
SUMS = f"""
SELECT agent, count(*), coalesce(sum(json_extract(json, '$.turns')), 0),
    sum(json_extract(json, '$.cost_usd')), device
FROM (SELECT agent, device, {_JSON} AS json FROM sessions JOIN session_index USING (session_id)
      WHERE sessions.found = 0 AND session_id NOT IN {_EARLIER})
GROUP BY agent, device ORDER BY agent, device
"""
COSTLIEST = f"""
SELECT session_id, seq, record, crc FROM (SELECT *, json_extract({_JSON}, '$.cost_usd') AS cost FROM sessions
                                          WHERE found = 0 AND session_id NOT IN {_EARLIER})
WHERE cost IS NOT NULL ORDER BY cost DESC, updated_at DESC, session_id LIMIT ?
"""


def usage(connection: Connection, costliest: int) -> tuple[Usage, list[StoreDamaged]]:
    sound, damaged = current_records(connection, connection.execute(COSTLIEST, (costliest,)))
    return Usage([AgentUsage(*row) for row in connection.execute(SUMS)], sound), damaged
