"""The command line's only door to private names: no other module of it imports from a room.

Everything is imported inside a function, so that ``pkanon --help`` loads neither numpy nor polars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pkanon as pk

if TYPE_CHECKING:
    from pathlib import Path

    from .._schema import Confirmed as Confirmed
    from .._schema import SchemaFile as SchemaFile

Check = Callable[[dict[str, Any]], None] | None


def interruption(error: BaseException) -> BaseException | None:
    """What ended the work from outside, if that is why an error was raised."""
    from .._errors import interruption

    return interruption(error)


def designs() -> list[str]:
    """The names that --design can have."""
    from .._design import DESIGNS

    return list(DESIGNS)


def meaning_of_levels() -> str:
    """What good, fair, poor and not readable mean."""
    from .._plan import MEANING

    return MEANING


def methods() -> list[str]:
    """The names that --method can have."""
    from .._estimate import METHODS

    return list(METHODS)


def readings() -> list[str]:
    """The names that --about can have."""
    from .._estimate import ABOUT

    return list(ABOUT)


def reading(about: str) -> str:
    """What errors are about, in words."""
    from .._estimate import ABOUT

    return ABOUT[about]


def families() -> list[str]:
    """The names that --family can have."""
    from .._estimate import regression

    return list(regression.FAMILIES)


def count_people(table: str | pk.TableFile, schema: pk.Schema, text: pk.TextFormat) -> int:
    """How many rows a release of the table has."""
    from .._frames import count_people

    return count_people(table, schema, text=text)


def schema_file(path: str) -> SchemaFile:
    """A schema file that is to be confirmed."""
    from .._schema import SchemaFile

    return SchemaFile.read(path)


def save_advice(advice: pk.Advice, path: str, schema: str) -> None:
    """Write an advised schema to a new file, with what a draft found in the file ``schema`` that it was made from."""
    from pathlib import Path

    from .._files import write_new
    from .._schema import SchemaFile, with_findings

    write_new(path, with_findings(advice.to_toml(Path(path).parent), SchemaFile.read(schema).findings))


def check_free(folder: str) -> None:
    """Refuse a folder that exists, or whose parent does not; remove what killed processes have left behind for it."""
    from .._files import check_free, remove_unfinished

    check_free(folder)
    remove_unfinished(folder)


def needs_password(key: str) -> bool:
    """Whether a private key is encrypted; what is no usable key is refused."""
    from .._release import needs_password

    return needs_password(key)


def check_password(key: str, password: bytes) -> None:
    """Refuse a password that does not open the key."""
    from .._release import read_private_key

    read_private_key(key, password)


def check_chart_file(path: str) -> None:
    """Refuse a file that a chart cannot be written to, and say what to install where charts cannot be drawn."""
    from .._results.charts import check_chart_file

    check_chart_file(path)


def check_modelled_file(path: str) -> None:
    """Refuse a file that modelled rows cannot be written to."""
    from .._release import check_destination

    check_destination(path)


def remove_folder(folder: str) -> None:
    """Remove a folder that this command made itself."""
    import shutil

    shutil.rmtree(folder)


def survey_schema(path: str) -> pk.Schema:
    """The schema in a survey.toml."""
    from .._collect import read_questionnaire

    return read_questionnaire(path).schema


def listed_words(words: Mapping[str, str]) -> Callable[[int, int, int, int], int]:
    """Words that were noted down, for a draw that is never sent."""
    from .._collect import device

    return device.listed_words(words)


def web_address(url: str) -> str:
    """A web address in plain letters; anything else is refused."""
    from .._collect import address

    return address(url)


def save_invitations(codes: Mapping[bytes, str], path: str) -> None:
    """Write links, from codes and their addresses, to a file that only its owner reads."""
    from .._collect import save_invitations

    save_invitations(codes, path)


def read_invitations(path: str) -> dict[bytes, str]:
    """The codes of the links in a file, each with its address."""
    from .._collect import read_invitations

    return read_invitations(path)


def serve(make: Callable[[], Any], host: str, port: int, ready: Callable[[str], None]) -> None:
    """Run the application that ``make`` makes until the process is asked to end."""
    from .._collect import serve

    serve(make, host, port, ready=ready)


def remote_status(url: str) -> dict[str, Any]:
    """How the survey at an address stands."""
    from .._collect import remote_status

    return remote_status(url)


def stored_status(survey: pk.collect.Survey, database: str, accept: Sequence[str]) -> dict[str, Any]:
    """How a survey stands whose service does not run."""
    from .._collect import stored_status

    return stored_status(survey, database, accept=accept)


def set_remote_state(url: str, state: str, token: str, check: Check) -> dict[str, Any]:
    """Open, pause or close the survey at an address; ``check`` sees its status before, and may refuse."""
    from .._collect import set_remote_state

    return set_remote_state(url, state, token, check)


def set_stored_state(
    survey: pk.collect.Survey, database: str, state: str, accept: Sequence[str], check: Check
) -> dict[str, Any]:
    """Open, pause or close a survey whose service does not run; ``check`` as above."""
    from .._collect import set_stored_state

    return set_stored_state(survey, database, state, accept=accept, check=check)


def read_token(path: str) -> str:
    """The admin token in a file."""
    from .._collect import read_token

    return read_token(path)


def new_token() -> str:
    """A new admin token."""
    from .._collect import new_token

    return new_token()


def demonstrate_survey(folder: Path, people: int, progress: Callable[[str, float], None]) -> pk.collect.Pilot:
    """The pilot of a small survey that comes with pkanon."""
    from .._collect import demonstrate

    return demonstrate(folder, people=people, progress=progress)
