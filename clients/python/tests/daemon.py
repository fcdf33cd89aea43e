"""A real daemon in a temporary folder."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import agd

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = pathlib.Path(os.environ.get("AGD_PROGRAMS", ROOT / ".build/debug"))

#: What the tests of all clients run over.
SCENARIO = ROOT / "clients/scenario"


class Daemon:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="agd-python-"))
        self.socket = str(self.folder / "agd.sock")
        shutil.copy(SCENARIO / "scene.yaml", self.folder)
        self.process = None
        self.start()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAMS / "agd", "--socket", self.socket, "--scene", self.folder / "scene.yaml",
                 "--state-directory", self.folder / "state"],
                stderr=log,
            )  # fmt: skip
        for _ in range(1000):
            try:
                with agd.Client(self.socket) as client:
                    return client.ping()
            except agd.Unreachable:
                if self.process.poll() is not None:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.01)
        raise RuntimeError("the daemon does not answer")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)
