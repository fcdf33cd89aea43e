/** Who moves the cards. */

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { CHROMIUM, PANELS, useBrowser } from './browser.js'

const COUNT = 200
const kinds = ['bar', 'gauge']
const scene = `
agd: 1
nodes:
  - id: m
    component: Cards
    children:
${Array.from({ length: COUNT }, (_, i) => `      - { id: c${i}, state: { x: 0.0 }, containerValues: { panel: { kind: ${kinds[i % 2]}, value: x, title: C${i} } } }`).join('\n')}
`

describe('frames', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page

  useBrowser([PANELS], { scene }, (on) => ({ site, browser } = on))

  before(async () => {
    // All cards are visible, so that none of them is left out.
    page = await browser.open(site.url, { width: 3840, height: 2160 })
    await page.until(`card('/m/c${COUNT - 1}.x')`)
    await page.run(`(() => {
      window.frames_ = 0
      const before = window.requestAnimationFrame
      window.requestAnimationFrame = (act) => { frames_ += 1; return before(act) }
    })()`)
  })

  for (const animation of ['spring(duration: 14, bounce: 0.3)', 'easeInOut(duration: 14)']) {
    test(`while ${animation} moves ${COUNT} cards, JavaScript computes no frame`, async () => {
      await site.client.transact(
        Array.from({ length: COUNT }, (_, i) => ({ op: 'set', path: `/m/c${i}.x`, value: Math.random() * 100 })), { animation })
      await page.until(`board().getAnimations({ subtree: true }).filter((each) => each.currentTime > 500).length >= ${COUNT}`)
      assert.equal(await page.run(`frames_`), 0)
      assert.deepEqual(page.faults, [])
    })
  }
})
