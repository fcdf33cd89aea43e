/** A component that places what it is given: the page draws each view where it stands. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CHROMIUM, PANELS, useBrowser } from './browser.js'

const scene = `
agd: 1
components:
  Shelf:
    kind: container
    let: { first: a }
    children:
      - { id: top, kind: container, let: { title: First }, children: [{ place: 'subviews.filter(s, s.id == first)' }] }
      - { id: rest, kind: container, children: [{ place: 'subviews.filter(s, s.id != first && s.id != "c")' }] }
nodes:
  - id: board
    kind: group
    state: { first: b }
    children:
      - id: shelf
        component: Shelf
        let: { first: $first }
        children:
          - { id: a, state: { x: 1 }, containerValues: { panel: { value: x, kind: value, title: A } } }
          - { id: b, state: { x: 2 }, containerValues: { panel: { value: x, kind: value, title: B } } }
          - { id: c, state: { x: 3 }, containerValues: { panel: { value: x, kind: value, title: C } } }
`

describe('places', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser

  useBrowser([PANELS], { scene }, (on) => ({ site, browser } = on))

  test('a view is drawn where it stands, and one that stands nowhere is not', async () => {
    const page = await browser.open(site.url)
    const order = `[...board().querySelectorAll('.cards > .card')].map((each) => each.dataset.path).join()`
    await page.until(`${order} === '/board/shelf/b.x,/board/shelf/a.x'`)
    assert.equal(await page.run(`textOf('/board/shelf/b.x')`), '2')
    await site.client.set('/board.first', 'a')
    await page.until(`${order} === '/board/shelf/a.x,/board/shelf/b.x'`)
    assert.deepEqual(page.faults, [])
  })
})
