/** One moment at which a person points, shown by all charts of the page, with the values at it. */

import { make } from './cards.js'
import { charts } from './chart.js'
import { duration, moment } from './format.js'
import { says } from './language.js'
import { at, between, textOfPast } from './plot.js'
import { adopt, sheet } from './style.js'

const look = sheet(`
.cursor { stroke: var(--muted); stroke-width: 1; vector-effect: non-scaling-stroke; }
.dot { stroke: var(--series, var(--accent)); stroke-width: 7; stroke-linecap: round; vector-effect: non-scaling-stroke; }
.mark { position: absolute; inset-block: 0; border-inline-start: 1px solid var(--muted); pointer-events: none; }
.tag {
  position: absolute; top: 0; z-index: 1; pointer-events: none; width: max-content; max-width: 100%; padding: 4px 8px; border-radius: 8px;
  background: var(--raised); box-shadow: 0 0 0 1px var(--line); font-size: 13px; line-height: 18px; font-variant-numeric: tabular-nums;
}
.tag p { display: flex; gap: 6px; align-items: center; }
.tag i { width: 8px; height: 8px; border-radius: 2px; background: var(--series); flex: none; }
.tag b { font-weight: 500; margin-inline-start: auto; padding-inline-start: 8px; }
.tag :first-child > b { padding-inline-start: 0; }
.tag span { color: var(--muted); }
`)

/** `{ ago }` while a pointer rests, so that the line stays under it; `{ time }` after a key; null for no moment. */
let shown = null
/** The chart at which the person points. */
let source = null
let isDue = false
/** The moment of the past that the page shows, in seconds since 1970; null: now. */
let held = null
/** Where a pointer was pressed that may begin to drag: `{ view, x, isMoved }`. */
let drag = null
/** When a pointer has dragged last, and milliseconds for which a click belongs to it. */
let dragged = -Infinity
const CLICK = 300
/** Pixels after which a pointer drags. */
const SLACK = 5

/** Marks the moment of the past that the page shows in all charts. */
export function hold(moment) {
  held = moment
  markAll()
}

/** Takes the questions that are asked of a chart. `event` is the first one. */
export function point(view, event) {
  const { plot } = view
  plot.addEventListener('pointerenter', (event) => move(view, event))
  plot.addEventListener('pointermove', (event) => move(view, event))
  plot.addEventListener('pointerleave', ({ pointerType }) => pointerType !== 'touch' && clear(view))
  // The page scrolls instead.
  plot.addEventListener('pointercancel', () => clear(view))
  plot.addEventListener('keydown', (event) => step(view, event))
  plot.addEventListener('blur', () => clear(view))
  plot.addEventListener('click', (event) => ask(view, event))
  for (const name of ['pointerup', 'pointercancel', 'lostpointercapture']) plot.addEventListener(name, () => (drag = null))
  if (event.pointerType === 'touch' || plot.matches(':hover')) move(view, event)
}

/** A click with the mouse asks why the value was as it was. */
function ask(view, event) {
  const { card } = view
  // A drag ends with a click.
  if (performance.now() - dragged < CLICK || event.pointerType !== 'mouse' || source !== view || !shown) return
  const time = shown.time ?? card.edge - shown.ago
  if (card.seek?.(card.wall(time), card.series.length === 1 ? card.path : null) !== false) clear(view)
}

/** A drag takes the page to the moment under the pointer. The result is false if this is no drag. */
function dragTo(view, event, ago) {
  if (!view.card.seek || event.buttons !== 1) return false
  drag ??= { view, x: event.clientX, isMoved: false }
  if (drag.view !== view || (!drag.isMoved && Math.abs(event.clientX - drag.x) < SLACK)) return false
  drag.isMoved = true
  dragged = performance.now()
  view.plot.setPointerCapture(event.pointerId)
  return view.card.seek(view.card.wall(view.card.edge - ago)) !== false
}

// A finger that has left a chart leaves the moment there, until it touches something else.
document.addEventListener('pointerdown', (event) => {
  if (source && !event.composedPath().includes(source.plot)) clear(source)
})

/** The element whose width is the span of a chart. It may not be drawn yet. */
function areaOf({ area, line, plot }) {
  return area ?? line?.element ?? plot
}

function move(view, event) {
  const { left, width } = areaOf(view).getBoundingClientRect()
  const part = Math.min(1, Math.max(0, (event.clientX - left) / (width || 1)))
  const ago = (1 - part) * view.span
  if (dragTo(view, event, ago)) clear(source)
  else show(view, { ago })
}

function step(view, event) {
  const now = view.card.edge
  const from = shown && source === view ? shown.time ?? now - shown.ago : now
  const part = view.span / 60
  const times = {
    ArrowLeft: from - part, ArrowRight: from + part, ArrowDown: from - part, ArrowUp: from + part,
    PageDown: from - 10 * part, PageUp: from + 10 * part, Home: now - view.span, End: now,
  }
  if (event.key === 'Enter' && shown) {
    ask(view, { pointerType: 'mouse' })
  } else if (event.key === 'Escape' && shown) {
    // It closes nothing else.
    event.preventDefault()
    event.stopPropagation()
    clear(source)
  } else if (event.key in times) {
    event.preventDefault()
    show(view, { time: Math.min(now, Math.max(now - view.span, times[event.key])) })
  }
}

function show(view, wanted) {
  source = view
  shown = wanted
  markAll()
}

function clear(view) {
  if (source !== view) return
  source = shown = null
  markAll()
}

function markAll() {
  if (isDue) return
  isDue = true
  requestAnimationFrame(() => {
    isDue = false
    for (const each of charts) {
      // It moves on with the values.
      each.follow ??= each.drawn.push(() => (shown || held !== null) && mark(each))
      mark(each)
    }
  })
}

/** The values of all series of a chart at a moment. */
function valuesAt({ card, line }, time) {
  if (!line) return card.shownPasts.map((past) => between(past, time, time, card.edge))
  return line.histories.map((each) => at(each, [time], card.edge)[0]).map((found) => (found ? [{ low: found[0], high: found[1] }] : []))
}

function mark(view) {
  const { card, plot, span } = view
  const now = card.edge
  const time = shown ? shown.time ?? now - shown.ago : held === null ? null : held - card.wall(0)
  // A shorter chart does not reach so far into the past.
  const part = time === null ? null : 1 - (now - time) / span
  if (part === null || part < 0 || part > 1) return unmark(view)
  adopt(plot, look)
  const values = valuesAt(view, time)
  const texts = values.map((each) => textOfPast(card, each))
  if (shown && view !== source && values.every((each) => each.length === 0)) return unmark(view)
  if (view.line) drawIn(view, values, part)
  else drawOver(view, part)
  const said = `${moment(card.wall(time), 1, card.locale)}, ${card.now - time < 0.5 ? says.now : says.ago(duration(card.now - time))}`
  const isTold = shown || texts.length > 1
  if (!isTold) untag(view)
  else if (plot.localName === 'div') showTag(view, part, said, texts)
  else card.sayOfMoment(`${texts[0]} · ${moment(card.wall(time), 1, card.locale)}`)
  view.isMarked = true
  if (view !== source || plot.localName !== 'div') return
  const named = card.series.length > 1 ? texts.map((text, i) => `${card.series[i].title} ${text}`) : texts
  plot.setAttribute('aria-valuenow', part - 1)
  plot.setAttribute('aria-valuetext', `${said}: ${named.join(', ')}`)
}

function unmark(view) {
  if (!view.isMarked) return
  view.isMarked = false
  for (const each of view.marks ?? []) each.remove()
  view.marks = null
  untag(view)
  if (view.plot.localName !== 'div') return
  view.plot.setAttribute('aria-valuenow', '0')
  view.plot.setAttribute('aria-valuetext', says.now)
}

/** Of the moment that the page shows, cards tell the value themselves. */
function untag(view) {
  view.tag?.remove()
  view.tag = null
  if (view.plot.localName !== 'div') view.card.sayOfMoment(null)
}

/** A line at the moment, and a dot on each series. */
function drawIn(view, values, part) {
  const { line } = view
  const lineIn = (name) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', 'line')
    made.setAttribute('class', name)
    line.element.append(made)
    return made
  }
  view.marks ??= [lineIn('cursor'), ...view.card.series.map(({ tint }) => {
    const dot = lineIn('dot')
    if (tint) dot.style.setProperty('--series', tint)
    return dot
  })]
  const place = (element, ys) => ['x1', part, 'x2', part, 'y1', ys[0], 'y2', ys[1]]
    .forEach((each, i, all) => i % 2 === 0 && element.setAttribute(each, all[i + 1]))
  place(view.marks[0], [0, 1])
  const [bottom, top] = line.axis()
  let floor = 0
  values.forEach(([found], i) => {
    const dot = view.marks[i + 1]
    dot.toggleAttribute('hidden', !found)
    if (!found) return
    const middle = (found.low + found.high) / 2
    if (line.isStacked) floor += middle
    const y = 1 - ((line.isStacked ? floor : middle) - bottom) / (top - bottom)
    place(dot, [y, y])
  })
}

function drawOver(view, part) {
  view.marks ??= [view.plot.appendChild(make('div', 'mark'))]
  view.marks[0].style.left = `${100 * part}%`
}

function showTag(view, part, said, texts) {
  const { card, plot } = view
  if (!view.tag) {
    view.tag = make('div', 'tag')
    view.tag.setAttribute('aria-hidden', 'true')
    plot.append(view.tag)
  }
  const rows = texts.map((text, i) => {
    const row = make('p')
    if (card.series[i].tint) row.style.setProperty('--series', card.series[i].tint)
    if (view.line && card.series.length > 1) row.append(make('i'))
    if (card.series.length > 1) row.append(make('span', '', card.series[i].title))
    row.append(make('b', '', text))
    return row
  })
  if (view === source) rows.push(make('span', '', said))
  view.tag.replaceChildren(...rows)
  // Beside the line, where there is more room.
  const { left, width } = areaOf(view).getBoundingClientRect()
  const at = left - plot.getBoundingClientRect().left + part * width
  view.tag.style.left = `${at.toFixed(1)}px`
  view.tag.style.transform = part > 0.5 ? 'translateX(calc(-100% - 10px))' : 'translateX(10px)'
}
