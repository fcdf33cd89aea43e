"""The blocking client against a real daemon."""

import datetime
import signal
import threading
import time
import unittest

import agd
from agd._wire import _HARMLESS, PARAMETERS

from .daemon import Daemon


class ClientTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def setUp(self):
        self.client = agd.Client(self.daemon.socket, name="tests")
        self.addCleanup(self.client.close)

    def test_a_write_is_read_back_and_rules_follow(self):
        revision = self.client.set("/lamp.isOn", True, label="evening")
        self.assertIs(self.client.get("/lamp.isOn"), True)
        self.assertEqual(self.client.get("/lamp.label"), "on")
        self.assertEqual(self.client.explain("/lamp.isOn")["changed"]["revision"], revision)
        self.client.toggle("/lamp.isOn")
        self.assertEqual(self.client.get("/lamp.label"), "off")

    def test_a_client_that_acts_for_a_principal_has_only_its_rights(self):
        # There are no access lines, so this principal has no rights.
        with agd.Client(self.daemon.socket, principal="web") as other:
            with self.assertRaises(agd.Refused) as refused:
                other.get("/lamp.isOn")
            self.assertEqual(refused.exception.code, "denied")
            with self.assertRaises(agd.Refused):
                other.watch("/lamp.isOn")
        self.client.get("/lamp.isOn")

    def test_a_client_that_may_not_act_for_its_principal_does_nothing(self):
        with agd.Client(self.daemon.socket, principal="no name") as other:
            for _ in range(2):
                with self.assertRaises(agd.Refused) as refused:
                    other.get("/lamp.isOn")
                self.assertEqual(refused.exception.code, "invalid")
            with self.assertRaises(agd.Refused):
                other.watch("/lamp.isOn")

    def test_every_type_comes_back_as_it_was_written(self):
        cases = {
            "/values.text": "grüße",
            "/values.number": 2.0,
            "/values.whole": -(2**63),
            "/values.names": ["a", "b"],
            "/values.settings": {"a": 2},
            "/values.wait": datetime.timedelta(seconds=-1, microseconds=-250_000),
            "/values.at": datetime.datetime(1969, 12, 31, 23, 59, 59, 500_000, tzinfo=datetime.timezone.utc),
            "/values.place": agd.Vector([3.0, -1.5]),
            "/values.turn": agd.Angle(-45.0),
            "/lamp.tint": agd.Color("#0000ff"),
        }
        for path, value in cases.items():
            with self.subTest(path):
                self.client.set(path, value)
                back = self.client.get(path)
                self.assertEqual(back, value)
                self.assertIs(type(back), type(value))

    def test_an_int_of_more_than_64_bits_is_refused_before_it_is_sent(self):
        for value in (1 << 63, -(1 << 63) - 1):
            with self.assertRaisesRegex(ValueError, "64 bits"):
                self.client.set("/values.whole", value)

    def test_the_recorded_past_has_moments_and_ends_with_the_present(self):
        self.client.set("/lamp.level", 0.25)
        past = self.client.history("/lamp.level")
        self.assertEqual((past.step, past.span), (datetime.timedelta(seconds=4464), datetime.timedelta(days=31)))
        self.assertEqual(min(past.least), 0.25)
        self.assertLess(past.times[-1], datetime.datetime.now(datetime.timezone.utc))
        self.assertEqual(len(past.times), len(past.greatest))

    def test_moments_are_read_with_any_digits_of_a_second(self):
        for text, micros in [("", 0), (".5", 500_000), (".123456789", 123_456), (".07", 70_000)]:
            expected = datetime.datetime(2026, 1, 31, 12, 0, 1, micros, datetime.timezone.utc)
            self.assertEqual(agd.values.timestamp(f"2026-01-31T12:00:01{text}Z"), expected)

    def test_texts_are_converted_where_that_loses_nothing(self):
        self.client.set("/values.wait", "1500ms")
        self.assertEqual(self.client.get("/values.wait"), datetime.timedelta(seconds=1.5))
        self.client.set("/values.number", 3)
        self.assertIsInstance(self.client.get("/values.number"), float)

    def test_a_refusal_is_an_exception_with_code_and_hint(self):
        with self.assertRaises(agd.Refused) as caught:
            self.client.set("/lamp.isOm", True)
        self.assertEqual(caught.exception.code, "notFound")
        self.assertIn("isOn", caught.exception.hint)
        with self.assertRaises(agd.Refused) as caught:
            self.client.set("/lamp.isOn", "yes")
        self.assertEqual(caught.exception.code, "typeMismatch")

    def test_a_failed_rule_raises_alone_and_is_a_value_among_others(self):
        with self.assertRaises(agd.AttributeFailed) as caught:
            self.client.get("/lamp.bad")
        self.assertEqual(caught.exception.code, "ruleFailed")
        values = self.client.get_all("/lamp.*")
        self.assertIsInstance(values["/lamp.bad"], agd.AttributeFailed)
        self.assertEqual(values["/lamp.count"], 3)

    def test_a_transaction_is_committed_at_the_end_of_its_block(self):
        with self.client.transact(label="both") as t:
            t.set("/values.whole", 1).add("/values.whole", 4).append("/values.text", "!")
        self.assertEqual(self.client.get("/values.whole"), 5)
        self.assertGreater(t.revision, 0)

    def test_a_transaction_whose_block_raises_changes_nothing(self):
        self.client.set("/values.whole", 1)
        with self.assertRaises(ZeroDivisionError):
            with self.client.transact() as t:
                t.set("/values.whole", 99)
                1 / 0
        self.assertEqual(self.client.get("/values.whole"), 1)

    def test_a_failed_test_refuses_all_of_a_transaction(self):
        with self.assertRaises(agd.Refused) as caught:
            with self.client.transact() as t:
                t.set("/values.whole", 2).test("/values.text", "nobody")
        self.assertEqual(caught.exception.code, "conflict")
        self.assertNotEqual(self.client.get("/values.whole"), 2)

    def test_mutations_for_the_disconnect_are_performed(self):
        feeder = agd.Client(self.daemon.socket)
        with feeder.on_disconnect(label="gone") as t:
            t.set("/feeder.isAlive", False)
        feeder.set("/feeder.isAlive", True)
        with self.client.watch("/feeder.isAlive") as watch:
            self.assertEqual(next(watch).changes, {"/feeder.isAlive": True})
            feeder.close()
            update = watch.next(timeout=10)
        self.assertEqual((update.changes, update.label), ({"/feeder.isAlive": False}, "gone"))

    def test_a_request_that_is_interrupted_spoils_none_of_the_next(self):
        def interrupt(number, frame):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.client.ping()
        self.daemon.process.send_signal(signal.SIGSTOP)
        try:
            # More than the socket takes, so that the request is half sent.
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with self.assertRaises(KeyboardInterrupt):
                self.client.set("/values.text", "x" * 4_000_000)
        finally:
            self.daemon.process.send_signal(signal.SIGCONT)
        self.client.set("/values.whole", 12)
        self.assertEqual(self.client.get("/values.whole"), 12)

    def test_a_rule_is_evaluated_with_bindings(self):
        self.assertEqual(self.client.eval("a.map(x, x * b)", a=[1, 2], b=3), [3, 6])

    def test_a_document_is_applied_described_moved_and_removed(self):
        applied = self.client.apply({"agd": 1, "nodes": [{"id": "door", "state": {"isOpen": False}}]})
        self.assertEqual(applied["added"], ["/door"])
        self.assertIn("isOpen", self.client.describe("/door")["attributes"])
        self.client.move("/door", index=0)
        self.client.remove("/door")
        with self.assertRaises(agd.Refused):
            self.client.describe("/door")

    def test_without_a_daemon_it_says_where_it_looked(self):
        with self.assertRaises(agd.Unreachable) as caught:
            agd.Client("/nowhere/agd.sock").ping()
        self.assertIn("/nowhere/agd.sock", str(caught.exception))

    def test_the_table_of_parameters_is_the_daemons_own(self):
        described = {m["name"]: sorted(p["name"] for p in m["params"]) for m in self.client.describe()["methods"]}
        self.assertEqual({name: sorted(names) for name, names in PARAMETERS.items()}, described)

    def test_requests_that_are_repeated_without_an_identifier_change_nothing_of_the_graph(self):
        methods = {each["name"]: each for each in self.client.describe()["methods"]}
        for name in _HARMLESS - {"onDisconnect"}:
            self.assertIn((methods[name]["x-needs"] or {}).get("right"), (None, "read", "admin"), name)
        self.assertTrue(_HARMLESS.isdisjoint(name for name, names in PARAMETERS.items() if "once" in names))


class RetryTests(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.stop)

    def test_every_addition_is_performed_once_although_the_daemon_is_killed_again_and_again(self):
        def add():
            with agd.Client(self.daemon.socket, retry=60) as client:
                for _ in range(300):
                    client.add("/values.whole", 1)

        adders = [threading.Thread(target=add) for _ in range(3)]
        for adder in adders:
            adder.start()
        with agd.Client(self.daemon.socket, retry=60) as client:
            for wanted in (50, 250, 450, 650):
                client.wait_for("/values.whole", lambda value: value > wanted, timeout=60)
                self.daemon.kill()
                self.daemon.start()
            for adder in adders:
                adder.join()
            self.assertEqual(client.get("/values.whole"), 7 + 3 * 300)

    def test_a_request_that_waits_for_the_daemon_ends_when_the_client_is_closed(self):
        self.daemon.kill()
        client = agd.Client(self.daemon.socket, retry=60)
        failures = []

        def ask():
            try:
                client.ping()
            except agd.AgdError as error:
                failures.append(error)

        asker = threading.Thread(target=ask)
        asker.start()
        while asker.is_alive():
            client.close()
            asker.join(0.01)
        self.assertEqual([type(each) for each in failures], [agd.ConnectionLost])

    def test_a_time_below_zero_is_refused(self):
        for make in (agd.Client, agd.AsyncClient):
            with self.assertRaisesRegex(ValueError, "retry is 0 or more seconds"):
                make(self.daemon.socket, retry=-1)

    def test_a_watch_waits_for_the_daemon_as_requests_do(self):
        self.daemon.kill()
        with self.assertRaisesRegex(agd.Unreachable, "gave up 'subscribe /lamp.level' after .* attempts"):
            agd.Client(self.daemon.socket, retry=0.2).watch("/lamp.level")
        starter = threading.Thread(target=self.daemon.start)
        starter.start()
        with agd.Client(self.daemon.socket, retry=60).watch("/lamp.level") as watch:
            self.assertEqual(next(watch).changes, {"/lamp.level": 1.0})
        starter.join()


class WatchTests(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.stop)
        self.client = agd.Client(self.daemon.socket)
        self.addCleanup(self.client.close)

    def test_it_begins_with_the_values_as_they_are_and_goes_on_with_each_transaction(self):
        with self.client.watch("/lamp.*") as watch:
            first = next(watch)
            self.assertTrue(first.initial)
            self.assertEqual(first.changes["/lamp.level"], 1.0)
            self.client.set("/lamp.level", 4.0, label="up")
            update = next(watch)
            self.assertEqual(update.changes, {"/lamp.level": 4.0, "/lamp.half": 2.0})
            self.assertEqual(update.label, "up")
            self.assertEqual(watch.values["/lamp.half"], 2.0)

    def test_without_news_it_returns_nothing_after_the_timeout(self):
        with self.client.watch("/lamp.level") as watch:
            next(watch)
            self.assertIsNone(watch.next(timeout=0.01))
            self.client.set("/lamp.level", 2.0)
            self.assertEqual(watch.next(timeout=10).changes, {"/lamp.level": 2.0})

    def test_it_comes_back_by_itself_after_the_daemon_was_killed(self):
        live = []
        with self.client.watch("/lamp.level", on_live=live.append) as watch:
            next(watch)
            self.client.set("/lamp.level", 7.0)
            self.assertEqual(next(watch).changes, {"/lamp.level": 7.0})
            self.daemon.kill()
            self.assertIsNone(watch.next(timeout=0.2))
            self.assertFalse(watch.is_live)
            self.daemon.start()
            self.client.set("/lamp.level", 8.0)
            deadline = time.monotonic() + 30
            while watch.values["/lamp.level"] != 8.0 and time.monotonic() < deadline:
                watch.next(timeout=1)
            self.assertEqual(watch.values["/lamp.level"], 8.0)
        self.assertEqual(live, [False, True])

    def test_it_continues_from_a_position(self):
        with self.client.watch("/lamp.level") as watch:
            next(watch)
            position = watch.position
        self.client.set("/lamp.level", 5.0)
        with self.client.watch("/lamp.level", since=position) as watch:
            update = next(watch)
        self.assertEqual((update.initial, update.changes), (False, {"/lamp.level": 5.0}))

    def test_a_removed_node_ends_its_subscription(self):
        with self.client.watch("/lamp/shade.angle") as watch:
            next(watch)
            self.client.remove("/lamp/shade")
            with self.assertRaises(agd.Ended) as caught:
                while True:
                    watch.next(timeout=10)
            self.assertEqual(caught.exception.code, "removed")

    def test_structure_and_invalidations_are_events_of_their_own(self):
        with self.client.watch("/**", events=["structure", "invalidate"]) as watch:
            self.client.apply({"agd": 1, "nodes": [{"id": "door", "state": {"isOpen": False}}]})
            structure = next(e for e in watch if isinstance(e, agd.Structure))
            self.assertIn("/door", structure.added)

    def test_displayed_values_are_those_of_the_daemons_frames(self):
        animations = [
            "bouncy", "smooth(duration: 0.2)", "easeInOut(duration: 0.2)", "circularEaseOut(duration: 0.15)",
            "spring(mass: 1, stiffness: 400, damping: 60)", "easeIn(duration: 0.1).repeatCount(3)",
            "easeIn(duration: 0.1).repeatCount(3, autoreverses: reverse).delay(0.05)",
            "bouncy.speed(3).repeatCount(2)", "linear(duration: 0.1).delay(0.05).speed(2).repeatCount(2)",
            "keyframes(linear(0.3, duration: 0.1), cubic(1.2, duration: 0.1), spring(1, duration: 0.1, spring: bouncy))",
            "phases(phase(1.2, animation: easeOut(duration: 0.1)), phase(1, animation: snappy(duration: 0.2)))",
            "interpolatingSpring(stiffness: 300, damping: 20, initialVelocity: 3)",
            "easeOut(duration: 0.2).retarget(additive)", "easeOut(duration: 0.2).retarget(chain)",
        ]  # fmt: skip
        compared = 0
        with self.client.watch("/lamp.level", frames=240, events=["update"]) as watch:
            running = None
            for round_, animation in enumerate(animations):
                # Each begins while the one before may still run, so that they are retargeted as well.
                self.client.set("/lamp.level", float(10 * (round_ % 2) + round_ + 1), animation=animation)
                seen = 0
                while seen < 12:
                    event = watch.next(timeout=2)
                    if event is None:
                        break
                    if isinstance(event, agd.Update):
                        running = event.details["/lamp.level"]
                    elif isinstance(event, agd.Frames) and running and running.timeline:
                        shown = event.values["/lamp.level"]
                        mine = running.displayed(event.time)
                        self.assertAlmostEqual(shown, mine, delta=1e-9, msg=f"{animation} at {event.time}")
                        seen += 1
                        compared += 1
        self.assertGreater(compared, 100)


if __name__ == "__main__":
    unittest.main()
