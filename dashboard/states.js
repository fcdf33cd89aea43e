/** Bars of time for values that are no numbers: each state of a bool or a text as long as it has lasted. */

import { filler, make } from './cards.js'
import { between } from './plot.js'
import { adopt, sheet } from './style.js'

const look = sheet(`
.lanes { display: flex; flex-direction: column; gap: 8px; }
.lanes h4 { font-size: 12px; font-weight: 400; color: var(--muted); margin-block-end: 2px; }
.lane { position: relative; height: 30px; border-radius: 6px; overflow: hidden; }
.state {
  position: absolute; inset-block: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 13px; line-height: 27px; padding-inline: 6px;
  border-block-start: 3px solid var(--series); background: color-mix(in oklab, var(--series) 24%, var(--surface)); box-shadow: inset -1px 0 var(--surface);
}
.state.is-off { border-color: var(--control); background: var(--track); }
.state.is-narrow { color: transparent; }
`)

const STATUS = ['ok', 'warn', 'critical', 'stale']
const SHAPES = { __proto__: null, warn: '▲ ', critical: '◆ ', stale: '◌ ' }
/** Pixels of a letter, at most. */
const LETTER = 8

/** Gives a chart of states its bars. */
export function bars(view) {
  const { card, plot, span } = view
  /** Colours by text, in the order in which they were seen. */
  const seen = new Map()
  const lanes = make('div', 'lanes')
  const rows = card.series.map(({ title }) => {
    const lane = make('div', 'lane')
    if (card.series.length > 1) lanes.append(make('h4', '', title))
    lanes.append(lane)
    return lane
  })
  plot.append(lanes)
  view.area = lanes
  const colour = (element, value) => {
    element.classList.toggle('is-off', value === false)
    if (!seen.has(value) && typeof value !== 'boolean' && !STATUS.includes(value)) seen.set(value, seen.size % 6 + 1)
    const name = value === true ? '--accent' : STATUS.includes(value) ? `--${value}` : `--series-${seen.get(value)}`
    element.style.setProperty('--series', `var(${name})`)
  }
  view.resume = filler(card)
  view.drawn.push(() => {
    adopt(plot, look)
    const now = card.edge
    const { clientWidth } = lanes
    rows.forEach((lane, i) => {
      const found = between(card.shownPasts[i], now - span, now, now)
      while (lane.childElementCount > found.length) lane.lastChild.remove()
      found.forEach(({ time, end, value }, k) => {
        const bar = lane.children[k] ?? lane.appendChild(make('div', 'state'))
        const text = `${SHAPES[value] ?? ''}${card.wordOf(value)}`
        if (bar.textContent !== text) {
          bar.textContent = text
          colour(bar, value)
        }
        // A word that is cut off would be another word.
        bar.classList.toggle('is-narrow', ((end - time) / span) * clientWidth < (text.length + 1) * LETTER)
        bar.style.left = `${(100 * (1 - (now - time) / span)).toFixed(3)}%`
        bar.style.width = `${((100 * (end - time)) / span).toFixed(3)}%`
      })
    })
  })
}
