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

  test('recorded values stand before the first sample', () => {
    const history = new History(10)
    history.add(4, 100)
    history.fill([stretch(97, 1), stretch(98, 2), stretch(99, 3, 9), stretch(100, 4)], 1, 100)
    assert.equal(line(history, 100), 'M0.7000 0.9000L0.8000 0.8000L0.9000 0.7000V0.1000L1.0000 0.6000H1')
    assert.deepEqual(history.range, [1, 9])
  })

  test('a gap is filled, samples of the page stay, and a gap of the record stays a gap', () => {
    const history = new History(100)
    history.add(1, 100)
    history.interrupt(101)
    history.add(2, 110)
    history.fill([stretch(99, 9), stretch(100, 9), stretch(101.5, 3), stretch(102.5, 4), stretch(108.5, 5), stretch(109.5, 6), stretch(110.5, 9)], 1, 111)
    const gaps = line(history, 111).split('M').length - 2
    assert.equal(gaps, 1)
    assert.deepEqual(history.range, [1, 9], 'what is before the first sample is unknown as well')
    history.fill([stretch(101.5, 70)], 1, 112)
    assert.deepEqual(history.range, [1, 9], 'nothing is added where something is known')
  })

  test('a gap that has not ended stays open', () => {
    const history = new History(100)
    history.add(1, 100)
    history.interrupt(101)
    history.fill([stretch(101.2, 3)], 1, 120)
    assert.doesNotMatch(line(history, 120), /H1$/)
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
    assert.equal(await page.run(context('/p/row/lost.x')), '3 to 5', 'without a record, the gap stays a gap')
    await page.until(`${lines('/p/row/lost.x')}.split('M').length === 3 && ${lines('/p/row/kept.x')}.split('M').length === 2`)
    assert.deepEqual(page.faults, [])
  })
})
