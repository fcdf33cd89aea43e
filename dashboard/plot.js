/** What a chart has besides its lines: the axis of time, the legend, stacked areas, and the table behind it. */

import { AttributeFailed } from './gateway.js'
import { make } from './cards.js'
import { History } from './chart.js'
import { duration, moment, plain } from './format.js'
import { says } from './language.js'
import { adopt, sheet } from './style.js'
import { tableOf } from './tables.js'

const look = sheet(`
.chart .area { fill: color-mix(in oklab, var(--series) 55%, var(--surface)); stroke-width: 1; }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: 13px; color: var(--muted); }
.legend li { display: flex; align-items: center; gap: 6px; }
.legend i { width: 10px; height: 10px; border-radius: 3px; background: var(--series); }
.legend b { color: var(--ink); font-weight: 500; font-variant-numeric: tabular-nums; unicode-bidi: plaintext; }
.times > span { position: absolute; top: 0; transform: translateX(-50%); }
.times > span::before { content: ""; position: absolute; left: 50%; top: -6px; height: 5px; border-inline-start: 1px solid var(--control); }
/* For screen readers alone. */
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`)

/** Columns of stacked areas. */
const COLUMNS = 160
/** Rows of the table behind a chart, and seconds between two updates of it. */
const TABLE_ROWS = 12
const TABLE_PAUSE = 10
/** Pixels of a letter of an axis, at most. */
const LETTER = 7
/** Seconds between two marks of an axis of time. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800]

export async function furnish(view) {
  const { card, line } = view
  if (!line) (await import('./states.js')).bars(view)
  else if (card.series.length > 1) view.drawn.push(legendOf(view))
  if (line?.isStacked) line.stack = new Stack(line)
  view.drawn.push(() => adopt(view.plot, look), axisOf(view), tableBehind(view))
}

// MARK: The past

/** The least and greatest value at each of the times, which are in order; null where nothing is known. */
export function at(history, times, now) {
  const known = history.stretches(now)
  let i = -1
  return times.map((time) => {
    while (i + 1 < known.length && known[i + 1].time <= time) i += 1
    const [each, next] = [known[i], known[i + 1]]
    if (!each || time > now) return null
    return time <= each.end || next?.time <= each.end + each.slack ? [each.low, each.high] : null
  })
}

/** What is known from one time to another, in order: stretches of a number, or states with a `value`. */
export function between(past, from, to, now) {
  const isStates = !(past instanceof History)
  const known = isStates ? past?.known.map((each) => ({ ...each, end: each.end ?? now })) ?? [] : past.stretches(now)
  return known.filter(({ time, end }) => (end > from || end >= now) && time <= to)
    .map((each) => ({ ...each, time: Math.max(from, each.time), end: Math.min(to, each.end) }))
}

/** Stretches or states in words. */
export function textOfPast(card, known) {
  if (known.length === 0) return '–'
  if ('value' in known[0]) return [...new Set(known.map(({ value }) => card.wordOf(value)))].join(', ')
  const [low, high] = [Math.min(...known.map(({ low }) => low)), Math.max(...known.map(({ high }) => high))]
  const text = plain(high, card.formatOf(high))
  return plain(low, card.formatOf(low)) === text ? text : says.range(plain(low, { ...card.formatOf(low), unit: '' }), text)
}

/** The past of a card in equal parts of a time, newest first: when each begins, and the text of each series in it. */
export function rowsOfPast(card, span, count) {
  const now = card.edge
  const width = span / count
  return Array.from({ length: count }, (_, i) => {
    const [from, to] = [now - (i + 1) * width, now - i * width]
    return [moment(card.wall(from), Math.min(60, width), card.locale), ...card.series.map((_, k) => textOfPast(card, between(card.shownPasts[k], from, to, now)))]
  })
}

// MARK: The parts

/** Names, colours and values of the series of a card. */
function legendOf({ card, plot }) {
  const list = make('ul', 'legend')
  const values = card.series.map(({ title, tint }) => {
    const item = make('li')
    item.style.setProperty('--series', tint)
    const value = make('b', '', '–')
    item.append(make('i'), title, value)
    list.append(item)
    return value
  })
  plot.before(list)
  return () => values.forEach((element, i) => {
    const value = card.values[i]
    const text = plain(value instanceof AttributeFailed ? null : value, card.formatOf(value))
    if (element.textContent !== text) element.textContent = text
    element.title = value instanceof AttributeFailed ? value.reason : ''
  })
}

/**
 * Round moments of the last `span` seconds before `end`, as seconds since 1970; and their distance, which is the least one
 * that `fits`.
 */
export function ticksOf(end, span, fits) {
  const step = STEPS.find(fits) ?? STEPS.at(-1) * Math.ceil(span / STEPS.at(-1))
  // Days begin at midnight of the reader.
  const shift = new Date(end * 1000).getTimezoneOffset() * 60
  const first = Math.ceil((end - span - shift) / step) * step + shift
  return { step, ticks: Array.from({ length: Math.floor((end - first) / step) + 1 }, (_, i) => first + i * step) }
}

/** Moments below a chart. They move with it. */
function axisOf(view) {
  const { card, plot, span } = view
  const element = plot.nextElementSibling
  const labels = []
  let width = 0
  new ResizeObserver(([{ contentRect }]) => {
    width = contentRect.width
    view.tick()
  }).observe(element)
  return () => {
    const end = card.wall(card.edge)
    // Where seconds are told, the half of the day is known.
    const label = (time, step) => moment(time, step, card.locale, step < 60)
    const room = (step) => LETTER * label(end, step).length
    const { step, ticks } = ticksOf(end, span, (step) => (width * step) / span >= room(step) + 3 * LETTER)
    // At the right edge is "now".
    const half = room(step) / 2
    const places = ticks.map((time) => [time, 1 - (end - time) / span])
      .filter(([, part]) => part * width > half && (1 - part) * width > half + 6 * LETTER)
    while (labels.length < places.length) labels.push(element.appendChild(make('span')))
    labels.forEach((element, i) => {
      element.hidden = i >= places.length
      if (element.hidden) return
      const [time, part] = places[i]
      const text = label(time, step)
      if (element.textContent !== text) element.textContent = text
      element.style.left = `${(100 * part).toFixed(2)}%`
    })
  }
}

/** The table behind a chart, for people who do not see it. */
function tableBehind({ card, span }) {
  let table = null
  let drawn = -Infinity
  return () => {
    const { now } = card
    if (now < drawn + TABLE_PAUSE) return
    drawn = now
    const next = tableOf([says.time, ...card.series.map(({ title }) => title)], rowsOfPast(card, span, TABLE_ROWS))
    next.className = 'unseen'
    next.createCaption().textContent = says.lastSpan(card.title, duration(span))
    if (table) table.replaceWith(next)
    else card.add(next)
    table = next
  }
}

/** Areas that stand on each other. */
class Stack {
  #line

  constructor(line) {
    this.#line = line
    for (const path of line.element.querySelectorAll('path')) path.classList.add('area')
  }

  /** Moments at which areas bend. They stay at the same times, so that areas move without changing their shape. */
  #columns(now) {
    const { span, histories } = this.#line
    const width = span / COLUMNS
    const first = Math.floor((now - span) / width) + 1
    const times = [now - span, ...Array.from({ length: COLUMNS - 1 }, (_, i) => (first + i) * width), now]
    return [times, histories.map((each) => at(each, times, now).map((found) => found && (found[0] + found[1]) / 2))]
  }

  range(now) {
    const [times, columns] = this.#columns(now)
    if (columns.every((column) => column.every((each) => each === null))) return null
    return [0, Math.max(...times.map((_, i) => columns.reduce((sum, column) => sum + column[i], 0)))]
  }

  /** A series that is not known at a moment has no area there. */
  paths(now, y) {
    const [times, columns] = this.#columns(now)
    const x = times.map((time) => Math.max(0, 1 - (now - time) / this.#line.span).toFixed(4))
    const floor = times.map(() => 0)
    return columns.map((column) => {
      let text = ''
      let edge = []
      const end = () => {
        if (edge.length > 0) text += `${edge.reverse().join('')}Z`
        edge = []
      }
      column.forEach((value, i) => {
        if (value === null) return end()
        const below = floor[i]
        floor[i] += value
        text += `${edge.length > 0 ? 'L' : 'M'}${x[i]} ${y(floor[i]).toFixed(4)}`
        edge.push(`L${x[i]} ${y(below).toFixed(4)}`)
      })
      end()
      return text
    })
  }
}
