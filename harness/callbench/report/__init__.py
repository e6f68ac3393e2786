"""Reports: a run's results as frames, tables, Markdown, JSON and CSV.

``frames`` needs pandas and is imported only by who wants frames: ``callbench.load_run``.
"""

from callbench.report.runlog import TruncatedRunWarning, iter_records, read_info
from callbench.report.summary import Prices, Summary, summarize
from callbench.report.write import write_report

__all__ = [
    "Prices",
    "Summary",
    "TruncatedRunWarning",
    "iter_records",
    "read_info",
    "summarize",
    "write_report",
]
