"""The steps that all clients take."""

import datetime
import json
import re
import unittest

import agd

from .daemon import SCENARIO, Daemon


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


class ScenarioTests(unittest.TestCase):
    def test_every_step_leads_where_it_should(self):
        daemon = Daemon()
        self.addCleanup(daemon.stop)
        with agd.Client(daemon.socket) as client:
            for step in json.loads((SCENARIO / "steps.json").read_text(encoding="utf-8")):
                with self.subTest(step["does"]):
                    self.take(client, step)

    def take(self, client, step):
        def perform():
            options = step.get("options", {})
            if step["call"] == "transact":
                with client.transact(**options) as t:
                    for given in step["arguments"][0]:
                        given = dict(given)
                        getattr(t, given.pop("op"))(given.pop("path"), *given.values())
                return t.revision
            arguments = step["arguments"][0] if step["call"] == "getAll" else step["arguments"]
            return getattr(client, snake(step["call"]))(*arguments, **options, **step.get("bindings", {}))

        if "fails" in step:
            with self.assertRaises(agd.Refused) as caught:
                perform()
            self.assertEqual(caught.exception.code, step["fails"])
        else:
            result = perform()
            if "returns" in step:
                self.assertEqual(comparable(result), step["returns"])
            for name, value in step.get("includes", {}).items():
                self.assertEqual(comparable(getattr(result, name)), value)
        for path, value in step.get("then", {}).items():
            self.assertEqual(client.get(path), value)


if __name__ == "__main__":
    unittest.main()
