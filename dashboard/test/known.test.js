/** The page says what it knows: while the daemon hangs or is away, and of values that are no plain numbers. */

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { CHROMIUM, PANELS, sleep, until, useBrowser } from './browser.js'

const scene = `agd: 1
nodes:
  - id: k
    component: Cards
    children:
      - id: row
        component: Cards
        children:
          - { id: line, state: { x: 5.0 }, containerValues: { panel: { kind: line, value: x, title: Line, window: 60 } } }
          - { id: level, state: { x: { initial: 5.0, history: 10m } }, containerValues: { panel: { kind: sparkline, value: x, title: Level, warn: 50, critical: 80 } } }
          - { id: lamp, state: { x: false }, containerValues: { panel: { kind: toggle, value: x, title: Lamp } } }
          - { id: knob, state: { x: 20 }, containerValues: { panel: { kind: slider, value: x, title: Knob } } }
          - { id: count, state: { x: 1 }, containerValues: { panel: { kind: stepper, value: x, title: Count } } }
          - id: odd
            kind: group
            state: { none: { type: "double?", initial: null }, list: [1, 2], zero: 0.0, word: constructor }
            children:
              - { id: gauge, let: { x: $none }, containerValues: { panel: { kind: gauge, value: x, title: Gauge } } }
              - { id: bar, let: { x: $none }, containerValues: { panel: { kind: bar, value: x, title: Bar } } }
              - { id: slider, let: { x: $none }, containerValues: { panel: { kind: slider, value: x, title: Slider } } }
              - { id: spark, let: { x: $none }, containerValues: { panel: { kind: sparkline, value: x, title: Spark } } }
              - { id: toggle, binding: { x: $list }, containerValues: { panel: { kind: toggle, value: x, title: Toggle } } }
              - { id: full, let: { zero: $zero }, computed: { x: 1.0 / zero }, containerValues: { panel: { kind: bar, value: x, title: Full } } }
              - { id: status, let: { x: $word }, containerValues: { panel: { kind: status, value: x, title: Word } } }
              - { id: kind, let: { x: $list }, containerValues: { panel: { kind: constructor, value: x, title: Kind } } }
`

describe('what the page knows', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page
  const connection = (text) => `document.getElementById('connection').textContent === '${text}'`
  const context = (path) => `textOf('${path}', '.context')`
  const line = `card('/k/row/line.x').querySelector('svg path:last-of-type').getAttribute('d')`

  useBrowser([PANELS], { scene }, (on) => ({ site, browser } = on))

  before(async () => {
    page = await browser.open(site.url)
    await page.until(`card('/k/row/odd/kind.x') && ${connection('live')}`)
  })

  test('null is no error, a list in a toggle is not off, and an infinite number is no empty bar', async () => {
    for (const kind of ['gauge', 'bar', 'slider', 'spark']) {
      assert.equal(await page.run(`textOf('/k/row/odd/${kind}.x')`), '–', kind)
      assert.equal(await page.run(`card('/k/row/odd/${kind}.x').querySelector('.failure')`), null, kind)
    }
    const bar = (name) => page.run(`(() => {
      const fill = card('/k/row/odd/${name}.x').querySelector('.bar > i')
      return getComputedStyle(fill).visibility === 'visible' && fill.getBoundingClientRect().width / fill.parentElement.getBoundingClientRect().width
    })()`)
    assert.equal(await bar('bar'), false)
    assert.equal(await bar('full'), 1)
    assert.equal(await page.run(`card('/k/row/odd/bar.x').querySelector('[role=meter]').hasAttribute('aria-valuenow')`), false)
    assert.equal(await page.run(`textOf('/k/row/odd/toggle.x', '.failure')`), 'A toggle needs a bool, not a list.')
    assert.equal(await page.run(context('/k/row/odd/toggle.x')), '')
    // Names that every object of JavaScript has.
    assert.equal(await page.run(`textOf('/k/row/odd/status.x')`), '○Constructor')
    assert.equal(await page.run(`textOf('/k/row/odd/kind.x', '.failure')`), 'There is no card of the kind "constructor".')
    assert.deepEqual(page.faults, [])
  })

  test('a value keeps its number of decimals', async () => {
    const shown = []
    for (const value of [9.5, 100, 9, 250.25]) {
      await site.client.set('/k/row/line.x', value)
      await page.until(`textOf('/k/row/line.x').startsWith('${Math.trunc(value)}')`)
      shown.push(await page.run(`textOf('/k/row/line.x')`))
    }
    assert.deepEqual(shown, ['9.5', '100.0', '9.0', '250.3'])
    assert.equal(await page.run(context('/k/row/line.x')), '5.0 to 250.3')
  })

  test('a value has the decimals of its recorded past', async () => {
    for (const value of [4.5, 6]) await site.client.set('/k/row/level.x', value)
    const other = await browser.open(site.url)
    await other.until(`textOf('/k/row/level.x') === '6.0' && ${context('/k/row/level.x')} === '4.5 to 6.0'`)
    await other.close()
  })

  test('a critical sample colours itself, and not what was before', async () => {
    await site.client.set('/k/row/level.x', 90)
    await page.until(`card('/k/row/level.x').dataset.status === 'critical'`)
    const stops = `[...card('/k/row/level.x').querySelectorAll('stop')]`
    // Before the sample is drawn, all levels are beyond the axis.
    await page.until(`${stops}[1].getAttribute('offset') < 1`)
    const found = await page.run(`${stops}.map((each) => [each.getAttribute('class'), Number(each.getAttribute('offset'))])`)
    assert.deepEqual(found.map(([name]) => name), ['level ok', 'level ok', 'level warn', 'level warn', 'level critical', 'level critical'])
    const offsets = found.map(([, at]) => at)
    assert.ok(offsets[1] === offsets[2] && offsets[2] < offsets[3] && offsets[3] === offsets[4], String(offsets))
    assert.equal(await page.run(`getComputedStyle(card('/k/row/level.x').querySelector('.now')).display`), 'inline')
    await site.client.set('/k/row/level.x', 5)
    await page.until(`getComputedStyle(card('/k/row/level.x').querySelector('.now')).display === 'none'`)
  })

  test('a dark board has dark cards on a light device', async () => {
    const ground = (part) => page.run(`getComputedStyle(${part}).backgroundColor`)
    assert.equal(await ground(`card('/k/row/lamp.x')`), 'rgb(255, 255, 255)')
    await site.client.set('/.colorScheme', 'dark')
    await page.until(`getComputedStyle(document.documentElement).colorScheme === 'dark'`)
    assert.equal(await ground('document.body'), 'rgb(14, 16, 19)')
    assert.equal(await ground(`card('/k/row/lamp.x')`), 'rgb(25, 28, 33)')
    assert.equal(await page.run(`getComputedStyle(board().querySelector('h2')).color`), 'rgb(236, 238, 241)')
    await site.client.set('/.colorScheme', 'light')
    await page.until(`getComputedStyle(card('/k/row/lamp.x')).backgroundColor === 'rgb(255, 255, 255)'`)
  })

  test('a refusal stays at its card until the user operates it again', async () => {
    const press = (path) => page.click(`card('${path}').querySelector('button')`)
    await page.refuseWrites()
    await press('/k/row/lamp.x')
    await page.until(`${context('/k/row/lamp.x')} === 'not now'`)
    assert.equal(await page.run(`card('/k/row/lamp.x').querySelector('.context').role`), 'alert')
    await page.allowWrites()
    // Neither another value nor time takes it away.
    await site.client.set('/k/row/lamp.x', true)
    await page.until(`card('/k/row/lamp.x').querySelector('button').ariaChecked === 'true'`)
    await sleep(1100)
    assert.equal(await page.run(context('/k/row/lamp.x')), 'not now')
    await press('/k/row/lamp.x')
    await page.until(`${context('/k/row/lamp.x')} === 'Off'`)
  })

  test('a daemon that hangs: ages, lines that end, and writes that say what is known of them', async () => {
    await site.client.set('/k/row/line.x', 7)
    await page.until(`textOf('/k/row/line.x') === '7.0'`)
    // The age counts from the last report, also of an equal value.
    await site.client.set('/k/row/knob.x', 20)
    await sleep(1200)
    site.daemon.kill('SIGSTOP')
    // Nobody knows yet, so the write is sent.
    await page.click(`card('/k/row/lamp.x').querySelector('button')`)
    await page.until(connection('no connection'), 10)
    await page.until(`/^outcome unknown: the daemon does not answer; the change may have happened, or may still happen · \\d+ s ago$/.test(${context('/k/row/lamp.x')})`)
    assert.equal(await page.run(`card('/k/row/lamp.x').querySelector('button').ariaChecked`), 'false')
    await page.until(`/^\\d+ s ago$/.test(${context('/k/row/line.x')})`)
    const age = async (path) => [...(await page.run(context(path))).matchAll(/(\d+) (s|min|h)/g)]
      .reduce((sum, [, count, unit]) => sum + Number(count) * { s: 1, min: 60, h: 3600 }[unit], 0)
    const [steady, silent] = [await age('/k/row/knob.x'), await age('/k/row/odd/status.x')]
    assert.ok(steady + 1 < silent, `${steady} s and ${silent} s ago`)
    // The line ends, and moves away from the right edge.
    await page.until(`(() => { const ends = ${line}.match(/[HLM][\\d.]+/g); return Number(ends.at(-1).slice(1)) < 0.96 })()`)
    // Now it is known, and nothing is sent.
    await page.click(`card('/k/row/count.x').querySelectorAll('button')[1]`)
    await page.until(`/^the daemon does not answer · /.test(${context('/k/row/count.x')})`)
    const late = await browser.open(site.url)
    await late.until(`${connection('no connection')} && board().querySelector('.empty').innerText === 'the daemon does not answer'`)
    site.daemon.kill('SIGCONT')
    await page.until(`${connection('live')} && card('/k/row/lamp.x').querySelector('button').ariaChecked === 'true'`)
    assert.match(await page.run(context('/k/row/lamp.x')), /^outcome unknown/)
    assert.equal(await site.client.get('/k/row/count.x'), 1)
    // What nobody measured is a gap, and the value that has not changed holds again.
    await late.until(`${connection('live')} && card('/k/row/lamp.x')`)
    // A page in the background draws nothing.
    await late.close()
    await page.until(`${line}.split('M').length === 3 && ${line}.includes('H1.0000')`)
    assert.deepEqual(page.faults, [])
  })

  test('a page that is opened while the daemon is away says so, and comes alive with it; a write says why it failed', async () => {
    await site.killDaemon()
    const late = await browser.open(site.url)
    await late.until(connection('no connection'))
    await late.until(`board().querySelector('.empty')?.innerText.startsWith('no daemon answers at ')`)
    const said = new Set()
    for (let i = 0; i < 10; i++) {
      said.add(await late.run(`document.getElementById('connection').textContent`))
      await sleep(150)
    }
    assert.deepEqual([...said], ['no connection'])
    await page.until(connection('no connection'))
    await page.click(`card('/k/row/lamp.x').querySelector('button')`)
    await page.until(`/^no daemon answers at .* · \\d+ s ago$/.test(${context('/k/row/lamp.x')})`)
    await site.startDaemon()
    await late.until(`${connection('live')} && card('/k/row/lamp.x')`)
    await page.until(connection('live'))
    assert.match(await page.run(context('/k/row/lamp.x')), /^no daemon answers at [^·]*$/)
    await until('the daemon has the value that the page shows', async () => (await site.client.get('/k/row/lamp.x')) === await page.run(`card('/k/row/lamp.x').querySelector('button').ariaChecked === 'true'`))
    await late.close()
  })
})
