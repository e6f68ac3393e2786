"""Ends before its hello."""

import sys

sys.exit("no database")
