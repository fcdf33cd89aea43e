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

SCENE = """
agd: 1
nodes:
  - id: lamp
    state: { isOn: false, level: 1.0, count: 3, tint: { type: color, initial: red } }
    computed: { label: 'isOn ? "on" : "off"', half: 'level / 2.0', bad: '1 / (count - 3)' }
    children:
      - id: shade
        binding: { isOn: $isOn }
        computed: { angle: 'isOn ? 90.0 : 0.0' }
  - id: feeder
    state: { isAlive: false }
  - id: values
    state:
      text: hi
      number: 1.5
      whole: 7
      names: [a]
      settings: { a: 1 }
      wait: { type: duration, initial: 2s }
      at: { type: timestamp, initial: '2026-01-01T00:00:00Z' }
      place: { type: vector, initial: [1, 2] }
      turn: { type: angle, initial: 90 }
"""


class Daemon:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="agd-python-"))
        self.socket = str(self.folder / "agd.sock")
        (self.folder / "scene.yaml").write_text(SCENE, encoding="utf-8")
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
