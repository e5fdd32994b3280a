# SPDX-License-Identifier: Apache-2.0
"""What the runners of tests in the browser share: a folder of the test's own, from which Node runs the
scripts of this folder, and servers of `fathom view`.

The npm packages come from a step before the tests, tools/browser-packages.sh, which `make check` calls.
Without them, node or Chromium a test is skipped (77). With FATHOM_SCREENSHOTS set they leave pictures in the
folder screenshots below the build folder, tests/browser of the build."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

from patience import PATIENCE

SKIP = 77
SOURCE = pathlib.Path(__file__).resolve().parent


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def _needed(build):
    """Chromium and the folder of npm packages."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    modules = build / "node_modules"
    for what, is_there in (("node", shutil.which("node")), ("chromium", browser)):
        if not is_there:
            skip(f"there is no {what}")
    if not (modules / "playwright-core").is_dir():
        skip(f"there is no playwright-core in {modules}: run tools/browser-packages.sh with the build folder")
    return browser, modules


class Place:
    def __init__(self, folder, browser, shots):
        self.folder, self.browser, self.shots = folder, browser, shots

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run(self, script, *arguments):
        """The status of a script that has ended."""
        return subprocess.run(["node", script, *map(str, arguments)], cwd=self.path("scripts"), check=False).returncode


@contextlib.contextmanager
def place(build):
    """A folder for files of a test. Its scripts are copies, as Node looks for packages beside a script."""
    build = pathlib.Path(build).resolve()
    browser, modules = _needed(build)
    shots = build / "screenshots"
    shots.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fathom-browser-") as folder:
        scripts = pathlib.Path(folder, "scripts")
        for script in SOURCE.rglob("*.mjs"):
            copy = scripts / script.relative_to(SOURCE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(script, copy)
        (scripts / "node_modules").symlink_to(modules)
        yield Place(folder, browser, str(shots))


def root_of(address):
    return re.match(r"http://[^/]+/", address)[0]


def _wait_until_read(address, profile):
    """The server ends the events of a profile when all of it is known."""
    events = f"{root_of(address)}events?menu&&{urllib.parse.quote(profile)}"
    with urllib.request.urlopen(events, timeout=PATIENCE) as answer:
        assert answer.read().endswith(b"event: ready\ndata: {}\n\n"), f"{profile} could not be read"


@contextlib.contextmanager
def serving(fathom, files, profiles=()):
    """The address of the first page, as the server prints it, once the profiles have been read; all addresses
    begin with root_of() it. A script may have ended the server; otherwise it ends here, and well."""
    with subprocess.Popen([fathom, "view", "--no-open", *files], text=True, stdout=subprocess.PIPE) as server:
        try:
            address = re.search(r"http://\S+", server.stdout.readline())[0]
            for profile in profiles:
                _wait_until_read(address, profile)
            yield address
        finally:
            if server.poll() is None:
                server.terminate()
            status = server.wait(PATIENCE)
    assert status == 0, f"the server ended with {status}"
