/** Cards: the form of an attribute, by its panel or by its type. */

import { AttributeFailed } from './gateway.js'

const SAMPLES = 60
const NUMBERS = ['int', 'uint', 'double', 'angle']
/** Attributes that describe the state of another one and are shown with it. */
const STATUSES = ['ok', 'warn', 'critical', 'stale']

export function make(name, className, text) {
  const element = document.createElement(name)
  if (className) element.className = className
  if (text !== undefined) element.textContent = text
  return element
}

/** An id in a form for people: `busiestCore` is "Busiest core". */
export function words(id) {
  const text = id.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[-_]/g, ' ').toLowerCase()
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The order of a section's cards: displays first, then controls, then lists. */
export const ORDER = ['status', 'gauge', 'value', 'toggle', 'text', 'color', 'table', 'list']

/** The attributes of a node that get a card by default. */
function namesOf({ attributes = {}, children = [], component }) {
  const names = Object.keys(attributes)
  const has = (name) => names.includes(name)
  // It has a gauge of its own.
  const hasGauge = children.some(({ id }) => id === 'gauge')
  const hasList = children.some(({ kind }) => kind === 'forEach')
  if (component && has('percent')) return ['percent']
  return names.filter((name) => {
    const { kind, type, transient } = attributes[name]
    if (kind === 'clock' || (kind === 'binding' && type === 'dyn')) return false
    if (['index', 'elements'].includes(name)) return false
    if ((name === 'percent' && hasGauge) || (type === 'list' && kind === 'state' && hasList)) return false
    if (name === 'severity') return false
    if (name === 'isStale' && has('status')) return false
    // The unprocessed figures of a feeder are only inputs of rules.
    return !(transient && ['map', 'list', 'dyn'].includes(type) && names.length > 2)
  })
}

/** At most four significant digits, and short forms of large numbers. */
function number(value) {
  if (!Number.isFinite(value)) return String(value)
  if (Math.abs(value) >= 10000) {
    return new Intl.NumberFormat(undefined, { notation: 'compact', maximumSignificantDigits: 4 }).format(value)
  }
  return new Intl.NumberFormat(undefined, { maximumSignificantDigits: 4 }).format(value)
}

/** Seconds in a form for people: 2 h 5 min. */
function duration(seconds) {
  const parts = []
  let rest = Math.round(Math.abs(seconds))
  for (const [unit, size] of [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]]) {
    if (rest >= size || (unit === 's' && parts.length === 0)) parts.push(`${Math.floor(rest / size)} ${unit}`)
    rest %= size
  }
  return (seconds < 0 ? '−' : '') + parts.slice(0, 2).join(' ')
}

function plain(value) {
  if (value === null) return '–'
  if (typeof value === 'number') return number(value)
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'string') {
    if (/^-?[0-9.]+s$/.test(value)) return duration(parseFloat(value))
    if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return new Date(value).toLocaleString()
    return value
  }
  if (Array.isArray(value)) return value.map(plain).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

export class Cards {
  #client
  /** By path, in the order of the board. */
  #cards = new Map()
  #isLive = true

  constructor(client) {
    this.#client = client
  }

  /**
   * The cards of a node. Existing cards are reused.
   * @param title of the node.
   * @param panel its description in a container value: `{hidden}`, or one card with `value` (the attribute), `kind`, `title`,
   *   `unit`, `span`, `min` and `max`.
   */
  forNode(node, title, panel) {
    if (panel?.hidden) return []
    const attributes = node.attributes ?? {}
    const names = panel?.value ? [panel.value] : namesOf(node)
    const isAlone = names.length === 1 && !node.children
    const shown = names.filter((name) => attributes[name]).map((name) => {
      const path = `${node.path === '/' ? '' : node.path}.${name}`
      // Titles distinguish several views of one kind.
      const own = node.children ? words(name) : `${title}: ${words(name).toLowerCase()}`
      const label = panel?.title || (isAlone || name === 'percent' ? title : own)
      return [panel?.kind ?? kindOf(name, attributes[name]), path, { ...attributes[name], name, title: label, panel }]
    })
    return shown.map(([kind, path, attribute]) => ({ kind, element: this.#card(path, kind, attribute) }))
  }

  #card(path, kind, attribute) {
    const known = this.#cards.get(path)
    if (known?.kind === kind) return known.element
    const card = new Card(this.#client, path, kind, attribute)
    this.#cards.set(path, card)
    return card.element
  }

  show(path, change) {
    this.#cards.get(path)?.show(change)
    if (path.endsWith('.status')) {
      const status = STATUSES.includes(change.value) ? change.value : 'ok'
      const node = path.slice(0, -'.status'.length)
      for (const each of [path, `${node}.percent`]) this.#cards.get(each)?.setStatus(status)
    }
  }

  setLive(isLive) {
    this.#isLive = isLive
    this.showAges()
  }

  /** While the connection is lost, each card shows the age of its value. */
  showAges() {
    for (const card of this.#cards.values()) if (card.element.isConnected) card.showAge(!this.#isLive)
  }
}

function kindOf(name, { type, kind }) {
  if (name === 'percent') return 'gauge'
  if (name === 'status') return 'status'
  const isWritable = kind === 'state'
  if (type === 'bool') return isWritable ? 'toggle' : 'value'
  if (NUMBERS.includes(type)) return 'value'
  if (type === 'color') return 'color'
  if (type === 'map' || type.startsWith('map')) return 'table'
  if (type.startsWith('list')) return 'list'
  return type === 'string' && isWritable ? 'text' : 'value'
}

class Card {
  #client
  #path
  #attribute
  #samples = []
  #parts = {}
  #last = performance.now()
  #context = ''
  #motion = null
  #value

  constructor(client, path, kind, attribute) {
    this.#client = client
    this.#path = path
    this.kind = kind
    this.#attribute = attribute
    this.element = make('article', 'card is-come')
    const { panel } = attribute
    this.element.dataset.path = path
    this.element.tabIndex = 0
    const span = panel?.span ?? (kind === 'table' || kind === 'list' ? 2 : 1)
    if (span > 1) this.element.dataset.span = String(Math.min(4, span))
    const title = make('h3', '', panel?.title || attribute.title)
    title.title = path
    this.element.append(title, ...this.#body(), (this.#parts.context = make('p', 'context')))
    this.element.setAttribute('aria-label', attribute.title)
  }

  #body() {
    const parts = this.#parts
    switch (this.kind) {
      case 'gauge':
        parts.value = make('p', 'value')
        parts.bar = make('div', 'bar')
        parts.fill = make('i')
        parts.bar.append(parts.fill)
        parts.bar.setAttribute('role', 'meter')
        parts.bar.setAttribute('aria-valuemin', '0')
        parts.bar.setAttribute('aria-valuemax', '100')
        parts.bar.setAttribute('aria-label', this.#attribute.title)
        return [parts.value, parts.bar]
      case 'toggle':
        parts.switch = make('button', 'switch')
        parts.switch.append(make('i'))
        parts.switch.setAttribute('role', 'switch')
        parts.switch.setAttribute('aria-label', this.#attribute.title)
        parts.switch.addEventListener('click', () => this.#toggle())
        return [parts.switch]
      case 'text':
        parts.field = make('input', 'field')
        parts.field.setAttribute('aria-label', this.#attribute.title)
        parts.field.addEventListener('change', () => this.#write(parts.field.value))
        return [parts.field]
      case 'table':
      case 'list':
        parts.rows = make('table')
        return [parts.rows]
      default:
        parts.value = make('p', 'value')
        if (NUMBERS.includes(this.#attribute.type)) {
          parts.spark = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
          parts.spark.setAttribute('class', 'spark')
          parts.spark.setAttribute('viewBox', `0 0 ${SAMPLES - 1} 1`)
          parts.spark.setAttribute('preserveAspectRatio', 'none')
          parts.spark.setAttribute('aria-hidden', 'true')
          parts.line = document.createElementNS('http://www.w3.org/2000/svg', 'path')
          parts.spark.append(parts.line)
          return [parts.value, parts.spark]
        }
        return [parts.value]
    }
  }

  show(change) {
    this.#last = performance.now()
    const { value } = change
    this.#value = value
    this.element.querySelector('.failure')?.remove()
    if (value instanceof AttributeFailed) {
      // The error in words, instead of the value.
      this.element.append(make('p', 'failure', value.reason))
      if (this.#parts.value) this.#parts.value.textContent = '–'
      return
    }
    const parts = this.#parts
    switch (this.kind) {
      case 'gauge': return this.#showGauge(change)
      case 'toggle':
        parts.switch.setAttribute('aria-checked', String(value === true))
        parts.switch.disabled = this.#client.clock.isWritable === false
        return this.#say(value === true ? 'On' : 'Off')
      case 'text':
        if (document.activeElement !== parts.field) parts.field.value = value ?? ''
        parts.field.disabled = this.#client.clock.isWritable === false
        return
      case 'table': return this.#rows(Object.entries(value ?? {}))
      case 'list':
        return this.#rows(Array.isArray(value) ? value.slice(0, 8).map((each, i) => [each?.id ?? String(i + 1), shorten(each)]) : [])
      default: return this.#showValue(value)
    }
  }

  #showValue(value) {
    const { value: shown } = this.#parts
    const text = this.kind === 'status' && typeof value === 'string' ? words(value) : plain(value)
    shown.textContent = (this.kind === 'status' && ['warn', 'critical', 'stale'].includes(value) ? '▲ ' : '') + text
    shown.classList.toggle('words', typeof value === 'string' && text.length > 9)
    const unit = this.#attribute.panel?.unit
    if (unit) shown.append(make('span', 'unit', unit))
    if (typeof value === 'number' && this.#parts.line) {
      this.#samples.push(value)
      if (this.#samples.length > SAMPLES) this.#samples.shift()
      this.#draw()
    }
  }

  #draw() {
    const low = Math.min(...this.#samples)
    const high = Math.max(...this.#samples)
    const height = high - low || 1
    const first = SAMPLES - this.#samples.length
    const points = this.#samples.map((each, i) => `${first + i} ${(1 - (each - low) / height).toFixed(3)}`)
    this.#parts.line.setAttribute('d', points.length > 1 ? `M${points.join('L')}` : '')
    this.#say(high > low ? `${number(low)} to ${number(high)}` : '')
  }

  #showGauge({ value, css, timeline }) {
    const { value: shown, bar, fill } = this.#parts
    const { min = 0, max = 100, unit = '%' } = this.#attribute.panel ?? {}
    const part = (x) => Math.min(1, Math.max(0, (x - min) / (max - min)))
    shown.textContent = number(value)
    shown.append(make('span', 'unit', unit))
    bar.setAttribute('aria-valuenow', String(value))
    const target = `scaleX(${part(value)})`
    this.#motion?.cancel()
    fill.style.transform = target
    if (!css || !timeline || matchMedia('(prefers-reduced-motion: reduce)').matches) return
    // The browser plays the daemon's motion, starting at its present position.
    const passed = (this.#client.now() - timeline.start) * 1000
    const from = `scaleX(${part(timeline.components(timeline.start)[0])})`
    this.#motion = fill.animate([{ transform: from, easing: css.easing }, { transform: target }], parseFloat(css.duration))
    this.#motion.currentTime = Math.max(0, passed)
  }

  #rows(entries) {
    this.#parts.rows.replaceChildren(...entries.slice(0, 8).map(([name, value]) => {
      const row = make('tr')
      row.append(make('th', '', words(String(name))), make('td', '', plain(value)))
      return row
    }))
    this.#say(entries.length > 8 ? `and ${entries.length - 8} more` : '')
  }

  setStatus(status) {
    this.element.dataset.status = status
    // A colour alone is not accessible.
    if (this.kind !== 'status') this.#say(status === 'ok' ? '' : `▲ ${status}`)
  }

  #say(text) {
    this.#context = text
    if (!this.element.classList.contains('is-old')) this.#parts.context.textContent = text
  }

  showAge(isOld) {
    this.element.classList.toggle('is-old', isOld)
    const seconds = Math.round((performance.now() - this.#last) / 1000)
    this.#parts.context.textContent = isOld ? `${duration(seconds)} ago` : this.#context
  }

  #toggle() {
    // The new state is shown at once. If the daemon refuses, it is corrected.
    const before = this.#value === true
    this.#parts.switch.setAttribute('aria-checked', String(!before))
    this.#write(!before, () => this.#parts.switch.setAttribute('aria-checked', String(before)))
  }

  async #write(value, undo = () => {}) {
    try {
      await this.#client.set(this.#path, value, { animation: 'smooth', label: 'dashboard' })
    } catch (error) {
      undo()
      this.#say(error.reason ?? error.message)
    }
  }
}

function shorten(value) {
  if (typeof value !== 'object' || value === null) return value
  const scalars = Object.entries(value).filter(([name, each]) => name !== 'id' && typeof each !== 'object')
  return scalars.map(([name, each]) => `${name} ${plain(each)}`).join(' · ')
}
