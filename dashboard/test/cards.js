/** A page of 200 cards that move. */

import { before } from 'node:test'
import { PANELS, useBrowser } from './browser.js'

export const COUNT = 200
const sceneOf = (kinds) => `
agd: 1
nodes:
  - id: m
    component: Cards
    children:
${Array.from({ length: COUNT }, (_, i) => `      - { id: c${i}, state: { x: 0.0 }, containerValues: { panel: { kind: ${kinds[i % kinds.length]}, value: x, title: C${i} } } }`).join('\n')}
`

/** Opens the page before the tests of the suite that calls this, so large that all cards are visible and none is left out. */
export function useCards(take, kinds = ['bar', 'gauge']) {
  let on
  useBrowser([PANELS], { scene: sceneOf(kinds) }, (made) => { on = made })
  before(async () => {
    const page = await on.browser.open(on.site.url, { width: 3840, height: 2160 })
    await page.until(`card('/m/c${COUNT - 1}.x')`)
    take({ ...on, page })
  })
}

/** Moves all cards in one transaction. `value` gives the value of the card with a number. */
export const moveAll = (site, value, options) => site.client.transact(
  Array.from({ length: COUNT }, (_, i) => ({ op: 'set', path: `/m/c${i}.x`, value: value(i) })), options)
