/** Who moves the cards. */

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { CHROMIUM } from './browser.js'
import { COUNT, moveAll, useCards } from './cards.js'

describe('frames', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let page

  useCards((on) => ({ site, page } = on))

  before(() => page.run(`(() => {
    window.frames_ = 0
    const before = window.requestAnimationFrame
    window.requestAnimationFrame = (act) => { frames_ += 1; return before(act) }
  })()`))

  for (const animation of ['spring(duration: 14, bounce: 0.3)', 'easeInOut(duration: 14)']) {
    test(`while ${animation} moves ${COUNT} cards, JavaScript computes no frame`, async () => {
      await moveAll(site, () => 0, { disablesAnimations: true })
      await page.until(`board().getAnimations({ subtree: true }).length === 0`)
      await moveAll(site, () => 1 + Math.random() * 100, { animation })
      await page.until(`board().getAnimations({ subtree: true }).filter((each) => each.currentTime > 500).length >= ${COUNT}`)
      assert.equal(await page.run(`frames_`), 0)
      assert.deepEqual(page.faults, [])
    })
  }
})
