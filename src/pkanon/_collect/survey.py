"""A survey: the plan, the questions and the page, in a folder that is public and never changes.

    plan.json      what a device does to an answer: an ordinary plan, made for the expected number of answers
    survey.json    the questions, in every language, and the numbers that explain the plan to people
    index.html     the page, one self-contained file;  pkanon.js  its module by itself, for auditors and other clients
    manifest.json  the plan's digest, and the SHA-256 of every other file

The **survey digest** is the SHA-256 of manifest.json. Every answer carries it, so an answer to another version of the
survey is recognised and refused: whoever changes a question makes a new survey. No file holds a secret.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .. import _files
from .._errors import InputError, TargetError
from .._plan import Number, Plan, parse_plan
from .odds import odds, seldom_replaced
from .questionnaire import Question, Questionnaire, read_questionnaire

if TYPE_CHECKING:
    from .tokens import PublicKey

FORMAT = "pkanon-survey/1"
MANIFEST_FORMAT = "pkanon-survey-manifest/1"
MANIFEST = "manifest.json"
OPEN, INVITED, SIMULATED = "open", "invited", "simulated"
MODES = (OPEN, INVITED, SIMULATED)
FILES = ("plan.json", "survey.json", "index.html", "pkanon.js")
"""The files of a folder beside its manifest."""
NEEDED = ("plan.json", "survey.json", MANIFEST)
"""What a client needs that shows no page."""
LEAST_STEP = 50
"""Answers between two states of the results, at least; 5 k if that is more."""
_KEYS = {
    *("format", "title", "intro", "organiser", "contact", "languages", "questions", "bundles", "mode", "strict"),
    *("service", "issuer", "results_every", "expected", "odds", "k", "plan_digest", "invitation_key"),
}


@dataclass(frozen=True)
class Survey:
    """A survey as everybody sees it; :func:`collect.new` makes one.

    Parameters
    ----------
    files
        The bytes of each file, by its name. A client that shows no page may do without the page and its module.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> text = '''
    ... [survey]
    ... title = "Smoking at work"
    ... organiser = "Institute of Health"
    ... contact = "survey@example.org"
    ... [attributes.smokes]
    ... values = ["no", "yes"]
    ... question = "Do you smoke?"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "survey.toml").write_text(text)
    ...     pk.collect.new(Path(folder, "survey.toml"), records=5_000, k=20).save(Path(folder, "survey"))
    ...     survey = pk.collect.Survey.read(Path(folder, "survey"))
    >>> survey.plan.k_text, survey.mode, survey.results_every
    ('20', 'open', 101)
    """

    files: Mapping[str, bytes] = field(repr=False)

    def __post_init__(self) -> None:
        if not set(NEEDED) <= set(self.files) <= {*FILES, MANIFEST}:
            raise InputError(f"A survey has the files {', '.join(FILES)} and {MANIFEST}, and no others.")
        hashes = listed_hashes(self.files[MANIFEST])
        for name in FILES:
            if name in self.files and hashes[name] != sha256(self.files[name]):
                raise InputError(f"{name} differs from the survey's manifest; a survey is never changed.")
        if hashes["plan_digest"] != self.plan.digest:
            raise InputError("The survey's manifest belongs to another plan.")
        if self.data.get("format") != FORMAT or set(self.data) != _KEYS:
            raise InputError(f"survey.json is not in the format '{FORMAT}', which this version reads.")
        if self.data["plan_digest"] != self.plan.digest or self.data["expected"] != self.plan.records:
            raise InputError("survey.json belongs to another plan.")
        if [question.attribute for question in self.questions] != list(self.plan.schema.names):
            raise InputError("survey.json asks for other attributes than the plan.")
        if type(self.results_every) is not int or self.results_every < least_step(self.plan):
            raise InputError("survey.json lets results be refreshed too often for its plan.")
        if self.mode not in MODES or (self.mode == INVITED) != (self.data["invitation_key"] is not None):
            raise InputError("survey.json is damaged: it does not say who may answer.")
        for url in (self.data["service"], self.data["issuer"]):
            if url is not None and (not isinstance(url, str) or address(url) != url):
                raise InputError("survey.json names an address that is not in the form that pkanon writes.")

    @classmethod
    def read(cls, folder: str | Path) -> Survey:
        """The survey in ``folder``; refused if any file differs from what its manifest says."""
        path = Path(folder)
        if not (path / MANIFEST).is_file():
            raise InputError(f"{folder} is not the folder of a survey; pkanon collect new makes one.")
        try:
            return cls({name: (path / name).read_bytes() for name in (*FILES, MANIFEST)})
        except OSError as error:
            raise InputError(f"Cannot read the survey in {folder}: {error.strerror}.") from None

    def save(self, folder: str | Path) -> None:
        """Write the survey to ``folder``, which must not exist; all of it, or nothing."""

        if len(self.files) <= len(FILES):
            raise InputError("The survey was read without its page; save it from its folder.")

        def fill(path: Path) -> None:
            for name, content in self.files.items():
                (path / name).write_bytes(content)

        _files.write_folder(folder, fill)

    @cached_property
    def digest(self) -> str:
        """The survey digest, which every answer carries: SHA-256 of manifest.json, in hexadecimal."""
        return sha256(self.files[MANIFEST])

    @cached_property
    def plan(self) -> Plan:
        """What every device does to an answer."""
        return parse_plan(self.files["plan.json"].decode("utf-8", "replace"), "plan.json")

    @cached_property
    def data(self) -> dict[str, Any]:
        """What survey.json holds."""
        return _json(self.files["survey.json"], "survey.json")

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The questions, in the order of a record."""
        try:
            return tuple(_question(item) for item in self.data["questions"])
        except (KeyError, TypeError):
            raise InputError("survey.json is damaged: a question is not in the form that pkanon writes.") from None

    @property
    def mode(self) -> str:
        """``open`` for a link that anybody can use, ``invited`` for one answer per invitation, ``simulated`` for a pilot."""
        return str(self.data["mode"])

    @property
    def strict(self) -> bool:
        """Whether invitations and answers must be kept apart, in time or by host."""
        return bool(self.data["strict"])

    @property
    def service(self) -> str | None:
        """The address at which the survey is served, if it was known when the survey was made."""
        url: str | None = self.data["service"]
        return url

    @property
    def issuer(self) -> str | None:
        """Where invitations are redeemed; None is the address of the survey itself."""
        url: str | None = self.data["issuer"]
        return url

    @property
    def results_every(self) -> int:
        """Results change only when this many more answers have come."""
        step: int = self.data["results_every"]
        return step

    @property
    def expected(self) -> int:
        """The number of answers that the plan was made for."""
        return self.plan.records

    @cached_property
    def public_key(self) -> PublicKey | None:
        """The key that verifies tokens of invitations; None in an open survey."""
        from .tokens import PublicKey

        given = self.data["invitation_key"]
        return None if given is None else PublicKey.from_json(given)

    def __repr__(self) -> str:
        return f"<Survey {self.digest[:12]} of {len(self.questions)} questions, {self.mode}, for {self.expected:,} answers>"


def new(
    path: str | Path,
    *,
    records: int,
    k: Number | None = None,
    epsilon: Number | None = None,
    central_epsilon: Number | None = None,
    delta: float | None = None,
    design: str = "optimal",
    workload: Any = 2,
    weighting: str = "relative",
    floor: Any = 3,
    results_every: int | None = None,
    invitation_key: PublicKey | None = None,
    strict: bool = False,
    service: str | None = None,
    issuer: str | None = None,
) -> Survey:
    """A survey from its file: the questions checked, the plan made, the page put together.

    Refused: attributes without a question or with another role than ``randomise``, a list of more than 200 values, answers
    that would be replaced for fewer than 1 person in 200, and whatever :func:`plan` refuses.

    Parameters
    ----------
    path
        The survey.toml.
    records
        The number of answers that are expected; k holds when as many have come.
    k, epsilon, central_epsilon, delta, design, workload, weighting, floor
        As in :func:`plan`.
    results_every
        After how many more answers results are refreshed: 50 or 5 k, whichever is more, or anything above that.
    invitation_key
        The public key of :func:`collect.new_issuer`, if only invited people may answer.
    strict
        With invitations: the service refuses to redeem them itself.
    service
        The address at which the survey will be served; a page that is opened from a file sends its answer there.
    issuer
        With invitations: the address of the issuer, if it is not that of the survey.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> text = '''
    ... [survey]
    ... title = "Rooms"
    ... organiser = "Office of Statistics"
    ... contact = "rooms@example.org"
    ... [attributes.rooms]
    ... range = [1, 9]
    ... question = "How many rooms has your home?"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "survey.toml").write_text(text)
    ...     survey = pk.collect.new(Path(folder, "survey.toml"), records=2_000, k=20)
    >>> survey.questions[0].type, survey.data["odds"][0]["kept_of_100"]
    ('number', 56)
    """
    from .._design import plan as make_plan

    words = read_questionnaire(path)
    plan = make_plan(
        words.schema, records=records, k=k, epsilon=epsilon, central_epsilon=central_epsilon, delta=delta,
        design=design, workload=workload, weighting=weighting, floor=floor,
    )  # fmt: skip
    return make_survey(
        words,
        plan,
        results_every=results_every,
        invitation_key=invitation_key,
        strict=strict,
        service=service,
        issuer=issuer,
    )


def make_survey(
    words: Questionnaire,
    plan: Plan,
    *,
    results_every: int | None = None,
    invitation_key: PublicKey | None = None,
    strict: bool = False,
    service: str | None = None,
    issuer: str | None = None,
    assemble: Callable[[bytes, bytes], bytes] | None = None,
    module: bytes | None = None,
) -> Survey:
    """The survey of a questionnaire and a plan; ``assemble`` and ``module`` are the page's, unless a test gives its own."""
    if void := plan.void_reasons:
        raise TargetError(f"The plan of the survey promises nothing. {void[0]}")
    if plan.count_noise is not None:
        raise TargetError("A survey cannot hide how many answers it has; leave out hide_count.")
    if (seldom := seldom_replaced(plan)) is not None:
        raise TargetError(
            f"Answers to '{seldom}' would be replaced for fewer than 1 person in 200, so what is sent would be as good as what was said; "
            "ask for a lower epsilon or a higher k."
        )
    least = least_step(plan)
    step = least if results_every is None else results_every
    if step < least:
        raise InputError(
            f"results_every = {step}: with this k results may be refreshed every {least} answers or more, because two "
            "states differ by just the answers in between."
        )
    if invitation_key is None and (strict or issuer is not None):
        raise InputError("strict and issuer belong to invitations; make the survey with invitations.")
    data = {
        "format": FORMAT,
        "title": words.title,
        "intro": words.intro,
        "organiser": words.organiser,
        "contact": words.contact,
        "languages": list(words.languages),
        "questions": [_question_json(question, plan) for question in words.questions],
        "bundles": [place for place, unit in enumerate(plan.units) if unit.forbid],
        "mode": OPEN if invitation_key is None else INVITED,
        "strict": strict,
        "service": None if service is None else address(service),
        "issuer": None if issuer is None else address(issuer),
        "results_every": step,
        "expected": plan.records,
        "odds": odds(plan),
        "k": plan.k_text,
        "plan_digest": plan.digest,
        "invitation_key": None if invitation_key is None else invitation_key.to_json(),
    }
    return _assembled(data, plan, assemble, module)


def simulated(survey: Survey) -> Survey:
    """The same questions and the same plan as a survey of another digest, which only simulated people may answer."""
    apart = {"mode": SIMULATED, "strict": False, "service": None, "issuer": None, "invitation_key": None}
    return _assembled({**survey.data, **apart}, survey.plan)


def _assembled(
    data: Mapping[str, Any],
    plan: Plan,
    assemble: Callable[[bytes, bytes], bytes] | None = None,
    module: bytes | None = None,
) -> Survey:
    survey_json, plan_json = to_bytes(data), to_bytes(plan.to_json())
    if assemble is None or module is None:
        from .page import assemble_page
        from .page import module as page_module

        assemble, module = assemble_page, page_module()
    files = {
        "plan.json": plan_json,
        "survey.json": survey_json,
        "index.html": assemble(survey_json, plan_json),
        "pkanon.js": module,
    }
    hashes = {name: sha256(content) for name, content in files.items()}
    manifest = {"format": MANIFEST_FORMAT, "plan_digest": plan.digest, "files": hashes}
    return Survey({**files, MANIFEST: to_bytes(manifest)})


def listed_hashes(manifest: bytes) -> dict[str, str]:
    """What a manifest says: the hash of each file by its name, and the digest of the plan as ``plan_digest``."""
    data = _json(manifest, MANIFEST)
    if data.get("format") != MANIFEST_FORMAT:
        raise InputError(f"The survey's manifest is not in the format '{MANIFEST_FORMAT}', which this version reads.")
    hashes = data.get("files")
    if not isinstance(hashes, dict) or set(hashes) != set(FILES) or set(data) != {"format", "plan_digest", "files"}:
        raise InputError("The survey's manifest is not in the form that pkanon writes.")
    return {**hashes, "plan_digest": data["plan_digest"]}


_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_ADDRESS = re.compile(
    rf"https?://(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{{1,5}})?(?:/[A-Za-z0-9._~%/-]*)?"
)


def address(url: str) -> str:
    """A web address as survey.json holds it: http or https, a host, a port and a path, in plain letters and nothing else.

    The host stands in the policy of the page, so anything that could mean something there is refused.
    """
    try:
        fits = _ADDRESS.fullmatch(url) is not None and urlsplit(url).port != 0
    except ValueError:  # a port above the largest, or brackets around no address
        fits = False
    if not fits:
        raise InputError(f"{url!r} is not a web address such as https://survey.example.org.")
    return url.rstrip("/")


def least_step(plan: Plan) -> int:
    """The fewest answers between two states of the results: 50, or 5 k if that is more."""
    return max(LEAST_STEP, math.ceil(5 * plan.k_for(plan.records)))


def sha256(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def to_bytes(data: Mapping[str, Any]) -> bytes:
    """A JSON file for people to read, without floats."""
    _files.canonical(data)
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()


def _json(content: bytes, name: str) -> dict[str, Any]:
    try:
        data = _files.parse_json(content.decode())
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise InputError(f"{name} is damaged: it is not a valid JSON object with each key once.")
    return data


def _question_json(question: Question, plan: Plan) -> dict[str, Any]:
    unit = next(place for place, unit in enumerate(plan.units) if question.attribute in unit.attributes)
    data: dict[str, Any] = {
        "attribute": question.attribute,
        "unit": unit,
        "question": question.question,
        "help": question.help,
        "type": question.type,
        "labels": None if question.labels is None else list(question.labels),
        "optional": question.optional,
    }
    if question.range is not None:
        data["range"] = list(question.range)
    if question.edges is not None:
        data |= {"bins": list(question.edges), "open": question.open}
    return data


def _question(data: Mapping[str, Any]) -> Question:
    return Question(
        attribute=data["attribute"],
        question=data["question"],
        help=data["help"],
        type=data["type"],
        labels=None if data["labels"] is None else tuple(data["labels"]),
        range=(data["range"][0], data["range"][1]) if "range" in data else None,
        edges=tuple(data["bins"]) if "bins" in data else None,
        open=data.get("open"),
        optional=data["optional"],
    )
