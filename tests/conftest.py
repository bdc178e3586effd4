"""One seed for every test that draws, and Hypothesis without chance or clock."""

import pytest
from collection import Collection
from hypothesis import HealthCheck, settings

DEFAULT_SEED = 20_220_126

settings.register_profile(
    "pkanon",
    derandomize=True,
    deadline=None,
    database=None,  # nothing is remembered between runs: equal code gives equal tests
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("pkanon")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=DEFAULT_SEED, help="the seed of every test that draws at random")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Collection(config))


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int:
    chosen: int = request.config.getoption("--seed")
    return chosen
