"""`python -m footnote` is `footnote`."""

import sys

from footnote.cli import main

if __name__ == "__main__":
    sys.exit(main())
