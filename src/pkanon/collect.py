"""Surveys whose answers are randomised on the device of the person who gives them.

    import pkanon as pk

    survey = pk.collect.new("survey.toml", records=5_000, k=20)
    survey.save("survey/")
    pk.collect.pilot(survey, "pilot/").errors()  # with simulated people
    application = pk.collect.app(survey, "sqlite:///answers.db")  # for an ASGI server
    pk.collect.release(survey, "sqlite:///answers.db", "out/")  # when it is closed

    pk.collect.Client("https://survey.example.org").answer({"smokes": "yes"})

Nobody can tell for certain which of the answers that arrive are true: not the organiser, not the server.
"""

from ._collect import (
    Checked,
    Claims,
    Client,
    Issuer,
    Pilot,
    Practice,
    Survey,
    Token,
    app,
    check,
    new,
    new_issuer,
    pilot,
    release,
)

__all__ = [
    "Checked",
    "Claims",
    "Client",
    "Issuer",
    "Pilot",
    "Practice",
    "Survey",
    "Token",
    "app",
    "check",
    "new",
    "new_issuer",
    "pilot",
    "release",
]
