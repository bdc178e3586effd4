"""Writes the generated parts of cli.md and python.md: verbs and options from click, names from signatures and docstrings.

python docs/reference/generate.py

Only what stands between marks is replaced: in cli.md between ``<!-- verbs -->``, or ``<!-- verb -->`` below a heading
"## pkanon VERB", and its end mark; in python.md between ``<!-- names ROOM ... -->`` and its end mark, where a room is a
package below ``pkanon``. The text around it is written by hand. A verb without a heading gets one at the end of the
page; a heading without a verb and a room that no mark names are refused. A test compares the pages with the code.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import click

import pkanon
from pkanon._cli import GROUPS, VERBS, cli

HERE = Path(__file__).parent
DOCS = HERE.parent
RETURNED = {"_estimate", "_experiments", "_release", "_results"}
"""Rooms whose objects are made by functions and methods; their constructors are nobody's business."""
LONGEST_SIGNATURE = 88
SECTIONS = {"Parameters": "", "Attributes": "Fields:", "Examples": "Example:"}
"""How the sections of a docstring are introduced."""


# --- what both pages share ------------------------------------------------------------------------------------------


def between(mark: str, text: str, content: Callable[[re.Match[str]], str]) -> str:
    """``text`` with what stands between ``<!-- mark ... -->`` and ``<!-- /mark -->`` replaced."""
    pattern = re.compile(rf"(<!-- {mark}\b(?P<rest>[^>]*)-->\n).*?(<!-- /{mark} -->)", re.DOTALL)
    return pattern.sub(lambda found: "\n".join([found[1], content(found), "", found[3]]), text)


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _citation(found: re.Match[str]) -> str:
    page, section = found[1], found[2]
    heading = re.search(rf"^## ({section}\. .+)$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
    return f"[{Path(page).stem} {section}](../{page}#{slug(heading[1]) if heading else ''})"


def inline(text: str) -> str:
    """One paragraph of a docstring as Markdown."""
    text = re.sub(r":(?:func|class):`(?:pk\.)?([\w.]+)`", r"`pk.\1`", text)
    text = re.sub(r":(?:meth|attr):`([\w.]+)`", r"`\1`", text)
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    text = re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)", r"`\1`", text)
    return re.sub(r"\bdocs/([\w/-]+\.md) (\d+)", _citation, " ".join(text.split()))


def cell(text: str) -> str:
    """The same, for a cell of a table."""
    return inline(text).replace("|", r"\|")


def table(head: str, rows: list[tuple[str, ...]]) -> str:
    """A table in Markdown; ``head`` names its columns."""
    names = head.split(" | ")
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def prose(text: str) -> str:
    """A docstring as Markdown: paragraphs, lists of parameters, examples and drawings as they are."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(text))
    return "\n\n".join(filter(None, map(_block, blocks)))


def _block(text: str) -> str:
    if text.startswith("\b"):  # click: leave the lines as they are
        return textwrap.indent(textwrap.dedent(text.lstrip("\b").lstrip("\n")), "    ")
    section = re.match(r"(\w+)\n-+\n", text)  # "Parameters" and its like, underlined
    if section:
        body = _block(text[section.end() :])
        return "\n\n".join(filter(None, [SECTIONS.get(section[1], f"{section[1]}:"), body]))
    if text.startswith((">>>", "    ")):
        return textwrap.indent(textwrap.dedent(text), "    ")
    if re.match(r"[*\w, ]+( : .*)?\n {4}\S", text):  # names, each with its meaning indented below
        return "\n".join(map(_item, re.split(r"\n(?=\S)", text)))
    if text.startswith("- "):
        return "\n".join(f"- {inline(item)}" for item in re.split(r"(?:^|\n)- ", text) if item)
    return "\n".join(textwrap.wrap(inline(text), 118, break_long_words=False, break_on_hyphens=False))


def _item(text: str) -> str:
    name, _, meaning = text.partition("\n")
    return f"- `{name}`: {inline(meaning)}"


# --- the command line -----------------------------------------------------------------------------------------------


def options(command: click.Command) -> str:
    """The table of a verb's options."""
    context = click.Context(command, info_name="pkanon")
    shown = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    rows = [_option(option, context) for option in shown]
    return table("option | default | meaning", rows) if rows else ""


def _option(option: click.Option, context: click.Context) -> tuple[str, str, str]:
    meaning = (option.help or "").strip()
    written = re.search(r"\s*\[default: (.*?)\](?=\.?$)", meaning)
    default = written[1] if written else ""
    if written:
        meaning = meaning[: written.start()] + meaning[written.end() :]
    elif option.show_default and option.default is not None:
        default = option.get_help_extra(context).get("default", "") or ""
    choices = option.type.choices if isinstance(option.type, click.Choice) else ()
    if choices:
        meaning = f"{meaning} One of {', '.join(f'`{choice}`' for choice in choices)}.".strip()
    value = "" if option.is_flag or choices else f" {option.make_metavar(context)}"
    names = ", ".join(f"`{name}`" for name in option.opts[:-1])
    return ", ".join(filter(None, [names, f"`{option.opts[-1]}{value}`"])), cell(default), cell(meaning)


def verb(name: str) -> str:
    """Usage, help text and options of a verb."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None, name
    return described_command(f"pkanon {name}", command)


def described_command(name: str, command: click.Command) -> str:
    """The same for any command; one that has commands of its own is followed by those."""
    context = click.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    own = {sub: command.get_command(context, sub) for sub in _names(command, context)}
    below = [f"### {name} {sub}\n\n{described_command(f'{name} {sub}', one)}" for sub, one in own.items() if one]
    return "\n\n".join(filter(None, [f"    {usage}", prose(command.help or ""), options(command), *below]))


def _names(command: click.Command, context: click.Context) -> list[str]:
    """The commands of a command, also of one that loads them when they are called; in the order of the code."""
    if not isinstance(command, click.Group):
        return []
    return list(command.commands) or command.list_commands(context)


def cli_page(text: str) -> str:
    """cli.md as it should be."""
    before, *rest = re.split(r"^(?=## pkanon \S+$)", text, flags=re.MULTILINE)
    sections = {part.split()[2]: part for part in rest}
    unknown = sections.keys() - VERBS.keys()
    if unknown:
        raise SystemExit(f"cli.md describes {', '.join(sorted(unknown))}, and there is no such verb.")
    for name in VERBS:
        sections.setdefault(name, f"\n## pkanon {name}\n\n<!-- verb -->\n<!-- /verb -->\n")
    listed = "\n\n".join(
        f"{group}:\n\n" + "\n".join(f"- [{name}](#pkanon-{name}): {inline(text)}" for name, text in verbs.items())
        for group, verbs in GROUPS.items()
    )
    parts = [between("verb", part, lambda _, name=name: verb(name)) for name, part in sections.items()]
    return between("verbs", before, lambda _: listed) + "".join(parts)


# --- public names ---------------------------------------------------------------------------------------------------


def public_names() -> Iterator[tuple[str, Any]]:
    """Every public name with its dots, and what it stands for; names of public submodules too."""
    modules = [found.name for found in pkgutil.iter_modules(pkanon.__path__) if not found.name.startswith("_")]
    for name in pkanon.__all__:
        if name not in modules and name != "__version__":
            yield name, getattr(pkanon, name)
    for module in modules:
        submodule = importlib.import_module(f"pkanon.{module}")
        for name in submodule.__all__:
            yield f"{module}.{name}", getattr(submodule, name)


def room(name: str, value: Any) -> str:
    """The package below ``pkanon`` in which a public name is defined."""
    home = getattr(value, "__module__", None) or f"pkanon.{pkanon._HOMES[name]}"
    return str(home).split(".")[1]


def signature(name: str, value: Any, *, bound: bool = False) -> str:
    """How it is called, without types; over several lines if it is long."""
    found = inspect.signature(value)
    parameters = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    short = found.replace(parameters=parameters[1:] if bound else parameters, return_annotation=found.empty)
    line = f"{name}{short}"
    returned = found.return_annotation
    if isinstance(returned, str) and returned.strip("'") != "None" and len(returned) < 40:
        line += f" -> {returned}"
    return re.sub(r"<factory>|<function (\w+)[^>]*>", lambda value: value[1] or "...", line)


def _wrapped(line: str) -> str:
    if len(line) <= LONGEST_SIGNATURE:
        return f"    {line}"
    opening = line.index("(") + 1
    return textwrap.fill(
        line,
        LONGEST_SIGNATURE,
        initial_indent="    ",
        subsequent_indent=" " * (4 + opening),
        break_long_words=False,
        break_on_hyphens=False,
    )


def members(value: type) -> list[str]:
    """Documented methods and properties of a class. What all blocks share is for the code that uses blocks."""
    found: dict[str, str] = {}
    for base in value.__mro__:
        if not base.__module__.startswith("pkanon.") or (base is not value and "._blocks" in base.__module__):
            continue
        for name, member in vars(base).items():
            doc = inspect.getdoc(getattr(value, name, None)) if not name.startswith("_") else None
            inner = getattr(member, "__func__", getattr(member, "func", member))
            if name in found or not doc or not (callable(inner) or isinstance(member, property)):
                continue
            called = callable(inner) and not hasattr(member, "func")  # a cached property is a property
            bound = not isinstance(member, staticmethod)
            shown = signature(name, inner, bound=bound).partition(" -> ")[0] if called else name
            owner = f"{value.__name__}." if isinstance(member, classmethod | staticmethod) else ""
            found[name] = f"- `{owner}{shown}`: {_first_sentence(doc)}"
    return [found[name] for name in sorted(found, key=str.lower)]


def _first_sentence(doc: str) -> str:
    paragraph = inline(doc.partition("\n\n")[0])
    return re.split(r"(?<=[.?!]) (?=[A-Z`])", paragraph)[0]


def described(name: str, value: Any) -> str:
    """The entry of one public name."""
    title = f"### pk.{name}"
    if not callable(value):
        names = value if isinstance(value, tuple | list) else list(value)
        return f"{title}\n\n{', '.join(f'`{item}`' for item in names)}"
    parts = [title]
    if not inspect.isclass(value):
        parts.append(_wrapped(signature(f"pk.{name}", value)))
    elif room(name, value) not in RETURNED:
        parts.append(_wrapped(signature(f"pk.{name}", value)).partition(" -> ")[0])
    parts.append(prose(value.__doc__ or ""))
    listed = re.search(r"^ *Attributes\n *-+$", value.__doc__ or "", re.MULTILINE)
    if inspect.isclass(value) and room(name, value) in RETURNED and is_dataclass(value) and not listed:
        known = [field.name for field in fields(value) if not field.name.startswith("_")]
        parts.append("\n".join(textwrap.wrap(f"Fields: {', '.join(f'`{field}`' for field in known)}.", 118)))
    if inspect.isclass(value):
        parts.append("\n".join(members(value)))
    return "\n\n".join(filter(None, parts))


def errors(kinds: dict[str, type]) -> str:
    """All errors in one table, each below its base."""
    order = sorted(kinds, key=lambda name: [base.__name__ for base in reversed(kinds[name].__mro__)])
    rows = [
        (
            f"`pk.{name}`",
            f"`{kinds[name].__base__.__name__}`",
            cell(kinds[name].__doc__ or ""),
            str(getattr(kinds[name], "exit_code", "none: a warning")),
        )
        for name in order
    ]
    return table("error | kind of | raised when | exit code", rows)


def python_page(text: str) -> str:
    """python.md as it should be."""
    names = dict(public_names())
    homes = {name: room(name, value) for name, value in names.items()}
    shown = {found for rest in re.findall(r"<!-- names ([^>]*)-->", text) for found in rest.split()}
    forgotten = sorted(set(homes.values()) - shown)
    if forgotten:
        raise SystemExit(f"python.md has no place for the names of {', '.join(forgotten)}.")

    def group(found: re.Match[str]) -> str:
        rooms = found["rest"].split()
        own = [name for name in names if homes[name] in rooms]
        own.sort(key=lambda name: (inspect.isclass(names[name]), rooms.index(homes[name]), name.lower()))
        kinds = [name for name in own if inspect.isclass(names[name]) and issubclass(names[name], Exception)]
        entries = [described(name, names[name]) for name in own if name not in kinds]
        return "\n\n".join([*entries, *([errors({name: names[name] for name in kinds})] if kinds else [])])

    return between("names", text, group)


PAGES = {"cli.md": cli_page, "python.md": python_page}


def main() -> None:
    """Write both pages anew."""
    for name, page in PAGES.items():
        path = HERE / name
        path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
