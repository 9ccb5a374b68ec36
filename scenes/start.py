"""Where the program starts. Loading the command line takes a moment, and a stop that comes within it waits for it."""

from __future__ import annotations

import signal


def main() -> int:
    """Load and run the command line, which lets signals in again as soon as it can tell of them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    from addnorm.scenes.cli import main as run

    return run()
