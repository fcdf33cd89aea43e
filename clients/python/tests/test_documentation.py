"""The examples of README.md, run against a real daemon."""

import asyncio
import os
import pathlib
import re
import subprocess
import textwrap
import unittest
from unittest import mock

import agd

from .daemon import PROGRAMS, ROOT, Daemon

README = pathlib.Path(__file__).resolve().parents[1] / "README.md"


class DocumentationTests(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.stop)
        environment = mock.patch.dict(os.environ, AGD_SOCKET=self.daemon.socket)
        environment.start()
        self.addCleanup(environment.stop)
        subprocess.run([PROGRAMS / "agctl", "apply", "-f", ROOT / "Examples/podcast.yaml"],
                       check=True, stdout=subprocess.DEVNULL)  # fmt: skip

    def test_every_example_runs_as_it_stands(self):
        examples = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
        self.assertGreaterEqual(len(examples), 6)
        drawn = []
        seen = {"agd": agd, "draw": drawn.append}
        for example in examples:
            with self.subTest(example):
                if "async " in example:
                    self.run_async(example)
                    continue
                # Loops over a subscription have no end.
                example = example.replace("for update in watch:", "for update in [next(watch)]:")
                exec(example, seen)  # noqa: S102
                if "isPlaying" in example and "test(" in example:
                    self.assertIs(seen["client"].get("/podcaster/player.isPlaying"), True)
                if example.startswith("client.set") or "toggle" in example:
                    seen["client"].set("/podcaster/player.isPlaying", False)
                if "for update in" in example:
                    seen["update"] = self.animated(seen["client"])
        self.assertGreater(len(drawn), 1)
        self.assertEqual(min(seen["past"].least), 0.5)
        self.assertIs(seen["client"].get("/feeder.isAlive"), True)
        seen["client"].close()
        seen["patient"].close()

    def animated(self, client):
        """An update with a timeline, for the examples that begin with one."""
        path = "/podcaster/player/playButton.scale"
        with client.watch(path) as watch:
            next(watch)
            client.toggle("/podcaster/player.isPlaying", animation="easeOut(duration: 0.1)")
            update = next(watch)
        client.set("/podcaster/player.isPlaying", False)
        self.assertIsNotNone(update.details[path].timeline)
        return update

    def run_async(self, example):
        example = example.replace("print(update.changes)", "return update.changes")
        code = "async def example():\n" + textwrap.indent(example, "    ")
        seen = {"agd": agd}
        exec(code, seen)  # noqa: S102
        self.assertTrue(asyncio.run(seen["example"]()))


if __name__ == "__main__":
    unittest.main()
