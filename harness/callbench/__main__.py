"""``python -m callbench``: the command."""

from callbench.cli import main

main()
