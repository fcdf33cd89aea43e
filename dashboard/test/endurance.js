/**
 * 10,000 attributes that change ten times a second, and a page that shows them: `make endurance`. The memory of the page
 * must not grow. Without Chromium it does nothing.
 */

import assert from 'node:assert/strict'
import { Browser, CHROMIUM, PANELS, Site, sleep } from './browser.js'

const COUNT = 10_000
const minutes = Number(process.argv[2] ?? 60)
const ROUNDS = 12

if (!CHROMIUM) {
  console.log('endurance: there is no Chromium')
  process.exit(0)
}

// One state moves all rules, so that the daemon is asked for one write and sends 10,000 values.
const scene = `
agd: 1
nodes:
  - id: load
    kind: container
    state: { tick: 0, items: [] }
    children:
      - id: many
        forEach: { in: $items, id: self, as: n, node: { kind: view, let: { tick: $tick, n: =int(n) }, computed: { x: (tick * 7 + n) % 101 },
          containerValues: { panel: { kind: sparkline, value: x } } } }
`
const site = await Site.start([PANELS], { scene })
const browser = await Browser.start(['--js-flags=--expose-gc'])
try {
  for (let i = 1; i <= 10; i++) await site.client.set('/load.items', Array.from({ length: (COUNT / 10) * i }, (_, k) => k))
  const page = await browser.open(site.url)
  await page.until(`board()?.querySelectorAll('.card').length === 500`, 60)
  assert.match(await page.run(`board().querySelector('.empty').innerText`), /^\d+ more cards are not shown/)
  let isRunning = true
  let ticks = 0
  const writing = (async () => {
    while (isRunning) {
      const start = Date.now()
      await site.client.set('/load.tick', ++ticks)
      await sleep(Math.max(0, 100 - (Date.now() - start)))
    }
  })()
  const heaps = []
  for (let round = 0; round < ROUNDS; round++) {
    await sleep((minutes * 60_000) / ROUNDS)
    await page.send('HeapProfiler.collectGarbage')
    const { usedSize } = await page.send('Runtime.getHeapUsage')
    heaps.push(usedSize / 1e6)
    console.log(`endurance: ${ticks} ticks, the page has ${heaps.at(-1).toFixed(1)} MB`)
  }
  isRunning = false
  await writing
  await site.client.set('/load.tick', 0)
  const shown = await page.run(`[...board().querySelectorAll(".card")].map((each) => each.dataset.path).find((each) => each.endsWith(".x"))`)
  const expected = Number(shown.match(/(\d+)\.x$/)[1]) % 101
  await page.until(`textOf(${JSON.stringify(shown)}) === "${expected}"`, 60)
  assert.deepEqual(page.faults, [])
  const [early, late] = [Math.max(...heaps.slice(0, ROUNDS / 2)), Math.min(...heaps.slice(ROUNDS / 2))]
  assert.ok(late < early * 1.1 + 2, `the memory of the page has grown from ${early} to ${late} MB`)
  console.log('endurance: passed')
} finally {
  await browser.stop()
  await site.stop()
}
