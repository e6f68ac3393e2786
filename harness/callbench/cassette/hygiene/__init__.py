"""Keeping cassettes trustworthy: statistics, checks, comparison, and edits that lose nothing.

Files are read line by line, so that one of any size can be looked at; see ``reading``.
"""
