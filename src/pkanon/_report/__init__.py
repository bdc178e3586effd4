"""Pictures of results. Nothing is estimated here: numbers come in finished, charts and files go out."""

from .charts import correlation_chart, crosstab_chart, save_chart

__all__ = ["correlation_chart", "crosstab_chart", "save_chart"]
