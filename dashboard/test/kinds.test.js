/** Kinds of cards with modules of their own, units and languages. */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import english from '../english.js'
import { number, partOf, placeAt } from '../format.js'
import german from '../german.js'
import englishEditing from '../english-editing.js'
import germanEditing from '../german-editing.js'
import { CHROMIUM, PANELS, ROOT, until, useBrowser } from './browser.js'

test('a path is its attribute and the steps into its value, also with quoted ids', () => {
  const cases = {
    '/a.b': ['/a', 'b', '/a.b', []],
    '/.locale': ['/', 'locale', '/.locale', []],
    '/hosts/"web-01.example.com".load': ['/hosts/"web-01.example.com"', 'load', '/hosts/"web-01.example.com".load', []],
    '/hosts/"a.b".load.one': ['/hosts/"a.b"', 'load', '/hosts/"a.b".load', ['one']],
    '/a.b["k.l"][0]': ['/a', 'b', '/a.b', ['k.l', '0']],
    '/a.b[id="x.]y"].done': ['/a', 'b', '/a.b', [{ field: 'id', value: 'x.]y' }, 'done']],
    '/a/b': ['/a/b', '', '/a/b', []],
  }
  for (const [path, [node, name, attribute, steps]] of Object.entries(cases)) assert.deepEqual(placeAt(path), { node, name, attribute, steps })
  assert.equal(partOf({ 'k.l': [5] }, placeAt('/a.b["k.l"][0]').steps), 5)
  assert.equal(partOf([{ id: 'x', done: 1 }], placeAt('/a.b[id="x"].done').steps), 1)
  assert.equal(partOf([1, 2], ['length']), undefined)
})

test('a number is written in the unit that is shown', () => {
  assert.deepEqual(number(20, { unit: '°F', conversion: { factor: 1.8, offset: 32 }, locale: 'en' }), ['68', '°F'])
})

test('each language has the same words, and no module has words of its own', () => {
  const shape = (words) => Object.fromEntries(Object.entries(words).map(([name, each]) => [name, typeof each === 'object' ? shape(each) : typeof each]))
  assert.deepEqual(shape(german), shape(english))
  assert.deepEqual(shape(germanEditing), shape(englishEditing))
  const folder = join(ROOT, 'dashboard')
  const unused = new Set(Object.keys(english))
  for (const name of readdirSync(folder).filter((each) => /\.(js|html)$/.test(each) && !/^(english|german)/.test(each))) {
    const text = readFileSync(join(folder, name), 'utf8')
    for (const [all] of text.matchAll(/(make\('\w+', '[\w -]*', '[A-Z][a-z]+[^']*'\)|aria-label(', |=)['"][A-Z][^'"]*['"]|textContent = '[A-Z]\w+)/g)) assert.fail(`${name}: ${all}`)
    for (const [, word, named] of text.matchAll(/\bsays\.(\w+)|data-(?:says|label|hint|holder)="(\w+)"/g)) {
      assert.ok((word ?? named) in english, `${name}: ${word ?? named}`)
      unused.delete(word ?? named)
    }
  }
  assert.deepEqual([...unused], [])
})

const scene = `agd: 1
nodes:
  - id: far
    component: Cards
    environment: { units: us, locale: de_AT }
    children:
      - { id: heat, state: { target: 20.0 }, containerValues: { panel: { kind: thermostat, value: target, unit: °C, title: Heizung } } }
      - { id: wind, state: { x: 10.0, isOn: true }, containerValues: { panel: { kind: value, value: x, unit: km/h, title: Wind } } }
      - { id: lamp, state: { isOn: false }, containerValues: { panel: { kind: toggle, value: isOn, title: Lampe } } }
      - { id: web, kind: container, children: [{ id: "a.b", state: { plan: { most: 3 } }, containerValues: { panel: { kind: value, value: plan.most, title: Teil } } }] }
`

describe('kinds of cards', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page
  const at = (path, part) => `card('${path}').querySelector('${part}')`

  useBrowser([PANELS, join(ROOT, 'dashboard/test/every-card.yaml')], { scene }, (on) => ({ site, browser } = on))

  before(async () => {
    page = await browser.open(`${site.url}?root=/all`, { width: 1440, height: 1600 })
    await page.until(`${at('/all/written/heat.target', '.face')} && ${at('/all/written/light.isOn', 'input')} && ${at('/all/shown/note', 'h5')}`)
  })

  test('a light has a switch and a slider, which switches it on', async () => {
    const path = '/all/written/light.isOn'
    await page.until(`textOf('${path}').startsWith('60') && textOf('${path}', '.context') === 'On'`)
    await page.click(at(path, '.switch'))
    await until('the light is off', async () => (await site.client.get(path)) === false)
    await page.until(`textOf('${path}', '.context') === 'Off' && !card('${path}').classList.contains('is-on')`)
    await page.run(`(() => { const input = ${at(path, 'input')}; input.value = 30; input.dispatchEvent(new Event('input')); input.dispatchEvent(new Event('change')) })()`)
    await until('it is on', async () => (await site.client.get(path)) === true && (await site.client.get('/all/written/light.level')) === 30)
    await page.until(`textOf('${path}').startsWith('30') && ${at(path, '.switch')}.getAttribute('aria-checked') === 'true'`)
    assert.ok(await page.run(`${at(path, '.icon path')} !== null`), 'the icon')
  })

  test('a thermostat steps its target within its ends, and shows what it measures', async () => {
    const path = '/all/written/heat.target'
    await page.until(`${at(path, '.now-at')}.textContent === 'now 20 °C' && card('${path}').classList.contains('is-active')`)
    await page.click(`${at(path, '.step:last-child')}`)
    await until('the target has grown', async () => (await site.client.get(path)) === 22)
    await page.until(`textOf('${path}').startsWith('22') && ${at(path, '.now-at')}.textContent === 'now 20.5 °C'`)
    await site.client.set(path, 30)
    await page.until(`${at(path, '.step:last-child')}.disabled && !${at(path, '.step')}.disabled`)
    await page.click(at(path, '.switch'))
    await page.until(`card('${path}').classList.contains('is-off') && textOf('${path}', '.context') === 'Off'`)
    await site.client.set(path, 21.5)
  })

  test('values in a text are live, and HTML and addresses of scripts are text', async () => {
    const path = '/all/shown/note'
    assert.equal(await page.run(`${at(path, '.md')}.innerText.replace(/\\s+/g, ' ')`), 'It is 21.5 °C now at most 24 the lists')
    assert.match(await page.run(`${at(path, '.md a')}.href`), /root=%2Fall%2Fmany/)
    await site.client.set('/all/shown/note.x', 22.25)
    await page.until(`${at(path, 'strong')}.innerText === '22.3 °C'`)
    const drawn = await page.run(`import('./markdown.js').then(({ render }) => {
      const link = (address) => (address.startsWith('https') ? address : null)
      const box = document.createElement('div')
      box.append(...render('# A\\n<b>x</b> [bad](javascript:x) [good](https://e.org) \\\\{x} a_b_c\\n\\n1. one\\n2. two\\n   - in\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |\\n\\n> q\\n\\n---\\n~~~', { slot: () => null, link }))
      return box.innerHTML
    })`)
    assert.equal(drawn, '<h4>A</h4><p>&lt;b&gt;x&lt;/b&gt; <span>bad</span> <a href="https://e.org" target="_blank" rel="noopener">good</a> {x} a_b_c</p>' +
      '<ol><li>one</li><li>two<ul><li>in</li></ul></li></ol><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table><blockquote><p>q</p></blockquote><hr><p>~~~</p>')
  })

  test('a table has an order, bars and colours; a person chooses another order', async () => {
    const path = '/all/many/feed/bars.rows'
    const names = `[...${at(path, 'tbody')}.rows].map((row) => row.cells[0].innerText).join()`
    await page.until(`${names} === 'Photos,Backup,Music'`)
    const found = await page.run(`[...${at(path, 'tbody')}.rows].map((row) => [row.cells[1].style.getPropertyValue('--part'), row.cells[2].className, row.cells[3].innerText])`)
    assert.deepEqual(found[0], ['1.0000', 'figure is-critical in-bar', '◆ failed'])
    assert.equal(found[2][0], '0.1111')
    await page.run(`(() => { const button = ${at(path, 'thead th:first-child button')}; button.focus(); button.click() })()`)
    assert.equal(await page.run(names), 'Backup,Music,Photos')
    await page.run(`${at(path, 'thead th:first-child button')}.click()`)
    assert.equal(await page.run(names), 'Photos,Music,Backup')
    assert.equal(await page.run(`${at(path, 'thead th')}.getAttribute('aria-sort')`), 'descending')
    assert.equal(await page.run(`board().activeElement === ${at(path, 'thead th:first-child button')}`), true, 'the header keeps the focus')
  })

  test('a log shows levels in colours, and a filter finds lines', async () => {
    const path = '/all/shown/journal.x'
    const lines = `[...${at(path, '.log')}.children].filter((each) => !each.hidden).map((each) => each.lastChild.innerText).join()`
    await page.until(`${lines} === 'the pump runs,the tank is half empty,no water'`)
    assert.match(await page.run(`${at(path, 'li.is-critical b')}.innerText`), /◆ error/)
    const choose = (part, value) => page.run(`(() => { const field = ${at(path, part)}; field.value = '${value}'; field.dispatchEvent(new Event('input', { bubbles: true })) })()`)
    await choose('select', 'warn')
    assert.equal(await page.run(lines), 'the tank is half empty,no water')
    await choose('input', 'tank')
    assert.equal(await page.run(lines), 'the tank is half empty')
    await site.client.set(path, [{ level: 'debug', text: 'a tank' }, { level: 'alert', text: 'tank empty' }])
    await page.until(`${lines} === 'tank empty'`)
    assert.equal(await page.run(`${at('/all/shown/log.x', '.sieve')}`), null, 'a short log has no filter')
    assert.deepEqual(page.faults, [])
  })

  test('a board has the units and the language of its environment', async () => {
    const other = await browser.open(`${site.url}?root=/far`)
    await other.until(`textOf('/far/heat.target')?.startsWith('68') && textOf('/far/wind.x')?.startsWith('6,2')`)
    assert.match(await other.run(`textOf('/far/wind.x')`), /mph/)
    assert.equal(await other.run(`textOf('/far/lamp.isOn', '.context')`), 'Aus')
    assert.equal(await other.run(`document.documentElement.lang + document.getElementById('find').getAttribute('aria-label')`), 'deSuchen')
    // A part of a value below a quoted id.
    await other.until(`textOf('/far/web/"a.b".plan.most') === '3'`)
    // Whole degrees Fahrenheit.
    await other.click(`card('/far/heat.target').querySelector('.step:last-child')`)
    await other.until(`textOf('/far/heat.target').startsWith('69')`)
    await other.click(`card('/far/wind.x').querySelector('h3 a')`)
    await other.until(`[...board().querySelectorAll('dialog[open] .block h3')].some((each) => each.textContent === 'Warum es so ist')`)
    await other.press('Escape')
    // Another choice at once.
    await site.client.apply('agd: 1\nnodes: [{ id: far, environment: { units: null, locale: en_GB } }]', { mode: 'merge' })
    await other.until(`textOf('/far/heat.target').startsWith('20.6') && textOf('/far/lamp.isOn', '.context') === 'Off' && document.documentElement.lang === 'en'`)
    assert.deepEqual(other.faults, [])
    await other.close()
  })

  test('everything fits on a phone, and has names for screen readers', async () => {
    await page.emulate({ width: 360, height: 2400 })
    assert.ok((await page.run('document.documentElement.scrollWidth')) <= 360)
    const tree = await page.accessibility()
    for (const [role, name] of [['switch', 'A light'], ['slider', 'A light: level'], ['button', 'A thermostat: more'], ['searchbox', 'Filter A journal']]) {
      assert.ok(tree.some((each) => each.role === role && each.name === name), `${role} ${name}`)
    }
  })
})
