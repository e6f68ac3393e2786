"""corecall: a compact, exact reference implementation of the Call framework."""
