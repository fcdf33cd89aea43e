/** Wide cards in sections that stand side by side, and windows that do not show all of them. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CHROMIUM, PANELS, useBrowser } from './browser.js'

const cards = (span) =>
  ['a', 'b', 'c', 'd', 'e']
    .map((id) => `{ id: ${id}, state: { x: 1 }, containerValues: { panel: { value: x, kind: value, title: ${id}, span: ${id === 'a' ? span : 1} } } }`)
    .join(', ')
const section = (id, span) => `  - { id: ${id}, kind: container, let: { title: ${id} }, children: [${cards(span)}] }\n`
const scene = `agd: 1\nnodes:\n${section('one', 4)}${section('two', 3)}${section('three', 2)}`

describe('width', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser

  useBrowser([PANELS], { scene }, (on) => ({ site, browser } = on))

  test('no card stands outside of its section, however wide it wants to be', async () => {
    const page = await browser.open(site.url)
    await page.until(`board().querySelectorAll('.cards > .card').length === 15`)
    for (const width of [700, 1000, 1160, 1200, 1800, 2400, 3840]) {
      await page.emulate({ width, height: 900 })
      const outside = await page.run(`[...board().querySelectorAll('section')].flatMap((section) => {
        const edge = section.getBoundingClientRect().right + 1
        return [...section.querySelectorAll('.card')].filter((card) => card.getBoundingClientRect().right > edge).map((card) => card.dataset.path)
      }).join()`)
      assert.equal(outside, '', `at ${width} pixels`)
    }
    assert.deepEqual(page.faults, [])
  })

  test('a card outside of the window is not drawn before it is scrolled into it', async () => {
    const page = await browser.open(`${site.url}?density=comfortable`, { width: 500, height: 400 })
    const isDrawn = (path) => `card('${path}').querySelector('.value').checkVisibility({ contentVisibilityAuto: true })`
    await page.until(isDrawn('/one/a.x'))
    await page.until(`!${isDrawn('/three/e.x')}`)
    await page.run(`card('/three/e.x').scrollIntoView()`)
    await page.until(isDrawn('/three/e.x'))
    assert.deepEqual(page.faults, [])
  })

  test('the only section below the featured cards has the whole width', async () => {
    const featured = '{ id: f, state: { x: 1 }, containerValues: { panel: { value: x, featured: true } } }'
    await site.client.apply(
      `agd: 1\nnodes: [{ id: home, component: Cards, children: [${featured}, { id: all, component: Cards, children: [${cards(1)}] }] }]`)
    const page = await browser.open(`${site.url}?root=/home`)
    await page.until(`board().querySelectorAll('.cards > .card').length === 6`)
    for (const width of [700, 1280, 2400]) {
      await page.emulate({ width, height: 900 })
      const widths = await page.run(`[...board().querySelectorAll('section')].map((section) => Math.round(section.getBoundingClientRect().width)).join()`)
      const [first, second] = widths.split(',')
      assert.equal(first, second, `at ${width} pixels`)
    }
    assert.deepEqual(page.faults, [])
  })
})
