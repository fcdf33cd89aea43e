/** Where cards stand, without a browser. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { arrange, isMoved, measure, placeOf } from '../layout.js'

const cards = (section, ...kinds) => kinds.map((kind, i) => ({ key: `${section}${i}`, kind, span: ['chart', 'table'].includes(kind) ? 2 : 1 }))
const section = (key, ...kinds) => ({ key, cards: cards(key, ...kinds) })
const order = (bands) => bands.flatMap(({ sections }) => sections.flatMap(({ rows }) => rows.flat().map(({ key }) => key)))
/** Boards of all sorts, the same in each run. */
function* boards() {
  let seed = 7
  const random = (count) => (seed = (seed * 48271) % 2147483647) % count
  const kinds = ['value', 'toggle', 'chart', 'table', 'gauge', 'sparkline', 'slider', 'text', 'stepper']
  for (let i = 0; i < 60; i++) {
    yield Array.from({ length: 1 + random(7) }, (_, s) => ({
      ...section(`s${s}-`, ...Array.from({ length: 1 + random(9) }, () => kinds[random(kinds.length)])), isFeatured: s === 0 && random(2) === 0, isFull: random(6) === 0,
    }))
  }
}

describe('the layout', () => {
  test('bands and rows are filled, in the order of the cards, at every width and density', () => {
    for (const sections of boards()) {
      for (const width of [328, 390, 768, 1232, 1800, 2512, 3840]) {
        for (const density of ['compact', 'comfortable', null]) {
          const measures = measure(width, density)
          const bands = arrange(sections, measures)
          assert.deepEqual(order(bands), sections.flatMap((each) => each.cards.map(({ key }) => key)))
          for (const { sections } of bands) {
            assert.equal(sections.reduce((sum, each) => sum + each.width, 0), measures.columns)
            for (const row of sections.flatMap(({ rows }) => rows)) {
              assert.ok(Math.abs(row.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-9)
              assert.ok(row.every(({ count }) => count === row.length))
            }
          }
        }
      }
    }
  })

  test('short sections stand side by side, and a row of seven is no row of six and one', () => {
    const measures = measure(1232, 'comfortable')
    assert.equal(measures.columns, 6)
    const [band] = arrange([section('a', 'value', 'value'), section('b', 'value', 'value', 'value', 'value')], measures)
    assert.deepEqual(band.sections.map(({ width }) => width), [2, 4])
    const [{ sections: [seven] }] = arrange([section('c', ...Array.from({ length: 7 }, () => 'value'))], measures)
    assert.deepEqual(seven.rows.map((row) => row.length).sort(), [3, 4])
  })

  test('columns, width and height of panels count', () => {
    const measures = measure(1232, 'comfortable')
    const values = Array.from({ length: 4 }, () => 'value')
    const [{ sections: [two] }] = arrange([{ ...section('a', ...values), columns: 2, isFull: true }], measures)
    assert.deepEqual([two.width, two.rows.map((row) => row.length)], [6, [2, 2]])
    const full = section('b', 'value', 'value', 'value')
    full.cards[1].isFull = true
    assert.deepEqual(arrange([full], measures)[0].sections[0].rows.map((row) => row.length), [1, 1, 1])
    const wide = arrange([{ ...section('c', 'value'), isFull: true }, section('d', 'value')], measures)
    assert.equal(wide.length, 2)
  })

  test('a phone has two columns of tiles, unless somebody wants larger cards', () => {
    assert.deepEqual([measure(358).density, measure(358).columns], ['compact', 2])
    assert.deepEqual([measure(358, 'comfortable').density, measure(358, 'comfortable').columns], ['comfortable', 2])
    assert.equal(measure(1232).density, 'comfortable')
  })

  test('a card that comes in another section or behind a control leaves the control in its place', () => {
    const measures = measure(1232, 'comfortable')
    const before = [section('a', 'value', 'value'), section('b', ...Array.from({ length: 8 }, () => 'toggle')), section('c', 'chart', 'chart', 'table')]
    const later = [before[0], before[1], { ...before[2], cards: [...before[2].cards, ...cards('new', 'table')] }]
    const earlier = [{ ...before[0], cards: [...cards('new', 'value'), ...before[0].cards] }, before[1], before[2]]
    const first = arrange(before, measures)
    const place = (sections) => placeOf(arrange(sections, measures, first), 'b3')
    assert.equal(isMoved(placeOf(first, 'b3'), place(later), false), false)
    assert.equal(isMoved(placeOf(first, 'b3'), place(earlier), false), false, 'another section has its own rows')
    const own = [before[0], { ...before[1], cards: [...cards('new', 'value'), ...before[1].cards] }, before[2]]
    assert.equal(isMoved(placeOf(first, 'b3'), place(own), false), true)
    assert.equal(placeOf(first, 'gone'), null)
  })

  test('five hundred cards in a hundred sections are arranged in a moment', () => {
    const sections = Array.from({ length: 100 }, (_, i) => section(`s${i}-`, 'value', 'chart', 'toggle', 'bar', 'table'))
    let asked = 0
    for (const each of sections) {
      const { cards } = each
      Object.defineProperty(each, 'cards', { enumerable: true, get: () => ((asked += 1), cards) })
    }
    assert.equal(order(arrange(sections, measure(3840, 'comfortable'))).length, 500)
    assert.ok(asked < 100_000, `${asked} looks at the cards of a section`)
  })
})
