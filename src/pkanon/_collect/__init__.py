"""Answers that are randomised on the device of the person who gives them: nobody ever holds the raw table.

questionnaire.py  survey.toml: the schema and the words;  odds.py  what one answer becomes, in numbers for everybody
survey.py         the survey folder: public, hashed, never changed
"""

from .survey import Survey, make_survey, new

__all__ = ["Survey", "make_survey", "new"]
