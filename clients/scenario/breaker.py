"""A daemon whose connections break, for the tests of the clients.

usage: breaker.py SOCKET DAEMON

It listens on SOCKET and passes all lines on to the daemon at the socket DAEMON and back. Each line of its standard
input arms it once; it repeats the line when it is armed. The next request that is no `hello` then breaks its
connection: after `before`, the daemon does not get the request; after `after`, the daemon performs it, and the client
does not get the answer. It ends at the end of its standard input.
"""

import asyncio
import json
import sys

armed = []


async def take(reader, writer):
    try:
        from_daemon, to_daemon = await asyncio.open_unix_connection(sys.argv[2])
    except OSError:
        writer.close()
        return
    doomed = set()

    async def pass_back():
        while line := await from_daemon.readline():
            if json.loads(line).get("id") in doomed:
                return
            writer.write(line)

    async def pass_on():
        while line := await reader.readline():
            request = json.loads(line)
            if armed and request["method"] != "hello":
                if armed.pop() == "before":
                    return
                doomed.add(request["id"])
            to_daemon.write(line)

    ways = [asyncio.ensure_future(way()) for way in (pass_back, pass_on)]
    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    for way in ways:
        way.cancel()
    writer.close()
    to_daemon.close()


async def main():
    server = await asyncio.start_unix_server(take, sys.argv[1], limit=1 << 24)
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while line := (await loop.run_in_executor(None, sys.stdin.readline)).strip():
        armed.append(line)
        print(line, flush=True)
    server.close()


asyncio.run(main())
