"""Is killed by a signal while it works."""

import os
import signal

from plumbing import converse

converse("killed", lambda run: os.kill(os.getpid(), signal.SIGSEGV))
