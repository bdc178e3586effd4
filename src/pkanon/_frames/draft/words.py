"""The words in the name of a column, and what they say the column holds.

"PatientID", "patient_id", "Patientennummer" and "Patient No." all speak of the number of a patient.
Capitals and accents do not matter; a known word with a known ending ("fallnummer") counts as both.
"""

from __future__ import annotations

import re
import unicodedata

IDS = frozenset(
    (
        *("id", "pid", "uid", "uuid", "guid", "ssn", "mrn", "bsn", "nhs", "nin", "nino", "nir", "cpf", "pesel"),
        *("identifier", "identifiant", "identificador", "identificativo", "matricule", "matricola", "matricula"),
        *("pseudonym", "kennung", "kennziffer", "svnr", "ahv", "niss", "dni", "nif", "oib", "jmbg", "egn"),
        *("personnummer", "fodselsnummer"),
    )
)
PERSONS = frozenset(
    (
        *("person", "patient", "client", "customer", "citizen", "subject", "participant", "respondent", "proband"),
        *("member", "employee", "student", "pupil", "user", "insured", "taxpayer", "inhabitant", "resident", "pat"),
        *("patientin", "kunde", "klient", "versicherte", "teilnehmer", "mitglied", "schueler"),
        *("personne", "paciente", "persona", "paziente", "cliente", "pacjent", "patienten"),
    )
)
NUMBERS = frozenset(("nr", "no", "num", "number", "nummer", "code", "key", "ref", "numero", "id"))
CASES = frozenset(
    (
        *("case", "visit", "admission", "episode", "encounter", "stay", "record", "form", "sheet", "questionnaire"),
        *("order", "invoice", "claim", "transaction", "booking", "ticket", "event", "receipt", "contract", "account"),
        *("row", "index", "seq", "sequence", "serial", "line", "entry", "sample", "specimen", "document", "file"),
        *("fall", "besuch", "aufnahme", "beleg", "auftrag", "sejour", "dossier", "episodio", "caso"),
    )
)
PLACES = frozenset(
    ("zip", "postcode", "postal", "plz", "postleitzahl", "cp", "cap", "puma", "fips", "tract", "county", "municipality")
)
NAMES = frozenset(
    (
        *("name", "names", "surname", "firstname", "lastname", "forename", "fullname", "nickname", "initials"),
        *("vorname", "nachname", "familienname", "geburtsname", "nom", "prenom", "nombre", "apellido", "apellidos"),
        *("nome", "cognome", "naam", "voornaam", "achternaam", "imie", "nazwisko"),
    )
)
OF_NAMES = frozenset(
    (
        "first",
        "last",
        "full",
        "given",
        "family",
        "middle",
        "maiden",
        "de",
        "of",
        "doctor",
        "mother",
        "father",
        "contact",
    )
)
MAIL = frozenset(("mail", "email"))
PHONES = frozenset(("phone", "tel", "telephone", "telefon", "mobile", "cell", "cellphone", "fax", "handy", "telefono"))
ADDRESSES = frozenset(
    ("address", "addr", "adresse", "anschrift", "street", "strasse", "direccion", "indirizzo", "adres")
)
REMARKS = frozenset(
    (
        *("remark", "remarks", "comment", "comments", "note", "notes", "memo", "freetext", "narrative", "verbatim"),
        *("observation", "observations", "bemerkung", "bemerkungen", "anmerkung", "anmerkungen", "kommentar", "notiz"),
        *("notizen", "freitext", "commentaire", "commentaires", "remarque", "remarques", "observaciones", "comentario"),
        *("comentarios", "nota", "opmerking", "opmerkingen", "uwagi", "hinweis", "hinweise", "vermerk"),
        *("anamnesis", "anamnese"),
    )
)
_SURVEYS = frozenset(
    ("survey", "sample", "sampling", "design", "final", "person", "household", "calibrated", "analysis")
)

_BORDERS = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LETTERS = re.compile(r"[^\W\d_]+")
_ENDINGS = sorted(NUMBERS | NAMES, key=len, reverse=True)
_ROOTS = IDS | PERSONS | CASES
_LINKS = ("", "s", "n", "en")


def words_in(name: str) -> frozenset[str]:
    """The words in the name of a column, in small letters without accents."""
    parts = unicodedata.normalize("NFKD", _BORDERS.sub(" ", name))
    bare = "".join(letter for letter in parts if not unicodedata.combining(letter))
    return frozenset(word for found in _LETTERS.findall(bare) for word in _parted(found.casefold()))


def survey_weight(name: str) -> bool:
    """Whether the name of a column of numbers speaks of survey weights: "PWGTP", "hhwt", "survey weight", not "weight" in kilograms."""
    words = words_in(name)
    return any("wgt" in word or word.endswith("wt") for word in words) or bool(
        words & {"weight", "weights"} and words & _SURVEYS
    )


def _parted(word: str) -> tuple[str, ...]:
    """A word, or the two known ones that it is made of."""
    for ending in _ENDINGS:
        for link in _LINKS:
            root = word.removesuffix(link + ending)
            if root != word and root in _ROOTS:
                return root, ending
    return (word,)
