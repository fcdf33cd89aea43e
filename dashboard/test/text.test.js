/** Texts and numbers of every length and direction. */

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { member, number } from '../format.js'
import { CHROMIUM, PANELS, until, useBrowser } from './browser.js'

const scene = `agd: 1
nodes:
  - id: all
    component: Cards
    children:
      - id: row
        component: Cards
        children:
          - id: texts
            state: { lines: "one\\ntwo", arabic: "مرحبا (5)!", word: ${'x'.repeat(3000)} }
          - { id: prose, let: { x: "مرحبا (5)!" }, containerValues: { panel: { kind: text, value: x } } }
          - id: picker
            state: { x: eco }
            containerValues: { panel: { kind: picker, value: x, options: { eco: Economy, heat: Heating, off: Switched off } } }
          - { id: figure, state: { x: 12345678.9e9 }, containerValues: { panel: { kind: value, value: x, decimals: 1 } } }
          - { id: odd, state: { x: constructor }, containerValues: { panel: { kind: status, value: x } } }
          - { id: rows, state: { x: [{ constructor: 1, a: 1 }, { a: 2 }] } }
          - { id: kindless, state: { x: 1 }, containerValues: { panel: { kind: constructor, value: x } } }
          - { id: missing, state: { x: 1 }, containerValues: { panel: { value: constructor } } }
          - { id: wide, state: { x: [{ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7 }] } }
`

test('a number keeps its first digits, however small or large it is', () => {
  const shown = (value) => number(value, { locale: 'en' })[0]
  const cases = { 21.37: '21.4', 0.5: '0.5', 5.001: '5.0', 0.72: '0.72', 0.0123: '0.012', 0.004: '0.004', 1.234e-7: '1.23E-7', 2_500_000: '2.5M', 1e300: '1E300', 0: '0' }
  for (const [value, text] of Object.entries(cases)) assert.equal(shown(Number(value)), text)
})

test("a name that a user has chosen is never one of JavaScript's", () => {
  for (const name of ['constructor', 'toString', '__proto__']) {
    assert.equal(member({}, name), undefined)
    assert.equal(member(JSON.parse(`{"${name}": 5}`), name), 5)
    assert.equal(member(null, name), undefined)
  }
})

describe('texts', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page

  useBrowser([PANELS], { scene }, (on) => ({ site, browser } = on))

  before(async () => {
    page = await browser.open(site.url)
    await page.until(`card('/all/row/texts.lines')`)
  })

  test('a board of one section takes the whole width', async () => {
    assert.equal(await page.run(`board().querySelector('section').offsetWidth === board().querySelector('.board').offsetWidth`), true)
  })

  test('names of JavaScript are names of users like any others', async () => {
    const shown = await page.run(`[...board().querySelectorAll('.card')].map((each) => each.textContent).join('\\n')`)
    assert.doesNotMatch(shown, /function|native code|undefined/)
    assert.match(shown, /Constructor/)
    assert.match(shown, /There is no card of the kind "constructor"/)
  })

  test('the choices of a picker stay inside its card and next to each other', async () => {
    for (const width of [320, 360, 900, 1440]) {
      await page.emulate({ width, height: 900 })
      const boxes = await page.run(`[...card('/all/row/picker.x').querySelectorAll('.segments span')].map((each) => [each.scrollWidth, each.clientWidth])`)
      for (const [inner, outer] of boxes) assert.ok(inner <= outer, `${inner} pixels in ${outer} at ${width}`)
    }
    await page.emulate({})
  })

  test('a field keeps the line breaks of its text, and Enter writes it', async () => {
    const field = `card('/all/row/texts.lines').querySelector('.field')`
    await page.run(`(() => { ${field}.focus(); ${field}.setSelectionRange(7, 7) })()`)
    await page.send('Input.insertText', { text: '!' })
    await page.press('Enter')
    await until('the field has written', async () => (await site.client.get('/all/row/texts.lines')) === 'one\ntwo!')
    assert.equal(await page.run(`board().activeElement === ${field}`), true)
  })

  test('a text reads in its own direction', async () => {
    assert.equal(await page.run(`card('/all/row/texts.arabic').querySelector('.field').matches(':dir(rtl)')`), true)
    assert.equal(await page.run(`card('/all/row/texts.lines').querySelector('.field').matches(':dir(rtl)')`), false)
    assert.equal(await page.run(`getComputedStyle(card('/all/row/prose.x').querySelector('.prose')).unicodeBidi`), 'plaintext')
  })

  test('a long number is not cut off, and a table tells of the columns that it does not show', async () => {
    const figure = `card('/all/row/figure.x').querySelector('.value')`
    assert.equal(await page.run(`${figure}.scrollWidth <= ${figure}.clientWidth`), true)
    assert.equal(await page.run(`textOf('/all/row/wide.x', '.context')`), '1 more column')
    assert.deepEqual(page.faults, [])
  })
})
