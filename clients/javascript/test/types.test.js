/** The package and its types, as programs and bundlers see them. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { after, test } from 'node:test'

const CLIENT = fileURLToPath(new URL('..', import.meta.url))
const TSC = '/usr/bin/tsc'
const folder = mkdtempSync(join(tmpdir(), 'agd-types-'))
mkdirSync(join(folder, 'node_modules'))
symlinkSync(CLIENT, join(folder, 'node_modules/agd'))
after(() => rmSync(folder, { recursive: true }))

function run(program, words) {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: folder, encoding: 'utf8', timeout: 120_000 })
  return status === 0 ? '' : stdout + stderr
}

test('a program imports each module of the package by its name', () => {
  writeFileSync(join(folder, 'all.mjs'), `
    import { connect } from 'agd'
    import { connect as connectPage } from 'agd/gateway.js'
    import { Timeline } from 'agd/timeline.js'
    if (![connect, connectPage, Timeline].every((each) => typeof each === 'function')) throw new Error('not there')
  `)
  assert.equal(run(process.execPath, ['all.mjs']), '')
})

test('the watch loops pass a strict type checker', { skip: existsSync(TSC) ? false : 'there is no tsc' }, () => {
  const page = readFileSync(join(CLIENT, 'README.md'), 'utf8')
  const [, loop] = /```js\n(const watch = [\s\S]*?)```/.exec(page)
  const results = (left) => `import { connect } from 'agd'
    const client = connect({ retry: 30_000 })
    const added: number = await client.add('/a.b', 1, { once: 'x' })
    const speed: number = await client.waitFor('/a.b', (value: number) => value > 1, { timeout: 5000 })
    const left: ${left} = await client.onDisconnect([])
    console.log(added, speed, left)`
  const files = {
    'node.mts': `import { connect, now } from 'agd'\nconst client = connect()\n${loop}`,
    'page.mts': `import { connect } from 'agd/gateway.js'\nconst now = () => 0\nconst client = connect({ url: 'http://localhost:7210/' })\n${loop}`,
    'results.mts': results('number | null'),
    'other.mts': `import { connect } from 'agd'\nfor await (const event of connect().watch('/a', { events: ['structure'] })) console.log(event.details.size)`,
    'wrong.mts': results('number'),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  // One run for all, because it reads the types of the language and of pages each time.
  const said = run(TSC, [
    '--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--module', 'node16', '--moduleResolution', 'node16', ...Object.keys(files),
  ])
  const faults = said.split('\n').filter((line) => /^\S/.test(line)).map((line) => line.replace(/\(.*error (TS\d+).*/, ' $1'))
  assert.deepEqual(faults, ['other.mts TS2571', 'wrong.mts TS2322'], said)
})
