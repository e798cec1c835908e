"""The cost of importing the named modules in a fresh process: CPU time and memory, as one line of JSON."""

import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path


def megabytes() -> float:
    """Memory in use; the peak where the system does not report it."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


def main() -> None:
    memory, start = megabytes(), time.process_time()
    for name in sys.argv[1:]:
        importlib.import_module(name)
    cpu = time.process_time() - start
    print(json.dumps({"import_ms": cpu * 1e3, "import_mb": megabytes() - memory}))


if __name__ == "__main__":
    main()
