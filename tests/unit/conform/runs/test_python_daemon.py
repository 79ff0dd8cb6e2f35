"""Spark's Python workers use the modules that are installed, of which there is bytecode."""

from __future__ import annotations

import py4j
import pyspark.worker
from pyspark.sql import SparkSession


def test_workers_on_this_machine_import_what_is_installed(spark: SparkSession) -> None:
    def places(_: int) -> list[str]:
        import py4j
        import pyspark.worker

        return [pyspark.worker.__file__, py4j.__file__]

    (found,) = spark.sparkContext.parallelize([1], 1).map(places).collect()
    assert found == [pyspark.worker.__file__, py4j.__file__]
