"""A table as a hospital might export it, of invented people: 3,000 stays of 1,100 patients, and everything that goes wrong.

Semicolons, Latin-1, dates with the day first, decimal commas and points between thousands, -9 and NA and
empty fields for what is missing, labels spelled in several ways, codes that two people have, a number of the stay
that is unique, a number of the patient that is not, and remarks that name people.
"""

import datetime as dt
import random
from pathlib import Path

STAYS = 3000
PATIENTS = 1100
DELIMITER = ";"
ENCODING = "latin-1"

_FIRST = ["Ilse", "Jürgen", "Maëlle", "Tomas", "Aino", "Bjørn", "Chiara", "Dov", "Edda", "Fanny"]
_LAST = ["Quastenberg", "Ölsnitzer", "Vantongeren", "Marrowby", "Zelenkova", "Utterström", "Perdomo", "Ahlquist"]
_WARDS = ["Kardiologie", "Chirurgie", "Pädiatrie", "Geburtshilfe", "Innere Medizin"]
_DIAGNOSES = [f"{letter}{number:02}" for letter, number in zip("ACEGIJKMNRS" * 2, range(10, 32))]
_RARE = ["Q87", "E75"]

COLUMNS = (
    "stay no",
    "patient",
    "sex",
    "born",
    "admitted",
    "ward",
    "diagnosis",
    "weight",
    "cost",
    "smoker",
    "children",
    "remark",
)
NAMED = [f"{first} {last}" for first in _FIRST for last in _LAST]
"""The people whom remarks name; none of them exists."""


def _german(number: float) -> str:
    return f"{number:,.2f}".replace(",", "x").replace(".", ",").replace("x", ".")


def stays(seed: int = 11) -> list[list[str]]:
    """The rows of the table, as texts."""
    draw = random.Random(seed)
    born = [dt.date(1930, 1, 1) + dt.timedelta(draw.randrange(33_000)) for _ in range(PATIENTS)]
    sexes = [draw.choice("FM") for _ in range(PATIENTS)]
    rows = []
    for stay in range(STAYS):
        person = stay if stay < PATIENTS else draw.randrange(PATIENTS)
        remark = ""
        if draw.random() < 0.3:
            who = draw.choice(NAMED)
            remark = draw.choice(
                [f"call {who}, 0171 55{stay:05}", f"{who} is the sister", f"Frau {who} asked for a single room"]
            )
        day = dt.date(2023, 1, 1) + dt.timedelta(draw.randrange(730))
        rows.append(
            [
                f"S{900_000 + stay}",
                f"P{40_000 + 7 * person}",
                sexes[person],
                f"{born[person]:%d/%m/%Y}",
                f"{day:%d/%m/%Y}",
                draw.choice(_WARDS),
                _RARE[stay % 2] if stay in (17, 401, 402) else draw.choice(_DIAGNOSES),
                "-9" if draw.random() < 0.05 else f"{draw.gauss(72, 14):.1f}".replace(".", ","),
                _german(draw.uniform(180, 9800)),
                draw.choices(["yes", "Yes", "no", "no ", "NA"], [30, 5, 55, 5, 5])[0],
                draw.choices(["0", "1", "2", "3", "4", "-9", "NA", ""], [30, 20, 20, 10, 5, 5, 5, 5])[0],
                remark,
            ]
        )
    return rows


def write_hospital(path: Path) -> None:
    """Write the table to a file."""
    lines = [DELIMITER.join(row) for row in [list(COLUMNS), *stays()]]
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode(ENCODING))
