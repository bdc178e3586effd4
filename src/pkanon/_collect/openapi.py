"""The OpenAPI document of a survey's service."""

from __future__ import annotations

from typing import Any

from .. import __version__
from .._plan import Plan
from .answer import STATUS, TOKEN_BYTES

_BASE64URL = "^[A-Za-z0-9_-]+$"


def document(plan: Plan, digest: str, *, invited: bool, admin: bool) -> dict[str, Any]:
    """What the service understands and answers, for the survey with this digest."""
    paths: dict[str, Any] = {
        "/answers": {"post": _answers()},
        "/status": {"get": _get("How the survey stands.", {"$ref": "#/components/schemas/Status"})},
        "/results": {
            "get": _get(
                "Estimated counts, a fixed number of answers old or older; none once the survey is closed.",
                {"$ref": "#/components/schemas/Results"},
            )
        },
        "/plan.json": {"get": _get("What every device does to an answer.", {"type": "object"})},
        "/survey.json": {"get": _get("The questions.", {"type": "object"})},
        "/manifest.json": {
            "get": _get("The hashes of all files; its SHA-256 is the survey digest.", {"type": "object"})
        },
        "/openapi.json": {"get": _get("This document.", {"type": "object"})},
        "/": {"get": _get("The page.", {"type": "string"}, "text/html")},
        "/pkanon.js": {"get": _get("The module of the page.", {"type": "string"}, "text/javascript")},
    }
    if admin:
        paths["/admin/state"] = {"post": _admin()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "A survey whose answers are randomised before they are sent",
            "version": __version__,
            "description": "Answers carry no name, time or order. Errors have one shape, and say whether to try again.",
        },
        "paths": paths,
        "components": {
            "schemas": {
                "Answer": _answer(plan, digest, invited),
                "Error": _error(),
                "Status": _status(),
                "Results": _results(),
            },
            "securitySchemes": {"admin": {"type": "http", "scheme": "bearer"}} if admin else {},
        },
    }


def _answer(plan: Plan, digest: str, invited: bool) -> dict[str, Any]:
    codes = [
        {"type": "integer", "minimum": 0, "maximum": attribute.size - 1, "title": attribute.name}
        for attribute in plan.schema.randomised
    ]
    record = {
        "description": "One code per attribute, in the order of the plan, already randomised by the device.",
        "type": "array",
        "prefixItems": codes,
        "items": False,
        "minItems": len(codes),
        "maxItems": len(codes),
    }
    token = {"type": "string", "pattern": _BASE64URL, "minLength": 43, "maxLength": 43}
    own = (
        {
            "token": {"description": f"{TOKEN_BYTES} bytes, base64url.", **token},
            "signature": {"description": "The unblinded signature.", "type": "string", "pattern": _BASE64URL},
        }
        if invited
        else {
            "key": {
                "description": "128 bits that the device has drawn with the record; the same in every attempt to send it.",
                "type": "string",
                "pattern": "^[0-9a-f]{32}$",
            }
        }
    )
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["survey", *own, "record"],
        "properties": {"survey": {"description": "The survey digest.", "const": digest}, **own, "record": record},
    }


def _error() -> dict[str, Any]:
    inner = {
        "type": "object",
        "additionalProperties": False,
        "required": ["code", "message", "retry"],
        "properties": {
            "code": {"enum": sorted(STATUS)},
            "message": {"type": "string"},
            "retry": {"description": "Whether the same request may succeed later.", "type": "boolean"},
        },
    }
    return {"type": "object", "additionalProperties": False, "required": ["error"], "properties": {"error": inner}}


def _status() -> dict[str, Any]:
    text, count = {"type": "string"}, {"type": "integer", "minimum": 0}
    properties = {
        "state": {"enum": ["open", "paused", "closed", "released", "failed"]},
        "accepted": count,
        "in_batches": {"description": "How many of them were released in batches before.", **count},
        "expected": count,
        "k": {"description": "For the answers so far that no batch holds, rounded down.", **text},
        "k_planned": {"description": "For the expected number of answers.", **text},
        "k_if_known": {
            "description": "[c, k]: the same k if the adversary knows or controls c of these answers.",
            "type": "array",
            "items": {"type": "array", "items": {"type": ["integer", "string"]}, "minItems": 2, "maxItems": 2},
        },
        "below_chance": {
            "description": "Which values are kept less often than chance would keep them, a sentence; empty if none.",
            **text,
        },
        "forged_row": {
            "description": "By how much one forged row moves the estimated count of a value, at most; by attribute.",
            "type": "object",
            "additionalProperties": {"type": "number"},
        },
        "results_every": count,
        "refused": {"type": "object", "additionalProperties": count},
    }
    return {"type": "object", "additionalProperties": False, "required": list(properties), "properties": properties}


def _results() -> dict[str, Any]:
    number = {"type": "number"}
    value = {
        "type": "object",
        "required": ["value", "estimate", "std_error"],
        "properties": {"value": {"type": ["string", "null"]}, "estimate": number, "std_error": number},
    }
    attribute = {
        "type": "object",
        "required": ["attribute", "values"],
        "properties": {"attribute": {"type": "string"}, "values": {"type": "array", "items": value}},
    }
    return {
        "type": "object",
        "required": ["answers", "attributes"],
        "properties": {
            "answers": {"type": "integer", "minimum": 0},
            "attributes": {"type": "array", "items": attribute},
        },
    }


def _answers() -> dict[str, Any]:
    stored = {
        "type": "object",
        "required": ["stored"],
        "additionalProperties": False,
        "properties": {"stored": {"const": True}},
    }
    return {
        "summary": "Send one answer. The same answer with the same key may be sent again: it is counted once.",
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Answer"}}},
        },
        "responses": {
            "200": {"description": "It is stored, durably.", "content": {"application/json": {"schema": stored}}},
            **_errors(
                "malformed",
                "token",
                "slow",
                "conflict",
                "closed",
                "too_large",
                "media_type",
                "out_of_domain",
                "too_many",
                "busy",
            ),
        },
    }


def _admin() -> dict[str, Any]:
    wanted = {
        "type": "object",
        "required": ["state"],
        "additionalProperties": False,
        "properties": {"state": {"enum": ["open", "paused", "closed"]}},
    }
    return {
        "summary": "Open, pause or close the survey; closing is for ever.",
        "security": [{"admin": []}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": wanted}}},
        "responses": {
            "200": {
                "description": "Done.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Status"}}},
            },
            **_errors("malformed", "unauthorised", "slow", "conflict", "too_large", "media_type", "too_many", "busy"),
        },
    }


def _get(summary: str, schema: dict[str, Any], media: str = "application/json") -> dict[str, Any]:
    return {"summary": summary, "responses": {"200": {"description": summary, "content": {media: {"schema": schema}}}}}


def _errors(*codes: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    grouped: dict[int, list[str]] = {}
    for code in codes:
        grouped.setdefault(STATUS[code], []).extend(
            other for other in STATUS if STATUS[other] == STATUS[code] and other not in grouped.get(STATUS[code], [])
        )
    return {str(status): {"description": ", ".join(names), "content": content} for status, names in grouped.items()}
