"""The client for asyncio against a real daemon."""

import asyncio
import json
import unittest

import agd

from .daemon import Daemon


class AsyncTests(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.stop)

    async def test_requests_of_many_tasks_share_a_connection(self):
        async with agd.AsyncClient(self.daemon.socket) as client:
            await asyncio.gather(*(client.set("/values.whole", i) for i in range(100)))
            found = await asyncio.gather(*(client.get("/values.whole") for _ in range(100)))
            self.assertEqual(set(found), {99})
            self.assertEqual((await client.stats())["clients"], 1)

    async def test_a_client_that_may_not_act_for_its_principal_does_nothing(self):
        for principal, code in (("web", "denied"), ("no name", "invalid")):
            async with agd.AsyncClient(self.daemon.socket, principal=principal) as client:
                for _ in range(2):
                    with self.assertRaises(agd.Refused) as refused:
                        await client.get("/lamp.isOn")
                    self.assertEqual(refused.exception.code, code)
                with self.assertRaises(agd.Refused):
                    await client.watch("/lamp.isOn").__anext__()

    async def test_a_transaction_is_committed_at_the_end_of_its_block(self):
        async with agd.AsyncClient(self.daemon.socket) as client:
            async with client.transact() as t:
                t.set("/values.whole", 1).add("/values.whole", 4)
            self.assertEqual(await client.get("/values.whole"), 5)
            with self.assertRaises(agd.Refused):
                async with client.transact() as t:
                    t.set("/values.whole", "many")

    async def test_a_watch_comes_back_by_itself_after_the_daemon_was_killed(self):
        live = []
        async with agd.AsyncClient(self.daemon.socket) as client:
            async with client.watch("/lamp.level", on_live=live.append) as watch:
                self.assertTrue((await watch.__anext__()).initial)
                await client.set("/lamp.level", 7.0)
                self.assertEqual((await watch.__anext__()).changes, {"/lamp.level": 7.0})
                self.daemon.kill()
                with self.assertRaises(agd.AgdError):
                    await client.set("/lamp.level", 9.0)
                pending = asyncio.ensure_future(watch.__anext__())
                await asyncio.to_thread(self.daemon.start)
                await client.set("/lamp.level", 8.0)
                await asyncio.wait_for(pending, 30)
                while watch.values["/lamp.level"] != 8.0:
                    await asyncio.wait_for(watch.__anext__(), 30)
        self.assertEqual(live, [False, True])

    async def test_a_watch_with_reports_hears_of_equal_values(self):
        async with agd.AsyncClient(self.daemon.socket) as client:
            async with client.watch("/lamp.half", reports=True) as watch:
                first = (await watch.__anext__()).details["/lamp.half"]
                await client.set("/lamp.level", await client.get("/lamp.level"))
                again = (await asyncio.wait_for(watch.__anext__(), 10)).details["/lamp.half"]
                self.assertEqual(again.value, first.value)
                self.assertGreater(again.reported, first.reported)

    async def test_mutations_for_the_disconnect_are_left_again_after_a_break(self):
        async with agd.AsyncClient(self.daemon.socket) as observer:
            feeder = agd.AsyncClient(self.daemon.socket)
            async with feeder.on_disconnect() as t:
                t.set("/feeder.isAlive", False)
            self.daemon.kill()
            await asyncio.to_thread(self.daemon.start)
            await feeder.set("/feeder.isAlive", True)
            async with observer.watch("/feeder.isAlive") as watch:
                self.assertEqual((await watch.__anext__()).changes, {"/feeder.isAlive": True})
                # As a crash would end it: the client does not say goodbye.
                feeder._streams[1].transport.abort()
                update = await asyncio.wait_for(watch.__anext__(), 30)
            self.assertEqual(update.changes, {"/feeder.isAlive": False})
            await feeder.close()

    async def test_a_daemon_that_answers_nothing_times_out(self):
        async def mute(reader, writer):
            await reader.read()
            writer.close()

        path = str(self.daemon.folder / "mute.sock")
        server = await asyncio.start_unix_server(mute, path)
        async with agd.AsyncClient(path, timeout=0.05) as client:
            with self.assertRaises(agd.TimedOut):
                await client.ping()
        server.close()

    async def test_a_request_that_is_cancelled_while_it_connects_leaves_no_connection_without_a_greeting(self):
        methods, heard = [], asyncio.Event()

        async def mute(reader, writer):
            while line := await reader.readline():
                methods.append(json.loads(line)["method"])
                heard.set()
            writer.close()

        path = str(self.daemon.folder / "mute.sock")
        server = await asyncio.start_unix_server(mute, path)
        async with agd.AsyncClient(path, principal="web", timeout=0.05) as client:
            first = asyncio.ensure_future(client.ping())
            await heard.wait()
            first.cancel()
            with self.assertRaises(agd.TimedOut):
                await client.ping()
        self.assertEqual(methods, ["hello", "hello"])
        server.close()


if __name__ == "__main__":
    unittest.main()
