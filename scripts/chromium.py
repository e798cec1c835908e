"""The Chromium that the tests of the page use.

    python scripts/chromium.py      # prints its version; installs Debian's where there is none and that is possible

Without one the tests still pass: those of the page are skipped, in one line.
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
    """The first Chromium found: the configured one, on PATH, in the usual places."""
    configured = os.environ.get(VARIABLE)
    if configured:
        return configured
    found = (shutil.which(name) for name in NAMES)
    return next((path for path in (*found, *places) if path and Path(path).exists()), None)


def install() -> None:
    """Installs Debian's package. The fonts for the tests come with Python packages."""
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
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    print(f"The tests of the page use {path}: {version.stdout.strip() or version.stderr.strip()}")


if __name__ == "__main__":
    sys.exit(main())
