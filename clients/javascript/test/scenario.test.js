/** The steps that all clients take. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { it } from 'node:test'
import { AttributeFailed, connect, ConnectionLost, Refused, TimedOut, Unreachable } from '../node.js'
import { connect as connectToGateway } from '../gateway.js'
import { Daemon, SCENARIO } from './daemon.js'

const ERRORS = { lost: ConnectionLost, unreachable: Unreachable, timedOut: TimedOut }
const STEPS = JSON.parse(readFileSync(join(SCENARIO, 'steps.json'), 'utf8'))

function comparable(value) {
  if (value instanceof AttributeFailed) return { fails: value.code }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, comparable(each)]))
}

/** The program in front of the daemon that breaks connections. */
class Breaker {
  static async start(daemon) {
    const breaker = new Breaker()
    breaker.socket = join(daemon.folder, 'breaker.sock')
    breaker.program = spawn('python3', [join(SCENARIO, 'breaker.py'), breaker.socket, daemon.socket], { stdio: ['pipe', 'pipe', 'inherit'] })
    breaker.lines = createInterface(breaker.program.stdout)[Symbol.asyncIterator]()
    await breaker.lines.next()
    return breaker
  }

  async arm(when) {
    this.program.stdin.write(`${when}\n`)
    await this.lines.next()
  }

  async stop() {
    this.program.stdin.end()
    await once(this.program, 'exit')
  }
}

function perform(client, step) {
  if (step.call === 'waitFor') {
    return client.waitFor(...step.arguments, (value) => value === step.until, { timeout: (step.seconds ?? 30) * 1000 })
  }
  return client[step.call](...step.arguments, step.bindings ? { bindings: step.bindings } : step.options)
}

async function judge(performed, step) {
  if (step.fails) {
    await assert.rejects(performed, (error) => {
      assert.ok(error instanceof (ERRORS[step.fails] ?? Refused), String(error))
      if (!ERRORS[step.fails]) assert.equal(error.code, step.fails)
      for (const text of step.says ?? []) assert.ok(error.message.includes(text), error.message)
      return true
    })
    return
  }
  const result = await performed
  if ('returns' in step) assert.deepEqual(comparable(result), step.returns)
  for (const [name, value] of Object.entries(step.includes ?? {})) assert.deepEqual(result[name], value)
}

async function verify(client, step) {
  for (const [path, value] of Object.entries(step.then ?? {})) assert.deepEqual(await client.get(path), value)
}

it('every step of the scenario leads where it should', async (t) => {
  const daemon = await Daemon.start()
  const breaker = await Breaker.start(daemon)
  const made = []
  const clients = {}
  const make = (step, retry) => {
    const client = connect({ path: 'breaks' in step ? breaker.socket : daemon.socket, retry })
    made.push(client)
    return client
  }
  const clientOf = (step) => {
    if ('retry' in step) return make(step, step.retry === null ? null : step.retry * 1000)
    return (clients[step.by ?? ('breaks' in step ? 'breaker' : 'main')] ??= make(step, 30_000))
  }
  try {
    for (const step of STEPS) {
      await t.test(step.does, async () => {
        const client = clientOf(step)
        if (step.breaks) await breaker.arm(step.breaks)
        if (step.daemon === 'kill') await daemon.kill()
        const judged = judge(perform(client, step), step)
        judged.catch(() => {})
        if (step.daemon === 'restart') await daemon.kill()
        if (['start', 'restart'].includes(step.daemon)) await daemon.start()
        if (step.meanwhile) await perform(clients.main, step.meanwhile)
        await judged
        if (step.call === 'close') delete clients[step.by]
        await verify(clients.main, step)
      })
    }
  } finally {
    for (const client of made) await client.close()
    await breaker.stop()
    await daemon.stop()
  }
})

it('the steps also lead there through a gateway, as pages go', async (t) => {
  const daemon = await Daemon.start()
  try {
    const page = connectToGateway({ url: `${await daemon.startGateway()}/`, retry: 30_000 })
    // Pages have no connection of their own: it cannot be broken, and nothing can be left for its end.
    const last = STEPS.findIndex((step) => step.breaks)
    for (const step of STEPS.slice(0, last)) {
      await t.test(step.does, async () => {
        const judged = judge(perform(page, step), step)
        judged.catch(() => {})
        if (step.meanwhile) await perform(page, step.meanwhile)
        await judged
        await verify(page, step)
      })
    }
    await page.close()
  } finally {
    await daemon.stop()
  }
})
