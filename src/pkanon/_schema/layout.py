"""A schema's tables as TOML that people read and edit: short lists on one line, long ones filled to the margin.

Every attribute is one table with its fields below; tables inside it stand on one line where they fit.
How a single value or key is written is tomli_w's affair.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

_MARGIN = 120


def laid_out(data: Mapping[str, Any]) -> str:
    """The text of a file with plain fields, tables (``confirmed``), tables of tables (``attributes``) and lists of tables."""
    plain = {key: value for key, value in data.items() if not _is_table(value) and not _is_tables(value)}
    blocks = ["\n".join(_fields((), plain))] if plain else []
    for key, value in data.items():
        if _is_tables(value):
            blocks += ["\n".join([f"[[{_key(key)}]]", *_fields((key,), table)]) for table in value]
        elif _is_table(value) and all(map(_is_table, value.values())):
            blocks += ["\n".join([_header(key, name), *_fields((key, name), table)]) for name, table in value.items()]
        elif _is_table(value):
            blocks.append("\n".join([_header(key), *_fields((key,), value)]))
    return "\n\n".join(blocks) + "\n"


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_table, value))


def _fields(path: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a table: its fields, and then those inside it that are too wide for one line, as tables of their own."""
    wide = []
    for key, value in table.items():
        line = f"{_key(key)} = {_value(value)}"
        if len(line) <= _MARGIN or not isinstance(value, (list, Mapping)):
            yield line
        elif isinstance(value, Mapping):
            wide.append(key)
        else:
            yield f"{_key(key)} = ["
            yield from _filled(value)
            yield "]"
    for key in wide:
        yield ""
        yield _header(*path, key)
        yield from _fields((*path, key), table[key])


def _filled(values: list[Any]) -> Iterator[str]:
    """Lines of several values each; blanks inside a value do not break it."""
    line = ""
    for value in map(_value, values):
        if line and len(line) + len(value) + 2 > _MARGIN - 4:
            yield textwrap.indent(line, "    ")
            line = ""
        line += f"{' ' if line else ''}{value},"
    if line:
        yield textwrap.indent(line, "    ")


def _header(*path: str) -> str:
    return f"[{'.'.join(map(_key, path))}]"


def _key(key: str) -> str:
    return _written({key: 0}).removesuffix(" = 0")


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(inner)}' for key, inner in value.items())} }}" if value else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    return _written({"x": value}).removeprefix("x = ")


def _written(data: dict[str, Any]) -> str:
    import tomli_w

    return tomli_w.dumps(data).removesuffix("\n")
