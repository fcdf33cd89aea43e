/** A log: the lines of a list, or each new value. Lines with levels have colours, and long logs a filter. */

import { make, STATUS_SHAPES } from './cards.js'
import { member, plain, timeOfDay } from './format.js'
import { says } from './language.js'
import { adopt, sheet } from './style.js'

const look = sheet(`
.log { display: grid; grid-template-columns: auto auto minmax(0, 1fr); align-content: start; list-style: none; padding: 0; font: 13px/1.6 ui-monospace, "SF Mono", "DejaVu Sans Mono", monospace; overflow: auto; max-height: 240px; scrollbar-width: thin; flex: 1; min-height: 0; }
.log li { display: grid; grid-template-columns: subgrid; grid-column: 1 / -1; overflow-wrap: anywhere; }
.log time { grid-column: 1; color: var(--muted); white-space: nowrap; margin-inline-end: 12px; }
.log b { grid-column: 2; font-weight: 500; white-space: nowrap; margin-inline-end: 12px; }
.log span { grid-column: 3; }
@container section (max-width: 480px) {
  .log li:has(time, b) { display: flex; flex-wrap: wrap; }
  .log li:has(time, b) span { flex: 1 0 100%; padding-inline-start: 12px; }
}
.log .is-quiet { color: var(--muted); }
.log .is-warn b { color: var(--warn); }
.log .is-critical b { color: var(--critical); }
.sieve { display: flex; gap: 8px; }
.sieve .field { flex: 1; min-width: 0; width: auto; font-size: 13px; }
.sieve select { flex: 0 1 auto !important; }
.log.is-filtered:not(:has(li:not([hidden])))::after { content: attr(data-none); color: var(--muted); }
.compact .sieve { grid-area: 2 / 1 / auto / -1; }
`)

const MOST_LINES = 100
/** A log without levels has a filter when it has more lines. */
const FEW = 8
/** The status in whose colour the lines of a level are; quiet ones are muted. */
const STATUS = {
  __proto__: null, emergency: 'critical', alert: 'critical', critical: 'critical', fatal: 'critical', error: 'critical', err: 'critical',
  warning: 'warn', warn: 'warn', notice: 'info', info: 'info', debug: 'quiet', trace: 'quiet',
}
const RANKS = ['quiet', 'info', 'warn', 'critical']

function rankOf(level) {
  return Math.max(0, RANKS.indexOf(STATUS[String(level).toLowerCase()] ?? 'info'))
}

/** A line is a text, or a map with `text`, and perhaps `time` and `level`. */
function lineOf(card, value, now) {
  const isMap = value !== null && typeof value === 'object' && member(value, 'text') !== undefined
  const { time = now, level, text } = isMap ? value : { text: value }
  const item = make('li')
  if (time) item.append(make('time', '', /^\d{4}-\d\d-\d\dT/.test(time) ? timeOfDay(time, card.locale) : String(time)))
  if (level !== undefined && level !== null) {
    const status = STATUS[String(level).toLowerCase()]
    item.className = `is-${status ?? 'info'}`
    item.append(make('b', '', STATUS_SHAPES[status] ? `${STATUS_SHAPES[status]} ${level}` : String(level)))
    item.dataset.level = String(level)
  }
  item.append(make('span', '', plain(text, { locale: card.locale })))
  return item
}

export const kinds = {
  log(card) {
    const lines = make('ol', 'log')
    lines.tabIndex = 0
    lines.setAttribute('aria-label', card.title)
    lines.dataset.none = says.noLines
    card.add(lines)
    /** The fields of the filter; null as long as they are not needed. */
    let [search, least] = [null, null]
    const field = (name, label) => {
      const made = make(name, 'field')
      made.setAttribute('aria-label', label)
      made.addEventListener('input', () => sift())
      if (!search) {
        const sieve = make('div', 'sieve')
        lines.before(sieve)
      }
      lines.previousSibling.append(made)
      return made
    }
    // What is there once stays, so that nothing moves away under the finger.
    const furnish = (hasLevels) => {
      search ??= Object.assign(field('input', says.filterOf(card.title)), { type: 'search', placeholder: says.filter })
      if (!hasLevels || least) return
      least = field('select', says.leastLevel(card.title))
      for (const [name, text] of Object.entries(says.logLevels)) least.append(new Option(text, name))
    }
    const sift = () => {
      const text = search?.value.trim().toLowerCase() ?? ''
      const rank = RANKS.indexOf(least?.value)
      lines.classList.toggle('is-filtered', text !== '' || rank > 0)
      for (const item of lines.children) {
        item.hidden = (text !== '' && !item.textContent.toLowerCase().includes(text)) || (rank > 0 && rankOf(item.dataset.level) < rank)
      }
    }
    return {
      show({ value }) {
        adopt(lines, look)
        const isAtEnd = lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 4
        // Of a moment of the past, only its own line is known.
        if (card.isPast) lines.replaceChildren()
        if (Array.isArray(value)) lines.replaceChildren(...value.slice(-MOST_LINES).map((each) => lineOf(card, each)))
        else lines.append(lineOf(card, value, card.isPast ? null : new Date().toLocaleTimeString(card.locale?.replace('_', '-'))))
        while (lines.childElementCount > MOST_LINES) lines.firstChild.remove()
        const hasLevels = lines.querySelector('[data-level]') !== null
        if (hasLevels || lines.childElementCount > FEW) furnish(hasLevels)
        sift()
        if (isAtEnd) lines.scrollTop = lines.scrollHeight
      },
    }
  },
}
