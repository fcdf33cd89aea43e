/** Charts show the past that the daemon has recorded: at once, and after a break. */

import assert from 'node:assert/strict'
import { connect as connectTo, createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { History } from '../chart.js'
import { Browser, CHROMIUM, PANELS, Site, until } from './browser.js'

const scene = `
agd: 1
nodes:
  - id: p
    kind: group
    state: { x: { initial: 5.0, history: 10m } }
    children:
      - id: row
        component: Cards
        children:
          - { id: kept, let: { x: $x }, containerValues: { panel: { kind: line, value: x, title: Kept, window: 600 } } }
          - { id: spark, let: { y: $x }, containerValues: { panel: { kind: sparkline, value: y, title: Small, window: 600 } } }
          - { id: lost, state: { x: 5.0 }, containerValues: { panel: { kind: line, value: x, title: Lost, window: 600 } } }
          - { id: flat, state: { x: 0.0 }, containerValues: { panel: { kind: line, value: x, title: Flat, window: 600 } } }
          - { id: least, state: { x: 0.0 }, containerValues: { panel: { kind: line, value: x, title: Least, window: 600, min: 0 } } }
          - { id: mean, state: { x: 8.0 }, containerValues: { panel: { kind: line, value: x, title: Mean, window: 600 } } }
`

describe('the past of a line', () => {
  const line = (history, now) => history.path(now, [0, 10])
  const stretch = (time, low, high = low) => ({ time, low, high })
  const gaps = (history, now) => line(history, now).split('M').length - 2

  test('recorded values stand before the first sample', () => {
    const history = new History(10)
    history.add(4, 100)
    history.fill([stretch(97, 1), stretch(98, 1, 2), stretch(99, 2, 9), stretch(100, 4)], 1, 100)
    assert.equal(line(history, 100), 'M0.7000 0.9000H0.8000L0.9000 0.8000L1.0000 0.1000V0.6000')
    assert.deepEqual(history.range(100), [1, 9])
  })

  test('a gap is filled, samples of the page stay, and a gap of the record stays a gap', () => {
    const history = new History(100)
    history.add(1, 100)
    history.interrupt(101)
    history.add(2, 110)
    history.fill([stretch(99, 9), stretch(100, 9), stretch(101.5, 3), stretch(102.5, 4), stretch(108.5, 5), stretch(109.5, 6), stretch(110.5, 9)], 1, 111)
    assert.equal(gaps(history, 111), 1)
    assert.deepEqual(history.range(111), [1, 9], 'what is before the first sample is unknown as well')
    history.fill([stretch(101.5, 70)], 1, 112)
    assert.deepEqual(history.range(112), [1, 9], 'nothing is added where something is known')
  })

  test('a single stretch that is missing in the record is a gap', () => {
    const history = new History(100)
    history.add(1, 110)
    history.fill([stretch(106, 1), stretch(108, 1), stretch(109, 1)], 1, 110)
    assert.equal(gaps(history, 110), 1)
  })

  test('a gap that has not ended stays open', () => {
    const history = new History(100)
    history.add(1, 100)
    history.interrupt(101)
    history.fill([stretch(101.2, 3)], 1, 120)
    assert.doesNotMatch(line(history, 120), /H1\b/)
  })

  test('without a connection the line ends where it was lost, and never before the last sample', () => {
    const history = new History(100)
    history.add(1, 100)
    history.add(5, 101)
    line(history, 104)
    history.interrupt(102)
    assert.match(line(history, 150), /H0\.5200$/)
    history.add(5, 150)
    history.interrupt(149)
    assert.match(line(history, 160), /M0\.9000 0\.5000H0\.9000$/)
  })

  test('old samples leave the line and its range at the left edge', () => {
    const history = new History(60)
    for (let i = 0; i < 60; i++) history.add(i % 2 ? 3 : 90, 100 + i)
    history.add(50, 160)
    assert.deepEqual(history.range(161), [3, 90])
    assert.deepEqual(history.range(255), [50, 50])
    assert.match(line(history, 255), /^M0\.0000 -4\.0000(H[\d.]+)+$/)
    history.interrupt(256)
    assert.equal(history.range(400), null)
    assert.equal(line(history, 400), '')
  })

  test('stretches whose length has no exact form follow each other', () => {
    const history = new History(20)
    history.add(1, 81_237.1)
    for (let i = 1; i < 600; i++) history.range(81_237.1 + i / 7)
    assert.equal(gaps(history, 81_322), 0)
  })

  test('a line looks the same whether the page or the daemon has kept its past', () => {
    const [page, reload] = [new History(60), new History(60)]
    // The daemon records the least and the greatest value of each second, with the value that held at its beginning.
    const recorded = []
    let held = 0
    page.add(held, 100)
    page.fill([stretch(100, 0)], 1, 100)
    for (let second = 100; second < 150; second++) {
      const values = second % 10 < 6 ? [second % 7] : second % 10 === 8 ? [9, 2] : []
      values.forEach((value, i) => page.add(value, second + 0.3 + i * 0.3))
      recorded.push(stretch(second, Math.min(held, ...values), Math.max(held, ...values)))
      held = values.at(-1) ?? held
    }
    reload.add(held, 150)
    reload.fill(recorded, 1, 150)
    assert.equal(line(reload, 150), line(page, 150))
    assert.ok(line(page, 150).split('L').length > 20)
  })
})

/** Passes bytes on until it is blocked. Connections stay open then, as if the network were away. */
class Proxy {
  static async start(port) {
    const proxy = new Proxy()
    proxy.sockets = []
    proxy.server = createServer((near) => {
      const far = connectTo(port, '127.0.0.1')
      proxy.sockets.push(near, far)
      for (const [from, to] of [[near, far], [far, near]]) {
        from.on('data', (bytes) => proxy.isBlocked || to.write(bytes))
        from.on('close', () => proxy.isBlocked || to.destroy())
        from.on('error', () => to.destroy())
      }
    })
    await new Promise((resolve) => proxy.server.listen(0, '127.0.0.1', resolve))
    proxy.port = proxy.server.address().port
    return proxy
  }

  /** What was sent meanwhile is lost, as connections are after a minute. */
  unblock() {
    for (const each of this.sockets) each.destroy()
    this.isBlocked = false
  }

  stop() {
    this.unblock()
    this.server.close()
  }
}

describe('charts', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page
  let proxy

  /** Writes a value, and waits until the daemon has recorded a whole stretch with it alone. */
  async function record(value) {
    await site.client.set('/p.x', value)
    await until(`${value} is recorded`, async () => {
      const { least, greatest } = await site.client.history('/p.x')
      return least.some((each, i) => each === value && greatest[i] === value && i < least.length - 1)
    })
  }

  before(async () => {
    site = await Site.start([PANELS], { scene })
    for (const value of [2, 9, 4]) await record(value)
    browser = await Browser.start()
    proxy = await Proxy.start(site.port)
    page = await browser.open(`http://127.0.0.1:${proxy.port}/`)
    await page.until(`card('/p/row/least.x')`)
  })

  after(async () => {
    await browser?.stop()
    proxy?.stop()
    await site?.stop()
  })

  const context = (path) => `textOf('${path}', '.context')`
  const lines = (path) => `card('${path}').querySelector('svg path:last-of-type').getAttribute('d')`

  test('a page that is opened for the first time draws the past at once', async () => {
    await page.until(`${context('/p/row/kept.x')} === '2 to 9'`)
    await page.until(`${context('/p/row/spark.y')} === '2 to 9'`)
    assert.equal(await page.run(context('/p/row/lost.x')), '')
    // The line begins before the page was opened.
    await page.until(`(1 - Number(/^M([\\d.]+)/.exec(${lines('/p/row/kept.x')})[1])) * 600 > performance.now() / 1000`)
  })

  test('ends of an axis suit a constant value', async () => {
    const ends = (path) => page.run(`[...card('${path}').querySelectorAll('.end')].map((each) => each.innerText)`)
    assert.deepEqual(await ends('/p/row/flat.x'), ['1', '0'])
    assert.deepEqual(await ends('/p/row/least.x'), ['1', '0'])
    assert.deepEqual(await ends('/p/row/mean.x'), ['12', '4'])
  })

  test('the network gone for a minute: each card tells its age, and on return charts fill the gap', async () => {
    proxy.isBlocked = true
    await page.until(`document.getElementById('connection').textContent === 'no connection'`)
    for (const value of [70, 3]) {
      await site.client.set('/p/row/lost.x', value)
      await record(value)
    }
    // The page's clock goes on by a minute.
    await page.run(`(() => { const before = performance.now.bind(performance); window.nowBefore = performance.now; performance.now = () => before() + 60000 })()`)
    await page.until(`/^\\d+ min\\b.* ago$/.test(${context('/p/row/kept.x')})`)
    assert.ok(await page.run(`[...board().querySelectorAll('.card')].every((each) => / ago$/.test(each.querySelector('.context').innerText))`))
    await page.run(`performance.now = nowBefore`)
    proxy.unblock()
    await page.until(`document.getElementById('connection').textContent === 'live'`)
    await page.until(`${context('/p/row/kept.x')} === '2 to 70'`)
    await page.until(`${context('/p/row/spark.y')} === '2 to 70'`)
    // Without a record, the gap stays a gap.
    await page.until(`${context('/p/row/lost.x')} === '3 to 5'`)
    await page.until(`${lines('/p/row/lost.x')}.split('M').length === 3 && ${lines('/p/row/kept.x')}.split('M').length === 2`)
    assert.deepEqual(page.faults, [])
  })
})
