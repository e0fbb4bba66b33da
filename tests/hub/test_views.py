"""Views that the API makes of records."""

from typing import Any

from msgspec import structs

from bascule.hub.views import session_view
from bascule.model.lifecycle import Phase
from bascule.model.records import SessionRecord


def test_a_session_s_view_has_every_field_of_its_record_in_its_place() -> None:
    record, values = SessionRecord("s1"), dict[str, Any]()
    for number, name in enumerate(SessionRecord.__struct_fields__):
        values[name] = Phase.ENDED if name == "phase" else f"{name} {number}"  # no two alike
        setattr(record, name, values[name])
    view = structs.asdict(session_view(record))
    assert {name: view[name] for name in values} == values
    assert (view["id"], view["cli_type"]) == (values["session_id"], values["agent"])
    assert (view["created"], view["last_active"]) == (values["created_at"], values["updated_at"])
