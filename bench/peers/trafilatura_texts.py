"""trafilatura on pages in a JSON file: its text of each, and the CPU time of all.

Readers' comments are left out: they are no part of an article, and with them its score is lower.
"""

import json
import sys
import time
from pathlib import Path

import trafilatura

pages = json.loads(Path(sys.argv[1]).read_text())
repetitions = int(sys.argv[2])
trafilatura.extract(pages[0], include_comments=False)
start = time.process_time()
for _ in range(repetitions):
    texts = [trafilatura.extract(page, include_comments=False) or "" for page in pages]
cpu = (time.process_time() - start) / repetitions / len(pages)
print(json.dumps({"page_ms": cpu * 1e3, "texts": texts, "version": trafilatura.__version__}))
