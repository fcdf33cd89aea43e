/** The client for Node against a real daemon. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { connect, ConnectionLost, Ended, PARAMETERS, Refused, TimedOut, Unreachable, Update } from '../node.js'
import { connect as connectToGateway } from '../gateway.js'
import { HARMLESS } from '../requests.js'
import { Daemon } from './daemon.js'

/** The next event, within ten seconds. */
async function next(watch) {
  let timer
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error('no event came')), 10_000)))
  try {
    return (await Promise.race([watch.next(), late])).value
  } finally {
    clearTimeout(timer)
  }
}

describe('requests', () => {
  let daemon
  let client
  before(async () => {
    daemon = await Daemon.start()
    client = connect({ path: daemon.socket, name: 'tests' })
  })
  after(async () => {
    await client.close()
    await daemon.stop()
  })

  it('a client that acts for a principal has only its rights, and nothing if it may not act', async () => {
    // There are no access lines, so the principal has no rights.
    for (const [as, code] of [['web', 'denied'], ['no name', 'invalid']]) {
      const other = connect({ path: daemon.socket, as })
      for (const _ of [1, 2]) await assert.rejects(other.get('/lamp.isOn'), (error) => error.code === code)
      await assert.rejects(next(other.watch('/lamp.isOn')), (error) => error.code === code)
      await other.close()
    }
  })

  it('the recorded past ends with the present', async () => {
    await client.set('/lamp.level', 0.05)
    const { times, least, greatest } = await client.history('/lamp.level')
    assert.equal(Math.min(...least), 0.05)
    assert.equal(times.length, greatest.length)
    assert.ok(new Date(times.at(-1)) < new Date())
  })

  it('a refusal carries a hint', async () => {
    await assert.rejects(client.set('/lamp.isOm', true), (error) => error.hint.includes('isOn'))
  })

  it('requests that are not waited for share a connection', async () => {
    await Promise.all(Array.from({ length: 100 }, (_, i) => client.set('/values.whole', i)))
    assert.equal(await client.get('/values.whole'), 99)
    assert.equal((await client.stats()).clients, 1)
  })

  it('without a daemon it says where it looked', async () => {
    const lost = connect({ path: '/nowhere/agd.sock' })
    await assert.rejects(lost.ping(), (error) => error instanceof Unreachable && error.message.includes('/nowhere'))
  })

  it("the table of parameters is the daemon's own", async () => {
    const { methods } = await client.describe()
    const described = Object.fromEntries(methods.map((m) => [m.name, m.params.map((p) => p.name).sort()]))
    const known = Object.fromEntries(Object.entries(PARAMETERS).map(([name, names]) => [name, [...names].sort()]))
    assert.deepEqual(known, described)
  })

  it('requests that are repeated without an identifier change nothing of the graph', async () => {
    const { methods } = await client.describe()
    for (const method of methods.filter(({ name }) => HARMLESS.has(name) && name !== 'onDisconnect')) {
      assert.ok([undefined, 'read', 'admin'].includes(method['x-needs']?.right), method.name)
      assert.ok(!PARAMETERS[method.name].includes('once'), method.name)
    }
  })

  it('a client that was closed can be used again at once', async () => {
    const other = connect({ path: daemon.socket })
    for (let round = 0; round < 20; round++) {
      await other.ping()
      await other.close()
    }
    await other.ping()
    await other.close()
  })
})

describe('with retry', () => {
  let daemon
  before(async () => (daemon = await Daemon.start()))
  after(() => daemon.stop())

  it('every addition is performed once although the daemon is killed again and again', async () => {
    const clients = [1, 2, 3].map(() => connect({ path: daemon.socket, retry: 60_000 }))
    const added = Promise.all(clients.map(async (client) => {
      for (let i = 0; i < 300; i++) await client.add('/values.whole', 1)
    }))
    for (const wanted of [50, 250, 450, 650]) {
      await clients[0].waitFor('/values.whole', (value) => value > wanted, { timeout: 60_000 })
      await daemon.kill()
      await daemon.start()
    }
    await added
    assert.equal(await clients[0].get('/values.whole'), 7 + 3 * 300)
    for (const client of clients) await client.close()
  })

  it('a request that waits for the daemon ends when the client is closed', async () => {
    const client = connect({ path: '/nowhere/agd.sock', retry: 60_000 })
    const failed = assert.rejects(client.ping(), (error) => error instanceof ConnectionLost && error.message === 'the client was closed')
    const closing = setInterval(() => client.close(), 1)
    await failed
    clearInterval(closing)
  })

  it('a time below zero is refused', () => {
    for (const make of [connect, connectToGateway]) assert.throws(() => make({ url: 'http://localhost/', retry: -1 }), /retry is 0 or more milliseconds/)
  })

  it('a watch waits for the daemon as requests do', async () => {
    await daemon.kill()
    await assert.rejects(next(connect({ path: daemon.socket, retry: 200 }).watch('/lamp.level')),
      (error) => error instanceof Unreachable && /^gave up 'subscribe \/lamp.level' after .* attempts/.test(error.message))
    const watch = connect({ path: daemon.socket, retry: 60_000 }).watch('/lamp.level')
    const first = next(watch)
    await daemon.start()
    assert.deepEqual((await first).changes, { '/lamp.level': 1 })
    watch.close()
  })

  it('a watch of a daemon that does not answer ends when it is closed, and fails after the timeout', async () => {
    daemon.process.kill('SIGSTOP')
    try {
      const watch = connect({ path: daemon.socket }).watch('/lamp.level')
      const first = watch.next()
      setTimeout(() => watch.close(), 10)
      assert.deepEqual(await first, { value: undefined, done: true })
      await assert.rejects(next(connect({ path: daemon.socket, timeout: 50 }).watch('/lamp.level')), (error) => error instanceof TimedOut)
      await assert.rejects(connect({ path: daemon.socket }).waitFor('/lamp.level', () => true, { timeout: 50 }),
        (error) => error instanceof TimedOut && error.message === 'waited 0.05 s for /lamp.level; no value came; the connection is lost')
    } finally {
      daemon.process.kill('SIGCONT')
    }
  })

  it('a page adds once although the daemon behind the gateway is killed', async () => {
    const page = connectToGateway({ url: `${await daemon.startGateway()}/`, retry: 60_000 })
    const before = await page.get('/values.whole')
    let last
    for (let round = 0; round < 3; round++) {
      const added = Promise.all(Array.from({ length: 20 }, () => page.add('/values.whole', 1)))
      await daemon.kill()
      await daemon.start()
      await added
      last = await page.get('/values.whole')
    }
    assert.equal(last, before + 60)
    await page.close()
  })
})

describe('watching', () => {
  let daemon
  let client
  before(async () => {
    daemon = await Daemon.start()
    client = connect({ path: daemon.socket })
  })
  after(async () => {
    await client.close()
    await daemon.stop()
  })

  it('begins with the values as they are and goes on with each transaction', async () => {
    const watch = client.watch('/lamp.*')
    const first = await next(watch)
    assert.ok(first instanceof Update && first.initial)
    assert.equal(first.changes['/lamp.level'], 1)
    await client.set('/lamp.level', 4, { label: 'up' })
    const update = await next(watch)
    assert.deepEqual(update.changes, { '/lamp.level': 4, '/lamp.half': 2 })
    assert.equal(update.label, 'up')
    assert.equal(watch.values['/lamp.half'], 2)
    watch.close()
  })

  it('tells with reports when a value was last reported, though it has not changed', async () => {
    await client.set('/lamp.level', 4)
    const watch = client.watch('/lamp.half', { reports: true })
    const { reported } = (await next(watch)).details.get('/lamp.half')
    await client.set('/lamp.level', 4)
    const again = (await next(watch)).details.get('/lamp.half')
    assert.equal(again.value, 2)
    assert.ok(again.reported > reported, `${again.reported} after ${reported}`)
    watch.close()
  })

  it("displayed values are those of the daemon's frames", async () => {
    const animations = [
      'bouncy', 'easeInOut(duration: 0.2)', 'circularEaseOut(duration: 0.15)', 'easeIn(duration: 0.1).repeatCount(3)',
      'easeIn(duration: 0.1).repeatCount(3, autoreverses: reverse).delay(0.05)', 'bouncy.speed(3).repeatCount(2)',
      'linear(duration: 0.1).delay(0.05).speed(2).repeatCount(2)',
      'keyframes(linear(0.3, duration: 0.1), cubic(1.2, duration: 0.1), spring(1, duration: 0.1, spring: bouncy))',
      'phases(phase(1.2, animation: easeOut(duration: 0.1)), phase(1, animation: snappy(duration: 0.2)))',
      'interpolatingSpring(stiffness: 300, damping: 20, initialVelocity: 3)',
      'easeOut(duration: 0.2).retarget(additive)', 'easeOut(duration: 0.2).retarget(chain)',
    ]
    const watch = client.watch('/lamp.level', { frames: { rate: 240 }, events: ['update'] })
    await next(watch)
    let compared = 0
    let running = null
    for (const [round, animation] of animations.entries()) {
      // Each begins while the one before may still run, so that they are retargeted as well.
      await client.set('/lamp.level', 10 * (round % 2) + round + 5, { animation })
      for (let seen = 0; seen < 10; ) {
        const event = await next(watch)
        if (event instanceof Update) {
          running = event.details.get('/lamp.level')
        } else if (event.method === 'frames' && running?.timeline) {
          const shown = event.values['/lamp.level']
          const mine = running.displayed(event.time)
          assert.ok(Math.abs(shown - mine) < 1e-9, `${animation} at ${event.time}: ${mine}, not ${shown}`)
          seen += 1
          compared += 1
        }
      }
    }
    assert.ok(compared > 100)
    watch.close()
  })

  it('a removed node ends its subscription', async () => {
    const watch = client.watch('/lamp/shade.angle')
    await next(watch)
    await client.remove('/lamp/shade')
    await assert.rejects(async () => {
      for (;;) await next(watch)
    }, (error) => error instanceof Ended && error.code === 'removed')
  })

  it('mutations for the disconnect are performed', async () => {
    const feeder = connect({ path: daemon.socket })
    await feeder.onDisconnect([{ op: 'set', path: '/feeder.isAlive', value: false }], { label: 'gone' })
    await feeder.set('/feeder.isAlive', true)
    const watch = client.watch('/feeder.isAlive')
    assert.deepEqual((await next(watch)).changes, { '/feeder.isAlive': true })
    await feeder.close()
    const update = await next(watch)
    assert.deepEqual([update.changes, update.label], [{ '/feeder.isAlive': false }, 'gone'])
    watch.close()
  })

  it('comes back by itself after the daemon was killed', async () => {
    const live = []
    const watch = client.watch('/lamp.level', { onLive: (isLive) => live.push(isLive) })
    await next(watch)
    await daemon.kill()
    const pending = next(watch)
    await daemon.start()
    await client.set('/lamp.level', 8)
    await pending
    while (watch.values['/lamp.level'] !== 8) await next(watch)
    assert.deepEqual(live, [false, true])
    watch.close()
  })
})

describe('the client for browsers', () => {
  it('a change whose outcome is unknown was not refused, and neither was one that did not reach the gateway', async () => {
    const error = { code: -32000, message: 'outcome unknown: the daemon does not answer', data: { code: 'unavailable' } }
    const server = createServer((_, response) => response.writeHead(200).end(JSON.stringify({ id: 1, error }))).listen(0)
    await once(server, 'listening')
    const client = connectToGateway({ url: `http://127.0.0.1:${server.address().port}/` })
    await assert.rejects(client.set('/lamp.level', 1), (error) => error instanceof ConnectionLost && error.message.startsWith('outcome unknown'))
    error.message = 'no daemon answers'
    await assert.rejects(client.set('/lamp.level', 1), (error) => error instanceof Refused && error.code === 'unavailable')
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    await assert.rejects(client.set('/lamp.level', 1), (error) => error instanceof ConnectionLost)
  })

  it('says which server answered if it was not the gateway', async () => {
    const server = createServer((_, response) => response.writeHead(502).end('<h1>Bad Gateway</h1>')).listen(0)
    await once(server, 'listening')
    const client = connectToGateway({ url: `http://127.0.0.1:${server.address().port}/` })
    await assert.rejects(client.ping(), (error) => error instanceof ConnectionLost && error.message.endsWith('502 Bad Gateway'))
    server.close()
  })
})
