"""Answers that are randomised on the device of the person who gives them: nobody ever holds the raw table.

questionnaire.py  survey.toml: the schema and the words;  odds.py  what one answer becomes, in numbers for everybody
survey.py         the survey folder: public, hashed, never changed;  checking.py  whether it is what is served
device.py         one record, randomised where it is given;  client.py  a client for apps;  web.py  its requests
tokens.py         blind signatures;  invitations.py  the issuer;  issuing.py  the issuer on the web
private_file.py   files that only their owner reads
"""

from . import device
from .checking import Checked, check
from .client import Client, Practice, Token
from .invitations import Issuer, new_issuer, read_invitations, save_invitations
from .issuing import Claims
from .survey import Survey, make_survey, new

__all__ = [
    "Checked",
    "Claims",
    "Client",
    "Issuer",
    "Practice",
    "Survey",
    "Token",
    "check",
    "device",
    "make_survey",
    "new",
    "new_issuer",
    "read_invitations",
    "save_invitations",
]
