/** The examples of README.md, run against a real daemon. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import * as agd from '../node.js'
import { Daemon, PROGRAMS, ROOT } from './daemon.js'

const AsyncFunction = (async () => {}).constructor

it('every example of the page runs as it stands', async () => {
  const daemon = await Daemon.start()
  process.env.AGD_SOCKET = daemon.socket
  try {
    execFileSync(join(PROGRAMS, 'agctl'), ['apply', '-f', join(ROOT, 'Examples/podcast.yaml')])
    const page = readFileSync(join(ROOT, 'clients/javascript/README.md'), 'utf8')
    const examples = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map((match) => match[1])
    assert.equal(examples.length, 6)
    const code = examples.join('')
      .replace(/^import .*$/m, '')
      // The loop over a subscription has no end.
      .replace('for (const [path', 'watch.close(); for (const [path')
    const lines = []
    await new AsyncFunction('connect', 'now', 'console', code)(agd.connect, agd.now, { log: (...parts) => lines.push(parts) })
    const shown = lines.find(([, path]) => path === '/podcaster/player/playButton.symbol')
    assert.equal(shown?.[2], 'pause.circle')
    const client = agd.connect()
    assert.equal(await client.get('/feeder.isAlive'), false)
    assert.equal(Math.min(...(await client.history('/fan.speed')).least), 0.5)
    await client.close()
  } finally {
    await daemon.stop()
  }
})
