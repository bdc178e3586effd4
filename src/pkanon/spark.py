"""Tables larger than a machine: releases made on a Spark cluster, and their counts.

    import pkanon as pk

    pk.spark.release(spark.read.parquet("people/"), plan, "out")
    pk.spark.counts("out", plan, [("sex", "age")])

It needs the extra "spark" on the driver and on the executors: PySpark 4.1 or newer, and Java 17 or newer.
"""

from ._engines.spark import counts, release

__all__ = ["counts", "release"]
