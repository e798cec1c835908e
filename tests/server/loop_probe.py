"""Runs `footnote` in this process, and records when its event loop is blocked.

`LOOP_PROBE` names the file: one JSON line for each stall, with its seconds and the stack of the loop. A stall is CPU
time: of the loop's own thread between two ticks of a timer, or of other threads of this process while the loop waited
for the interpreter's lock. Time in which the process had no processor is not counted.
"""

import asyncio
import json
import os
import runpy
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

import uvloop

NOTED_SECONDS = 0.02
TICK_SECONDS = 0.004


class LoopProbe:
    def __init__(self, file: Path) -> None:
        self._file = file.open("a", encoding="utf-8")
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._place = ""
        self._schedule = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        self._last = self._reading()
        self._loop.call_later(TICK_SECONDS, self._tick)
        threading.Thread(target=self._look, daemon=True).start()

    def _reading(self) -> tuple[float, float, float, float]:
        # The file stays open: opening one releases the interpreter's lock, and the loop would have to wait for it
        # each time.
        queued = int(os.pread(self._schedule, 100, 0).split()[1]) / 1e9
        return time.monotonic(), time.thread_time(), time.process_time(), queued

    def _tick(self) -> None:
        then, self._last = self._last, self._reading()
        wall, computed, together, queued = (now - before for now, before in zip(self._last, then, strict=True))
        stall = max(computed, min(wall - queued - TICK_SECONDS, together))
        if stall > NOTED_SECONDS:
            self._file.write(json.dumps({"seconds": stall, "computed": computed, "place": self._place}) + "\n")
            self._file.flush()
            self._place = ""
            self._last = self._reading()
        self._loop.call_later(TICK_SECONDS, self._tick)

    def _look(self) -> None:
        """Records the stack of the loop's thread while the loop does not tick."""
        while True:
            time.sleep(NOTED_SECONDS / 2)
            if time.monotonic() - self._last[0] > NOTED_SECONDS:
                frame = sys._current_frames()[self._thread]
                self._place = " < ".join(
                    f"{Path(one.filename).name}:{one.lineno} {one.name}"
                    for one in reversed(traceback.extract_stack(frame)[-6:])
                )


def _watched() -> asyncio.AbstractEventLoop:
    loop = _new_event_loop()
    loop.call_soon(lambda: LoopProbe(Path(os.environ["LOOP_PROBE"])))
    return loop


_new_event_loop = uvloop.new_event_loop

if __name__ == "__main__":
    uvloop.new_event_loop = _watched
    signal.signal(signal.SIGINT, signal.default_int_handler)
    runpy.run_module("footnote", run_name="__main__", alter_sys=True)
