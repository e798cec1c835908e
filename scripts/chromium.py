"""The Chromium that the tests of the page drive.

    python scripts/chromium.py      # says which one it is; installs Debian's where there is none and that is allowed

A machine without one still passes: the tests of the page are then skipped, in one line.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

VARIABLE = "FOOTNOTE_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PLACES = (
    "/usr/bin/chromium",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
ADVICE = (
    f"Install Chromium or Chrome (on Debian: apt-get install chromium), or say where one is: {VARIABLE}=/path/to/it"
)


def find(places: tuple[str, ...] = PLACES) -> str | None:
    """The first one that there is: the one that is asked for, on PATH, in the usual places."""
    asked = os.environ.get(VARIABLE)
    if asked:
        return asked
    found = (shutil.which(name) for name in NAMES)
    return next((path for path in (*found, *places) if path and Path(path).exists()), None)


def install() -> None:
    """Debian's package. The fonts that the tests need are in Python packages that are there anyway."""
    apt = shutil.which("apt-get")
    rights = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if apt is None or (rights and shutil.which("sudo") is None):
        return
    quiet = [*rights, "env", "DEBIAN_FRONTEND=noninteractive", apt, "-qq", "-o", "Dpkg::Use-Pty=0"]
    for step in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        if subprocess.run([*quiet, *step], check=False, stdout=subprocess.DEVNULL).returncode:
            return


def main() -> None:
    if find() is None:
        print("No Chromium is there; asking apt-get for one …", flush=True)
        install()
    path = find()
    if path is None:
        print(f"There is no Chromium, so the tests of the page will be skipped. {ADVICE}")
        return
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    print(f"The tests of the page use {path}: {said.stdout.strip() or said.stderr.strip()}")


if __name__ == "__main__":
    sys.exit(main())
