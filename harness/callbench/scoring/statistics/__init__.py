"""The statistics of reports and comparisons: intervals, paired tests, corrections, repeats.

``quantiles``: those of Student's t; ``sums``: counts by cluster, which is all that the intervals
need; ``intervals``: of one run's rates; ``paired``: the difference of two runs on the same cases;
``multiplicity``: Holm and Benjamini-Hochberg; ``repeats``: pass@k and pass^k.

Whatever draws at random has the seed :data:`~callbench.scoring.statistics.intervals.SEED`. numpy is
imported only where something is drawn, scipy nowhere.
"""
