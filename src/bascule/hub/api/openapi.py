"""The description of the API (OpenAPI 3.1), made from the route table and the structs themselves."""

import re
from typing import Any

import msgspec
from starlette.responses import Response

from bascule import __version__
from bascule.hub.api.call import AnyCall
from bascule.hub.api.responses import JsonAnswer
from bascule.hub.api.table import NoQuery, Row, Table

REF = "#/components/schemas/{name}"
ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}


def describe(table: Table) -> dict[str, Any]:
    rows = [row for row in table.rows if row.method != "WS" and row.described]
    types = [kind for row in rows for kind in (row.body, row.answer) if kind is not None]
    unique = list(dict.fromkeys(types))
    refs, components = msgspec.json.schema_components(unique, ref_template=REF)
    schema = dict(zip(unique, refs, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, schema)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Bascule", "version": __version__, "license": {"name": "MIT", "identifier": "MIT"}},
        "paths": paths,
        "components": {
            "schemas": {**components, "Error": ERROR},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(row: Row, schema: dict[Any, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": row.summary,
        "description": f"Needs: {row.need}.",
        "operationId": _operation_id(row),
        "security": [] if row.need == "public" else [{"bearer": []}],
        "responses": {
            str(row.status): _success(row, schema),
            "default": {"description": "Refused", "content": _json({"$ref": REF.format(name="Error")})},
        },
    }
    parameters = [*_path_parameters(row), *_query_parameters(row)]
    if parameters:
        operation["parameters"] = parameters
    if row.body is not None:
        required = any(one.required for one in msgspec.structs.fields(row.body))
        operation["requestBody"] = {"required": required, "content": _json(schema[row.body])}
    return operation


def _success(row: Row, schema: dict[Any, Any]) -> dict[str, Any]:
    if row.answer is not None:
        return {"description": "Done", "content": _json(schema[row.answer])}
    kind = "text/event-stream" if row.path.endswith("/stream") else "*/*"
    return {"description": "Done", "content": {kind: {}}}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _path_parameters(row: Row) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)}", row.path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _query_parameters(row: Row) -> list[dict[str, Any]]:
    if row.query is NoQuery:
        return []
    _, components = msgspec.json.schema_components([row.query], ref_template=REF)
    shape = components[row.query.__name__]
    return [
        {"name": name, "in": "query", "required": name in shape.get("required", []), "schema": schema}
        for name, schema in shape["properties"].items()
    ]


def _operation_id(row: Row) -> str:
    words = re.sub(r"[{}]", "", row.path).replace("-", "/").strip("/").replace("/", "_")
    return f"{row.method.lower()}_{words or 'index'}".replace(".", "_")


def description_row(rows: list[Row]) -> Row:
    """The row that serves the description of `rows` and of itself."""
    made: list[bytes] = []

    async def serve(call: AnyCall) -> Response:
        if not made:
            made.append(msgspec.json.encode(describe(Table([*rows, row]))))
        return JsonAnswer(made[0])

    row = Row(method="GET", path="/openapi.json", need="any", serve=serve, summary="This description")
    return row
