"""The loops of README.md, as a strict type checker sees them."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import textwrap
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[1]
MYPY = shutil.which("mypy")


@unittest.skipUnless(MYPY, "mypy is not installed")
class TypeTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        # What is known of the modules that programs import is kept from one run to the next.
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name

    def check(self, text: str) -> str:
        file = pathlib.Path(self.folder, "example.py")
        file.write_text(text, encoding="utf-8")
        told = subprocess.run(
            [MYPY, "--strict", "--cache-dir", self.folder, str(file)],
            env={"MYPYPATH": str(FOLDER), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        return "" if told.returncode == 0 else told.stdout + told.stderr

    def test_the_watch_loops_of_the_page_pass(self) -> None:
        text = (FOLDER / "README.md").read_text(encoding="utf-8")
        loops = [each for each in re.findall(r"```python\n(.*?)```", text, re.S) if "watch" in each or "timeline" in each]
        self.assertEqual(len(loops), 3)
        blocking, displayed, concurrent = (textwrap.indent(each, "    ") for each in loops)
        self.assertEqual(
            self.check(
                "import agd\n\n\n"
                "def draw(value: object) -> None: ...\n\n\n"
                f"def blocking(client: agd.Client) -> None:\n{blocking}\n\n"
                f"def displayed(update: agd.Update) -> None:\n{displayed}\n\n"
                f"async def concurrent() -> None:\n{concurrent}"
            ),
            "",
        )

    def test_a_watch_of_other_events_has_other_types(self) -> None:
        loop = 'import agd\nfor event in agd.Client().watch("/a", events=["structure"]):\n    print(event.items())\n'
        self.assertIn('has no attribute "items"', self.check(loop))

    def test_a_last_will_may_have_no_revision_yet_and_a_transaction_has_one(self) -> None:
        head = "from typing import Optional\nimport agd\nclient = agd.Client(retry=30)\n"
        self.assertEqual(
            self.check(
                head + "added: int = client.add('/a.b', 1)\n"
                "revision: int = client.transact().toggle('/a.b').commit()\n"
                "left: Optional[int] = client.on_disconnect().set('/a.b', 1).commit()\n"
                "client.wait_for('/a.b', lambda value: value > 1, timeout=1)\n"
                "async def leave(client: agd.AsyncClient) -> Optional[int]:\n"
                "    return await client.on_disconnect().set('/a.b', 1).commit()\n"
            ),
            "",
        )
        self.assertIn("Incompatible types", self.check(head + "left: int = client.on_disconnect().commit()\n"))


if __name__ == "__main__":
    unittest.main()
