"""The steps that all clients take."""

import asyncio
import datetime
import inspect
import json
import re
import subprocess
import sys
import threading
import unittest

import agd

from .daemon import SCENARIO, Daemon

ERRORS = {"lost": agd.ConnectionLost, "unreachable": agd.Unreachable, "timedOut": agd.TimedOut}


def snake(name):
    return re.sub(r"[A-Z]", lambda m: "_" + m.group().lower(), name)


def comparable(value):
    if isinstance(value, agd.AttributeFailed):
        return {"fails": value.code}
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items()}
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    return value


class Breaker:
    """The program in front of the daemon that breaks connections."""

    def __init__(self, daemon):
        self.socket = str(daemon.folder / "breaker.sock")
        self.program = subprocess.Popen(
            [sys.executable, SCENARIO / "breaker.py", self.socket, daemon.socket],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.program.stdout.readline()

    def arm(self, when):
        self.program.stdin.write(when + "\n")
        self.program.stdin.flush()
        self.program.stdout.readline()

    def stop(self):
        self.program.communicate(timeout=30)


class OnLoop:
    """A client for asyncio, whose calls wait."""

    def __init__(self, loop, client):
        self.loop, self.client = loop, client

    def __getattr__(self, name):
        def perform(*arguments, **named):
            return self.finish(getattr(self.client, name)(*arguments, **named))

        return perform

    def finish(self, result):
        if not inspect.iscoroutine(result):
            return result
        return asyncio.run_coroutine_threadsafe(result, self.loop).result(60)


class ScenarioTests(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.stop)
        self.breaker = Breaker(self.daemon)
        self.addCleanup(self.breaker.stop)

    def test_every_step_leads_where_it_should(self):
        self.take_all(agd.Client)

    def test_every_step_leads_there_with_asyncio(self):
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        self.addCleanup(loop.close)
        self.addCleanup(thread.join)
        self.addCleanup(loop.call_soon_threadsafe, loop.stop)
        self.take_all(lambda *places, **options: OnLoop(loop, agd.AsyncClient(*places, **options)))

    def take_all(self, make):
        self.make, self.clients = make, {}
        for step in json.loads((SCENARIO / "steps.json").read_text(encoding="utf-8")):
            with self.subTest(step["does"]):
                self.take(step)
        for client in self.clients.values():
            client.close()

    def client(self, step):
        if "retry" in step:
            client = self.make(self.breaker.socket if "breaks" in step else self.daemon.socket, retry=step["retry"])
            self.addCleanup(client.close)
            return client
        name = step.get("by", "breaker" if "breaks" in step else "main")
        if name not in self.clients:
            self.clients[name] = self.make(self.breaker.socket if "breaks" in step else self.daemon.socket, retry=30)
        return self.clients[name]

    def take(self, step):
        client = self.client(step)
        if "breaks" in step:
            self.breaker.arm(step["breaks"])
        if step.get("daemon") == "kill":
            self.daemon.kill()

        def happen():
            if step.get("daemon") == "restart":
                self.daemon.kill()
            if step.get("daemon") in ("start", "restart"):
                self.daemon.start()
            if "meanwhile" in step:
                self.perform(self.clients["main"], step["meanwhile"])

        thread = threading.Thread(target=happen)
        thread.start()
        try:
            self.judge(client, step)
        finally:
            thread.join()
        for path, value in step.get("then", {}).items():
            self.assertEqual(self.clients["main"].get(path), value)

    def judge(self, client, step):
        if "fails" in step:
            with self.assertRaises(ERRORS.get(step["fails"], agd.Refused)) as caught:
                self.perform(client, step)
            if step["fails"] not in ERRORS:
                self.assertEqual(caught.exception.code, step["fails"])
            for text in step.get("says", []):
                self.assertIn(text, str(caught.exception))
            return
        result = self.perform(client, step)
        if "returns" in step:
            self.assertEqual(comparable(result), step["returns"])
        for name, value in step.get("includes", {}).items():
            self.assertEqual(comparable(getattr(result, name)), value)

    def perform(self, client, step):
        options = step.get("options", {})
        method = getattr(client, snake(step["call"]))
        if step["call"] in ("transact", "onDisconnect"):
            block = method(**options)
            for given in step["arguments"][0]:
                given = dict(given)
                getattr(block, given.pop("op"))(given.pop("path"), *given.values())
            result = block.commit()
            return client.finish(result) if isinstance(client, OnLoop) else result
        if step["call"] == "waitFor":
            return method(*step["arguments"], lambda value: value == step["until"], step.get("seconds", 30))
        if step["call"] == "close":
            self.clients.pop(step["by"])
        arguments = step["arguments"][0] if step["call"] == "getAll" else step["arguments"]
        return method(*arguments, **options, **step.get("bindings", {}))


if __name__ == "__main__":
    unittest.main()
