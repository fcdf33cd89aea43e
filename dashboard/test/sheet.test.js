/** A card opens into a sheet. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeEach, describe, test } from 'node:test'
import { CHROMIUM, PANELS, ROOT, until, useBrowser } from './browser.js'

const AGCTL = join(process.env.AGD_PROGRAMS ?? join(ROOT, '.build/debug'), 'agctl')
const scene = `agd: 1
nodes:
  - id: s
    component: Cards
    let: { title: Sheets }
    children:
      - id: row
        component: Cards
        containerValues: { panel: { title: A row } }
        children:
          - id: pump
            state: { level: { initial: 20.0, history: 1h } }
            computed: { half: level / 2.0 }
            containerValues: { panel: { kind: slider, value: level, title: Level, unit: "%" } }
          - { id: twice, let: { level: $/s/row/pump.level }, computed: { x: double(level) * 2.0 }, containerValues: { panel: { kind: gauge, value: x, title: Twice } } }
          - { id: lamp, state: { isOn: false }, containerValues: { panel: { kind: toggle, value: isOn, title: Lamp } } }
          - { id: name, state: { x: "it's -- fern" }, containerValues: { panel: { kind: value, value: x, title: Name } } }
          - { id: both, state: { a: 1.0, b: 2.0 }, containerValues: { panel: { kind: line, values: [a, b], title: Both } } }
          - id: list
            state: { items: [{ id: a, n: 1 }] }
            containerValues: { panel: { kind: table, title: Things, columns: [n] } }
            children:
              - { id: many, forEach: { in: $items, as: item, node: { kind: view, computed: { n: int(item.n) } } } }
          - { id: broken, computed: { x: 1 / 0 }, containerValues: { panel: { kind: value, value: x, title: Broken } } }
          - { id: call, actions: { it: { set: { '/s/row/lamp.isOn': true } } }, containerValues: { panel: { kind: button, value: it, title: Call } } }
`

describe('the sheet of a card', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page

  useBrowser([PANELS], { scene }, (on) => ({ site, browser } = on))

  beforeEach(async () => {
    await page?.close()
    page = await browser.open(site.url, { width: 1280, height: 800 })
    await page.until(`card('/s/row/call.it')`)
    await page.run(`
      window.sheet = () => board().querySelector('dialog[open]')
      window.block = (title) => [...sheet().querySelectorAll('.block')].find((each) => each.querySelector('h3')?.textContent === title)
      window.shownCard = (heading) => [...sheet().querySelectorAll('.card')].find((each) => each.querySelector('h3').textContent === heading)`)
  })

  const open = async (path) => {
    await page.click(`card('${path}').querySelector('h3 a')`)
    await page.until(`sheet()?.querySelector('.block code, .rows, .failure') && sheet().getAnimations().length === 0`)
  }
  const close = async () => {
    await page.press('Escape')
    await page.until(`!sheet()`)
  }

  test('it shows the value in large, figures, who wrote it and why, and its readers', async () => {
    await site.client.set('/s/row/pump.level', 40, { label: 'watering' })
    await open('/s/row/pump.level')
    assert.equal(await page.run(`sheet().querySelector('h2').textContent + sheet().querySelector('.path').textContent`), 'Level/s/row/pump.level')
    await page.until(`shownCard('Value').querySelector('.value').innerText.startsWith('40')`)
    await page.until(`/Changed by\\s+test \\(process.*Label\\s+watering/s.test(block('Why it is so').innerText)`)
    // The daemon has recorded what was before the page was opened.
    await page.until(`/Level\\s+40 %\\s+20 %\\s+[\\d.]+ %\\s+40 %/.test(block('Figures').innerText)`)
    assert.match(await page.run(`block('Readers').innerText`), /Half\s+\/s\/row\/pump/)
    assert.equal(await page.run(`block('Inputs')?.checkVisibility() ?? false`), false)
    // It goes on with the value.
    await site.client.set('/s/row/pump.level', 50, { label: 'again' })
    await page.until(`shownCard('Value').querySelector('.value').innerText.startsWith('50') && /Label\\s+again/.test(block('Why it is so').innerText)`)
    await page.until(`/Level\\s+50 %\\s+20 %\\s+[\\d.]+ %\\s+50 %/.test(block('Figures').innerText)`)
    await close()
    assert.deepEqual(page.faults, [])
  })

  test('it opens and closes with the keyboard, keeps the focus inside, and gives it back', async () => {
    await page.run(`card('/s/row/lamp.isOn').querySelector('h3 a').focus()`)
    await page.press('Enter')
    await page.until(`sheet()?.querySelector('.block code')`)
    const places = new Set()
    for (let i = 0; i < 40; i++) {
      await page.press('Tab')
      places.add(await page.run(`(() => { const at = board().activeElement; return at === null || document.activeElement === document.body ? 'page' : sheet().contains(at) ? at.outerHTML.slice(0, 60) : 'board' })()`))
    }
    assert.ok(!places.has('board'), [...places].join('\n'))
    assert.ok([...places].some((each) => each.includes('Close')) && [...places].some((each) => each.includes('Copy')) && places.size > 6, [...places].join('\n'))
    await close()
    assert.equal(await page.run(`board().activeElement === card('/s/row/lamp.isOn').querySelector('h3 a')`), true)
    assert.deepEqual(page.faults, [])
  })

  test('it comes from its card by transform and opacity alone, and with less motion it fades', async () => {
    await page.run(`(() => {
      window.asked = []
      const before = Element.prototype.animate
      Element.prototype.animate = function (frames, options) {
        if (this.localName === 'dialog') asked.push([options.pseudoElement ?? '', [...new Set(frames.flatMap(Object.keys))].sort().join(), options.duration, options.easing])
        return before.call(this, frames, options)
      }
    })()`)
    const easing = 'cubic-bezier(0.2, 0, 0, 1)'
    await open('/s/row/lamp.isOn')
    await close()
    assert.deepEqual(await page.run(`asked`), [
      ['', 'opacity,transform', 200, easing], ['::backdrop', 'opacity', 200, easing], ['', 'opacity,transform', 160, easing], ['::backdrop', 'opacity', 160, easing],
    ])
    await page.emulate({ width: 1280, height: 800, isMotionReduced: true })
    await page.until(`matchMedia('(prefers-reduced-motion: reduce)').matches`)
    await page.run(`asked.length = 0`)
    await open('/s/row/lamp.isOn')
    assert.deepEqual(await page.run(`asked.map(([place, names, duration]) => [place, names, duration])`), [['', 'opacity', 100], ['::backdrop', 'opacity', 100]])
    // A second Escape waits for nothing.
    await page.press('Escape')
    await page.press('Escape')
    await page.until(`!sheet()`)
    assert.deepEqual(page.faults, [])
  })

  test('its control writes, and says why if it is refused', async () => {
    await open('/s/row/lamp.isOn')
    await page.click(`shownCard('Change').querySelector('button[role=switch]')`)
    await until('the lamp is on', async () => (await site.client.get('/s/row/lamp.isOn')) === true)
    await page.until(`shownCard('Value').querySelector('.value').innerText === 'On' && block('Figures').innerText.includes('Off')`)
    await page.refuseWrites()
    await page.click(`shownCard('Change').querySelector('button[role=switch]')`)
    await page.until(`shownCard('Change').querySelector('.context').innerText.includes('not now')`)
    await page.allowWrites()
    // A state whose card only shows it has a field here.
    await close()
    await open('/s/row/name.x')
    await page.run(`(() => { const field = shownCard('Change').querySelector('textarea'); field.focus(); field.select() })()`)
    await page.send('Input.insertText', { text: 'oak' })
    await page.press('Enter')
    await until('the name is written', async () => (await site.client.get('/s/row/name.x')) === 'oak')
    await site.client.set('/s/row/name.x', "it's -- fern")
    assert.deepEqual(page.faults, [])
  })

  test('one walks to inputs and readers and back, also to what is not on the board', async () => {
    await open('/s/row/twice.x')
    const go = (title, text) => page.run(`[...block('${title}').querySelectorAll('button')].find((each) => each.innerText.includes('${text}')).click()`)
    const at = (path) => page.until(`sheet().querySelector('.path').textContent === '${path}' && sheet().querySelector('.block code')`)
    await go('Inputs', 'Level')
    await at('/s/row/twice.level')
    await page.until(`block('Inputs')?.checkVisibility()`)
    await go('Inputs', '/s/row/pump')
    await at('/s/row/pump.level')
    assert.equal(await page.run(`sheet().querySelector('h2').textContent`), 'Level')
    assert.equal(await page.run(`board().activeElement === sheet().querySelector('h2')`), true, 'the focus goes along')
    await page.click(`sheet().querySelector('[aria-label="Back to /s/row/twice.level"]')`)
    await at('/s/row/twice.level')
    await page.click(`sheet().querySelector('[aria-label^="Back to"]')`)
    await at('/s/row/twice.x')
    assert.equal(await page.run(`sheet().querySelector('[aria-label^="Back to"]')`), null)
    await close()
    assert.deepEqual(page.faults, [])
  })

  test('an attribute outside of the board is live in the sheet', async () => {
    await site.client.apply('agd: 1\nnodes: [{ id: own, children: [{ id: view, let: { level: $/s/row/pump.level }, computed: { z: double(level) + 1.0 } }] }]')
    const other = await browser.open(`${site.url}?root=/own/view`, { width: 1280, height: 800 })
    await other.until(`card('/own/view.z')`)
    await other.run(`window.sheet = () => board().querySelector('dialog[open]'); window.named = (text) => [...sheet().querySelectorAll('.walk button')].find((each) => each.querySelector('span').textContent === text)`)
    await other.click(`card('/own/view.z').querySelector('h3 a')`)
    await other.until(`named('/own/view')`)
    await other.run(`named('/own/view').click()`)
    await other.until(`named('/s/row/pump')`)
    await other.run(`named('/s/row/pump').click()`)
    await other.until(`sheet().querySelector('.path').textContent === '/s/row/pump.level' && sheet().querySelector('.value')`)
    await site.client.set('/s/row/pump.level', 33)
    await other.until(`sheet().querySelector('.value').innerText.startsWith('33')`)
    await other.until(`/Now[^]*33/.test(sheet().innerText)`)
    await site.client.set('/s/row/pump.level', 34)
    await other.until(`sheet().querySelector('.value').innerText.startsWith('34')`)
    // Its page of the board goes on.
    await other.press('Escape')
    await other.until(`!sheet() && textOf('/own/view.z') === '35'`)
    assert.deepEqual(other.faults, [])
    await other.close()
    await page.send('Page.bringToFront')
    await site.client.remove('/own')
  })

  test('another range shows more of the same past', async () => {
    await open('/s/row/pump.level')
    const ranges = await page.run(`[...sheet().querySelectorAll('[role=radiogroup][aria-label=Range] label')].map((each) => each.innerText)`)
    assert.deepEqual(ranges, ['1 min', '5 min', '10 min', '1 h'], 'as far as the record reaches')
    await page.click(`sheet().querySelector('[aria-label=Range] label:nth-child(4) input')`)
    await page.until(`shownCard('Value').querySelector('table.unseen caption')?.textContent === 'Level, last 1 h'`)
    await site.client.set('/s/row/pump.level', 61)
    await page.until(`shownCard('Value').querySelector('.value').innerText.startsWith('61')`)
    await page.click(`sheet().querySelector('[aria-label=Range] label:nth-child(1) input')`)
    await page.until(`shownCard('Value').querySelector('table.unseen caption')?.textContent === 'Level, last 1 min' && /61/.test(block('Figures').innerText)`)
    // The values of the whole time as a table, for everybody.
    await page.click(`sheet().querySelector('summary')`)
    await page.until(`sheet().querySelectorAll('details table tbody tr').length === 24 && sheet().querySelector('details td').innerText.includes('61')`)
    assert.deepEqual(page.faults, [])
  })

  test('commands can be copied, and do what they say', async () => {
    await browser.send('Browser.grantPermissions', { permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite'], origin: new URL(site.url).origin })
    for (const [path, value, mark] of [['/s/row/pump.level', 12.5, '12.5'], ['/s/row/name.x', "it's -- fern", 'fern'], ['/s/row/name.x', '12', '--string 12'], ['/s/row/name.x', '-x y', '-x y'], ['/s/row/lamp.isOn', true, 'true']]) {
      await open(path)
      await site.client.set(path, value)
      await page.until(`[...sheet().querySelectorAll('code')].some((each) => each.innerText.startsWith('agctl set') && each.innerText.includes('${mark}'))`)
      const command = await page.run(`[...sheet().querySelectorAll('code')].find((each) => each.innerText.startsWith('agctl set')).innerText`)
      await page.click(`[...sheet().querySelectorAll('.command')].find((each) => each.innerText.startsWith('agctl set')).querySelector('button')`)
      await page.until(`[...sheet().querySelectorAll('.command button')].some((each) => each.innerText === 'Copied')`)
      assert.equal(await page.run(`navigator.clipboard.readText()`), command)
      await site.client.set(path, typeof value === 'string' ? 'other' : typeof value === 'number' ? 0 : false)
      const { status, stderr } = spawnSync('sh', ['-c', command.replace(/^agctl/, '"$0"'), AGCTL], { env: { ...process.env, AGD_SOCKET: site.socket }, encoding: 'utf8' })
      assert.equal(status, 0, `${command}: ${stderr}`)
      assert.deepEqual(await site.client.get(path), value)
      await close()
    }
    await open('/s/row/call.it')
    assert.equal(await page.run(`[...sheet().querySelectorAll('code')].map((each) => each.innerText).join()`), 'agctl do /s/row/call.it')
    await close()
    await site.client.set('/s/row/name.x', "it's -- fern")
  })

  test('several values, a table and a failure have their sheets', async () => {
    await open('/s/row/both.a')
    await page.until(`shownCard('Value').querySelectorAll('.legend li').length === 2`)
    await page.until(`[...block('Figures').querySelectorAll('tbody tr')].map((each) => each.cells[0].innerText + each.cells[1].innerText).join() === 'A1,B2'`)
    await page.run(`block('Values').querySelectorAll('button')[1].click()`)
    await page.until(`sheet().querySelector('.path').textContent === '/s/row/both.b' && block('Why it is so')?.checkVisibility()`)
    await close()
    await page.click(`card('/s/row/list').querySelector('h3 a')`)
    await page.until(`sheet()?.querySelectorAll('.card tbody tr').length === 1`)
    await site.client.set('/s/row/list.items', [{ id: 'a', n: 1 }, { id: 'b', n: 7 }])
    await page.until(`sheet().querySelectorAll('.card tbody tr').length === 2 && sheet().querySelector('.card tbody').innerText.includes('7')`)
    await close()
    await page.click(`card('/s/row/broken.x').querySelector('h3 a')`)
    await page.until(`sheet()?.querySelector('.failure')?.innerText === 'division by zero' && block('Why it is so')?.innerText.includes('division by zero')`)
    await close()
    assert.deepEqual(page.faults, [])
  })

  test('headings are in order, each part has a name, and on a phone nothing is cut off', async () => {
    for (const [width, height] of [[360, 740], [390, 844], [1280, 800], [2560, 1440]]) {
      await page.emulate({ width, height })
      await open('/s/row/pump.level')
      const levels = await page.run(`[...sheet().querySelectorAll('h1, h2, h3, h4')].map((each) => Number(each.localName[1]))`)
      assert.ok(levels[0] === 2 && levels.every((each, i) => i === 0 || each <= levels[i - 1] + 1), levels.join())
      const found = await page.run(`(() => {
        const { left, right, top, bottom } = sheet().getBoundingClientRect()
        const small = [...sheet().querySelectorAll('button, summary, .segments label input')].filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 43.5).map((each) => each.outerHTML)
        return { isInside: left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight, isWide: sheet().scrollWidth > sheet().clientWidth, small }
      })()`)
      assert.deepEqual(found, { isInside: true, isWide: false, small: [] }, `${width}`)
      await close()
    }
    await open('/s/row/pump.level')
    const tree = await page.accessibility()
    const has = (role, name) => tree.some((each) => each.role === role && each.name === name)
    for (const [role, name] of [['dialog', 'Level'], ['heading', 'Level'], ['heading', 'Why it is so'], ['button', 'Close'], ['slider', 'Level: moment'], ['slider', 'Level'], ['radiogroup', 'Range']]) {
      assert.ok(has(role, name), `${role} ${name}`)
    }
    assert.ok(tree.some(({ role, name }) => role === 'table' && /^Level, last/.test(name)), 'a table behind the chart')
    await close()
  })

  test('Escape takes the moment of a chart away before it closes the sheet', async () => {
    await open('/s/row/pump.level')
    await page.run(`shownCard('Value').querySelector('.plot').focus()`)
    await until('the keys are heard', async () => {
      await page.press('ArrowLeft')
      return page.run(`shownCard('Value').querySelector('.tag') !== null`)
    })
    await page.press('Escape')
    await page.until(`!shownCard('Value').querySelector('.tag')`)
    assert.equal(await page.run(`Boolean(sheet())`), true)
    await close()
  })

  test('the title still leads to the inspector, in another tab', async () => {
    assert.match(await page.run(`card('/s/row/pump.level').querySelector('h3 a').href`), /inspect\?path=/)
    await open('/s/row/pump.level')
    assert.match(await page.run(`[...block('Why it is so').querySelectorAll('a')].find((each) => each.innerText === 'Show in the inspector').href`), /inspect\?path=%2Fs%2Frow%2Fpump\.level/)
    await close()
  })

  test('a sheet stays while the board around it changes, and shows the newest value', async () => {
    await open('/s/row/twice.x')
    await site.client.apply('agd: 1\nnodes: [{ id: new, state: { x: 1 } }]', { at: '/s' })
    await page.until(`card('/s/new.x')`)
    await site.client.set('/s/row/pump.level', 21)
    await page.until(`shownCard('Value').querySelector('.value').innerText.startsWith('42')`)
    await site.client.remove('/s/new')
    await close()
    assert.deepEqual(page.faults, [])
  })
})
