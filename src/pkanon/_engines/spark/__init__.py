"""The Spark engine: the same plan, keystream and rows on a cluster. It has a door of its own, because it needs PySpark.

releasing.py  the driver: a frame and a plan in, the folder of a release out;  opening.py  files that Spark reads
steps.py      what executors do to rows;  work.py  what a step needs;  ids.py  ids compared without being written down
host.py       the key, held by the driver and told on a private line (channel.py)
parts.py      sorted parts to the folder;  jobs.py  frames of steps and their progress
counting.py   tables of released rows, counted on the cluster
marks.py      what went wrong, without a word of Spark's
"""

from importlib.util import find_spec

from ..._errors import missing_package

if find_spec("pyspark") is None or find_spec("pyarrow") is None:
    raise missing_package("The Spark engine needs PySpark", "spark")

from .counting import counts
from .releasing import release  # both are there

__all__ = ["counts", "release"]
