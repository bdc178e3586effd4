"""Answers that are randomised on the device of the person who gives them: nobody ever holds the raw table.

questionnaire.py  survey.toml: the schema and the words;  odds.py  what one answer becomes, in numbers for everybody
survey.py         the survey folder: public, hashed, never changed;  checking.py  whether it is what is served
device.py         one record, randomised where it is given;  client.py  a client for apps;  web.py  its requests
tokens.py         blind signatures;  invitations.py  the issuer;  issuing.py  the issuer on the web
private_file.py   files that only their owner reads

answer.py   one answer as it arrives: checked;  commit.py  shuffled batches, acknowledged when stored;  store/  where they are kept
service.py  the ASGI application;  serving.py, protocol.py  running it;  openapi.py  its document;  limits.py, admin.py  who may ask
tally.py    what is shown while it runs;  standing.py  k so far, and what forged answers can do
closing.py  from answers to a release folder;  remote.py  a running service, asked from outside
pilot.py    all of it at once, with simulated people;  demo.py  that of a small survey
"""

from . import device
from .admin import new_token, read_token
from .checking import Checked, check
from .client import Client, Practice, Token
from .closing import release, set_stored_state, stored_status
from .demo import demonstrate
from .invitations import Issuer, new_issuer, read_invitations, save_invitations
from .issuing import Claims
from .pilot import Pilot, pilot
from .questionnaire import read_questionnaire
from .remote import remote_status, set_remote_state
from .serving import app, listen, make_server, serve
from .survey import Survey, address, make_survey, new

__all__ = [
    "Checked",
    "Claims",
    "Client",
    "Issuer",
    "Pilot",
    "Practice",
    "Survey",
    "Token",
    "address",
    "app",
    "check",
    "demonstrate",
    "device",
    "listen",
    "make_server",
    "make_survey",
    "new",
    "new_issuer",
    "new_token",
    "pilot",
    "read_invitations",
    "read_questionnaire",
    "read_token",
    "release",
    "remote_status",
    "save_invitations",
    "serve",
    "set_remote_state",
    "set_stored_state",
    "stored_status",
]
