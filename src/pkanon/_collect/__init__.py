"""Answers that are randomised on the device of the person who gives them: nobody ever holds the raw table.

questionnaire.py  survey.toml: the schema and the words;  odds.py  what one answer becomes, in numbers for everybody
device.py         one record, randomised where it is given
survey.py         the survey folder: public, hashed, never changed
"""

from . import device
from .survey import Survey, make_survey, new

__all__ = ["Survey", "device", "make_survey", "new"]
