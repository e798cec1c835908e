"""trafilatura on the pages of a JSON file: the text of each page, and the CPU time of all.

Reader comments are excluded: they are not part of an article, and would lower its score.
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
