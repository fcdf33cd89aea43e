/** The axis of time: the whole board at a moment of the past. */

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { CHROMIUM, PANELS, sleep, until, useBrowser } from './browser.js'

const scene = `
agd: 1
nodes:
  - id: home
    component: Cards
    let: { title: House }
    children:
      - { id: line, state: { x: { initial: 1.0, history: 10m } }, containerValues: { panel: { kind: line, value: x, title: Line, window: 20 } } }
      - { id: gauge, state: { x: 1.0 }, containerValues: { panel: { kind: gauge, value: x, title: Gauge, max: 10 } } }
      - { id: lamp, state: { x: false }, containerValues: { panel: { kind: toggle, value: x, title: Lamp } } }
      - { id: field, state: { x: "" }, containerValues: { panel: { kind: textField, value: x, title: Field } } }
      - { id: list, state: { x: [{ name: none }] }, containerValues: { panel: { kind: table, value: x, title: List } } }
      - { id: health, state: { status: ok }, containerValues: { panel: { kind: status, value: status, title: Health } } }
      - { id: sum, state: { x: 1.0 }, computed: { y: x * 2.0 }, containerValues: { panel: { kind: value, value: y, title: Sum } } }
      - id: door
        kind: group
        state: { isOpen: false }
        children: [{ if: isOpen, then: [{ id: guest, state: { x: 7 }, containerValues: { panel: { kind: value, value: x, title: Guest } } }] }]
`

describe('the axis of time', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  /** When each of the transactions was, in seconds since 1970. */
  const times = {}

  useBrowser([PANELS], { scene, hasPast: true }, (on) => ({ site, browser } = on))

  async function write(label, values) {
    await site.client.transact(Object.entries(values).map(([path, value]) => ({ op: 'set', path: `/home${path}`, value })), { label })
    times[label] = await until(`the archive has ${label}`, async () => {
      const { transactions } = await site.pastClient.call('log', { label, brief: true })
      return transactions.length > 0 && Date.parse(transactions[0].time) / 1000
    })
  }

  before(async () => {
    await write('one', {
      '/line.x': 5, '/gauge.x': 2, '/sum.x': 2, '/lamp.x': true, '/field.x': 'milk', '/list.x': [{ name: 'Ada' }], '/health.status': 'critical', '/door.isOpen': true,
    })
    await write('two', {
      '/line.x': 8, '/gauge.x': 3, '/sum.x': 3, '/lamp.x': false, '/field.x': 'bread', '/list.x': [{ name: 'Bob' }], '/health.status': 'ok', '/door.isOpen': false,
    })
  })

  const open = async (query = '') => {
    const page = await browser.open(`${site.url}${query}`, { width: 1280, height: 800 })
    await page.send('Emulation.setFocusEmulationEnabled', { enabled: true })
    await page.until(`card('/home/gauge.x') && !document.getElementById('clock').disabled`)
    return page
  }

  /** What the cards show. */
  const shown = (page) => page.run(`({
    line: textOf('/home/line.x'), gauge: textOf('/home/gauge.x'), lamp: textOf('/home/lamp.x', '.context'), field: card('/home/field.x').querySelector('textarea').value,
    list: textOf('/home/list.x', 'tbody'), health: textOf('/home/health.status')?.replace(/\\s+/g, ' '), sum: textOf('/home/sum.y'), guest: card('/home/door/guest.x') !== null,
  })`)
  const ONE = { line: '5', gauge: '2', lamp: 'On', field: 'milk', list: 'Ada', health: '◆Critical', sum: '4', guest: true }
  const TWO = { line: '8', gauge: '3', lamp: 'Off', field: 'bread', list: 'Bob', health: '●OK', sum: '6', guest: false }

  const mouse = (page, type, [x, y], buttons = 1) => page.send('Input.dispatchMouseEvent', { type, x, y, button: type === 'mouseMoved' && buttons === 0 ? 'none' : 'left', buttons, clickCount: 1 })

  /** Drags over an element whose width is so many seconds up to now. */
  async function drag(page, element, span, wall) {
    const { left, top, width, height } = await page.run(`(({ left, top, width, height }) => ({ left, top, width, height }))(${element}.getBoundingClientRect())`)
    const y = top + height / 2
    const place = () => [left + width * (1 - (Date.now() / 1000 - wall) / span), y]
    await mouse(page, 'mouseMoved', [left + width - 20, y], 0)
    await mouse(page, 'mousePressed', [left + width - 20, y])
    for (const part of [0.3, 0.7, 1]) {
      const [x] = place()
      await mouse(page, 'mouseMoved', [left + width - 20 + (x - left - width + 20) * part, y])
    }
    await mouse(page, 'mouseReleased', place())
  }

  test('a drag takes every card to what it was then, whatever happens meanwhile, and now comes back', async () => {
    const page = await open()
    assert.deepEqual(await shown(page), TWO)
    await page.click(`document.getElementById('clock')`)
    await page.until(`document.querySelector('.axis .deeds').getAttribute('d')`)
    const middle = (times.one + times.two) / 2
    await page.run(`document.querySelector('.axis .track').focus()`)
    for (let i = 0; i < 4; i++) await page.press('+')
    await drag(page, `document.querySelector('.axis .track')`, 300 / 16, middle)
    await page.until(`document.body.dataset.past === '' && textOf('/home/gauge.x') === '2'`)
    assert.deepEqual(await shown(page), ONE)
    assert.match(await page.run(`document.getElementById('connection').innerText`), / ago$/)
    const controls = await page.run(`[...board().querySelectorAll('.card :is(.switch, textarea)')].map((each) => [each.disabled, each.title])`)
    assert.ok(controls.length >= 2 && controls.every(([isDisabled, title]) => isDisabled && title.startsWith('This is the past')), JSON.stringify(controls))
    await page.until(`card('/home/line.x').querySelector('.cursor')`)

    await site.client.set('/home/line.x', 9)
    await site.client.set('/home/gauge.x', 4)
    await site.client.set('/home/list.x', [{ name: 'Eve' }])
    await page.until(`textOf('/home/line.x', '.context').endsWith(' 9')`)
    assert.deepEqual(await shown(page), ONE, 'the present draws its line, and changes nothing else')

    await page.press('Escape')
    await page.until(`!document.body.hasAttribute('data-past') && !card('/home/door/guest.x')`)
    assert.deepEqual(await shown(page), { ...TWO, line: '9', gauge: '4', list: 'Eve' })
    assert.ok(await page.run(`[...board().querySelectorAll('.card :is(.switch, textarea)')].every((each) => !each.disabled && !each.title)`))
    await page.until(`!card('/home/line.x').querySelector('.cursor') && !new URL(location).searchParams.has('t')`)
    assert.equal(await page.run(`document.getElementById('connection').innerText`), 'live')

    await page.run(`card('/home/line.x').scrollIntoView()`)
    await write('three', { '/gauge.x': 5 })
    await drag(page, `card('/home/line.x').querySelector('.chart')`, 20, times.three - 0.5)
    await page.until(`document.body.dataset.past === '' && textOf('/home/gauge.x') === '4'`)
    assert.deepEqual(page.faults, [])
    await page.close()
  })

  test('a link shows the moment, and keys go from change to change, each of which can be taken back', async () => {
    await write('four', { '/gauge.x': 6, '/lamp.x': true, '/sum.x': 9 })
    await write('five', { '/gauge.x': 7 })
    const page = await open(`?t=${new Date(((times.one + times.two) / 2) * 1000).toISOString()}`)
    await page.until(`textOf('/home/gauge.x') === '2'`)
    assert.deepEqual(await shown(page), ONE)
    await page.press('[')
    await page.until(`document.activeElement.matches('.axis .track')`)
    const slider = (await page.accessibility()).find(({ role, name }) => role === 'slider' && name === 'Moment')
    assert.ok(slider.value < 0 && slider.valuemax === 0, 'seconds before now')
    const said = () => page.run(`document.activeElement.getAttribute('aria-valuetext')`)
    assert.match(await said(), /^\d\d:\d\d:\d\d.*, \d+ .*ago$/)
    await page.press('End')
    await page.until(`textOf('/home/gauge.x') === '7'`)
    assert.equal(await said(), 'now')

    const tag = `document.querySelector('.deed')?.innerText.replace(/\\s+/g, ' ')`
    await page.press('ArrowLeft')
    await page.until(`${tag}.includes('gauge.x 6 → 7')`)
    assert.match(await page.run(tag), /^five · test .* revision \d+ /)
    await page.press('ArrowLeft')
    await page.until(`${tag}.includes('lamp.x No → Yes') && textOf('/home/gauge.x') === '6'`)
    await page.click(`card('/home/gauge.x').querySelector('h3 button, h3 a')`)
    await page.until(`board().querySelector('dialog[open]').innerText.includes('four')`)
    await page.press('Escape')
    await page.until(`!board().querySelector('dialog[open]')`)
    const press = (name) => page.click(`[...document.querySelectorAll('.deed button')].find((each) => each.innerText === '${name}')`)
    await press('Show all that changed')
    await page.until(`${tag}.includes('sum.y')`)
    await press('Undo')
    await page.until(`${tag}.includes('test has written since')`)
    assert.equal(await site.client.get('/home/gauge.x'), 7)
    await page.press('Escape')
    await page.until(`!document.body.hasAttribute('data-past')`)
    await page.run(`document.querySelector('.axis .track').focus()`)
    await page.press('ArrowLeft')
    await page.until(`${tag}.includes('gauge.x 6 → 7')`)
    await press('Undo')
    await page.until(`!document.body.hasAttribute('data-past') && textOf('/home/gauge.x') === '6'`)
    assert.equal(await site.client.get('/home/gauge.x'), 6)
    assert.deepEqual(page.faults, [])
    await page.close()
  })

  test('without agd-past there is no axis', async () => {
    const page = await open()
    await site.stopPast()
    await page.until(`document.getElementById('clock').disabled`)
    await page.press('[')
    await sleep(100)
    assert.equal(await page.run(`document.querySelector('.axis')`), null)
    assert.deepEqual(page.faults, [])
    await page.close()
  })
})
