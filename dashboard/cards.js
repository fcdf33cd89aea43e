/** A card shows one value, or a table of several. The daemon's method `board` says what it shows. */

import { AttributeFailed, ConnectionLost, TimedOut } from './gateway.js'
import { charts, History, Line, States } from './chart.js'
import { converted, decimalsOf, duration, isWrittenOut, number, plain, readable, words } from './format.js'
import { says } from './language.js'
import { play, stop } from './motion.js'

const NUMBERS = ['int', 'uint', 'double', 'angle']
/** A shape and a word go with every colour. */
// Tables whose names come from scenes and values have no other names, as `constructor`.
export const STATUS_SHAPES = { __proto__: null, ok: '●', warn: '▲', critical: '◆', stale: '◌' }
/** The same for what can be wrong with a card. */
export const SHAPES = { ...STATUS_SHAPES, error: '◆' }
/** The least milliseconds between two writes of a slider. */
const WRITE_PAUSE = 34
/** Seconds of the past that a card without a chart keeps for its sheet. */
const KEPT = 600

export function make(name, className, text) {
  const element = document.createElement(name)
  if (className) element.className = className
  if (text !== undefined) element.textContent = text
  return element
}

/** Cards with the same id are the same card, wherever it stands. */
export function idOf({ path, kind, panel: { position, section, span, width, height, featured, ...panel }, title, rows, fault, series, parts }) {
  return `${path} ${kind} ${JSON.stringify([panel, title, rows?.columns, fault, series, parts])}`
}

/** What the value of a card must be, if it is not null. */
const NEEDS = { __proto__: null, gauge: 'number', bar: 'number', slider: 'number', stepper: 'number', thermostat: 'number', toggle: 'boolean', light: 'boolean' }
/** Numbers that JSON has no form for. */
const WRITTEN = { __proto__: null, Infinity, '-Infinity': -Infinity, NaN }

export class Card {
  #isSettled = false
  #ticks = 0
  /** What is wrong in the present. */
  #trouble = null
  /** True while the card shows a moment of the past. */
  isPast = false
  /** Goes to a moment: see elements.js. */
  seek = null
  /** A window of the past in its chart: see earlier.js. */
  earlier = null

  /**
   * @param options `client`, what `board` answers of the card, `pasts` (what is known already of the pasts of its series), `open`
   *   (called with the card when its title is operated), `inspector` and `address` (make the addresses of an attribute's page and
   *   of a board), `onStatus` (called when the card has another status).
   */
  constructor({
    client, path, kind, panel = {}, title = '', type = 'dyn', rows = null, levels = [], status = null, height = 0, fault = null, series = null, parts = {},
    sort = null, pasts = [], open = null, inspector = null, address = null, onStatus = () => {},
  }) {
    Object.assign(this, { client, path, panel, type, title, levels, status, fault, onStatus, pasts, address, rows: cellsOf(rows) })
    // Several series have colours of their own, a single one has the accent.
    this.series = series?.map((each, i) => ({ ...each, tint: each.tint ?? `var(--series-${i % 6 + 1})` })) ?? [{ path, title: this.title }]
    /** Further attributes, by the member of the panel or the name in a text: `{ path, type, isWritable, value }`. */
    this.parts = new Map(Object.entries(parts).map(([name, part]) => [name, { ...part }]))
    this.sort = sort
    /** The newest value of each series. */
    this.values = []
    this.kind = KINDS[kind] || LATER[kind] ? kind : 'unknown'
    this.isNumber = NUMBERS.includes(type.replace(/\?$/, ''))
    this.element = make('article', `card kind-${this.kind}${series ? ' several' : ''}`)
    this.element.dataset.path = path
    if (height > 0) this.element.style.setProperty('--rows', String(height))
    if (panel.tint) this.element.style.setProperty('--accent', panel.tint)
    this.element.setAttribute('aria-label', this.title)
    const title_ = make('h3')
    // A text of a panel belongs to no attribute of its own.
    const isOfNode = kind === 'markdown' && typeof panel.text === 'string'
    if (isOfNode) this.series = []
    const target = fault ? null : linkOf(panel.link, address)
    if (target) {
      const link = make('a', 'link', this.title)
      link.href = target
      if (!panel.link.startsWith('/')) Object.assign(link, { target: '_blank', rel: 'noopener' })
      title_.append(link)
    } else if ((inspector || open) && !isOfNode) {
      // With a key for another window, it leads to the inspector.
      const link = make(inspector ? 'a' : 'button', '', this.title)
      if (inspector) link.href = inspector(path)
      if (open) {
        link.setAttribute('aria-haspopup', 'dialog')
        link.addEventListener('click', (event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return
          event.preventDefault()
          open(this)
        })
      }
      title_.append(link)
    } else {
      title_.textContent = this.title
    }
    title_.title = path
    if (panel.icon) iconOf(title_, String(panel.icon))
    this.body = make('div', 'body')
    this.context = make('p', 'context')
    this.element.append(title_, this.body, this.context)
    this.reported = null
    this.decimals = new Decimals()
    this.refusal = ''
    this.said = ''
    this.motions = []
    queueMicrotask(() => (this.#isSettled = true))
    this.view = (KINDS[this.kind] ?? READY[this.kind])?.(this) ?? this.#later()
    if (fault) this.fail({ message: fault })
  }

  /** Stands for a view whose module is being loaded, and keeps what the view is to show. */
  #later() {
    const changes = new Map()
    let isLoading = false
    const load = async () => {
      if (isLoading) return
      isLoading = true
      try {
        const view = (await LATER[this.kind]()).kinds[this.kind](this)
        this.view = view
        for (const [path, change] of changes) this.#give(change, path)
      } catch (error) {
        // Without a connection, it is tried again on return.
        isLoading = false
        if (this.view.isWaiting) this.fail({ message: says.notLoaded })
        else throw error
      }
    }
    load()
    return { isWaiting: true, show: (change, path) => changes.set(path, change), draw() {}, resume: load }
  }

  /** Shows a change of the value, or of another attribute of the card. */
  #give(change, path) {
    if (this.view.isWaiting || this.rows || this.series.some((each) => each.path === path)) this.view.show(change, path)
    else this.view.part?.()
  }

  /** The value of a further attribute; null if it is not known or failed. */
  part(name) {
    const { value } = this.parts.get(name) ?? {}
    return value === undefined || value instanceof AttributeFailed ? null : value
  }

  /** The paths whose changes this card shows. */
  get paths() {
    if (this.rows) return [...this.rows.cells.keys()]
    return [...new Set([...this.series, ...this.parts.values()].map((each) => each.path))]
  }

  /** The unit, language and decimals of a number. */
  get format() {
    const { format, decimals, unit, conversion } = this.panel
    return { format, decimals, unit, conversion, locale: this.locale }
  }

  /** The format of a number with its decimals, which only grow. */
  formatOf(value) {
    return typeof value === 'number' ? this.decimals.of(value, this.format) : this.format
  }

  /** A bool or a text in the words of the panel. */
  wordOf(value) {
    const { on, off } = this.panel
    if (typeof value === 'boolean') return (value ? on : off) ?? plain(value)
    return says.statuses[value] ?? plain(value, this.format)
  }

  /** Seconds since 1970 at a moment of the daemon's clock. */
  wall(time) {
    const { wallOffset = Date.now() / 1000 - time, offset = 0 } = this.client.clock ?? {}
    return time + wallOffset - offset
  }

  get isWritable() {
    return !this.isPast && this.client.clock?.isWritable !== false
  }

  add(...elements) {
    this.body.append(...elements)
  }

  setPast(isPast) {
    if (this.isPast === isPast) return
    this.isPast = isPast
    this.element.classList.toggle('is-past', isPast)
    this.body.title = isPast && this.body.querySelector('button, input, select, textarea') ? says.pastIsStill : ''
  }

  /** Keeps a present value for the line, while the card shows the past. */
  keep(path, { value, reported }) {
    this.#note(reported)
    const i = this.rows ? -1 : this.series.findIndex((each) => each.path === path)
    if (i < 0 || this.fault) return
    if (value instanceof AttributeFailed) this.pasts[i]?.interrupt(this.now)
    else this.#remember(i, this.isNumber && value in WRITTEN ? WRITTEN[value] : value)
    this.view.tick?.()
  }

  show(path, change) {
    this.#note(change.reported)
    if (this.fault) return
    const at = this.rows ? -1 : this.series.findIndex((each) => each.path === path)
    for (const part of this.parts.values()) if (part.path === path) part.value = change.value
    if (at < 0 && this.parts.size > 0 && !this.rows) return this.#give(change, path)
    if (at >= 0) this.values[at] = change.value
    if (change.value instanceof AttributeFailed && !this.rows) {
      if (this.series.every((_, i) => this.values[i] instanceof AttributeFailed)) return this.fail(change.value)
      change = { ...change, value: null }
    }
    const needed = NEEDS[this.kind]
    if ((this.isNumber || needed === 'number') && change.value in WRITTEN) change = { ...change, value: WRITTEN[change.value] }
    const { value } = change
    if (needed && value !== null && typeof value !== needed) {
      return this.fail({ message: says.needs(this.kind, says.nouns[needed], says.nouns[Array.isArray(value) ? 'list' : typeof value]) })
    }
    this.failure?.remove()
    this.failure = null
    this.body.hidden = false
    this.value = value
    this.#judge()
    if (at >= 0) {
      if (!(this.values[at] instanceof AttributeFailed)) this.values[at] = value
      if (!this.isPast) this.#remember(at, value)
    }
    this.view.show(change, path)
    this.#compare()
  }

  /** Notes a value for the past of the card. A value that is no number leaves a gap on an axis. */
  #remember(i, value) {
    const isNothing = value === null || typeof value === 'object'
    if (isNothing && !this.pasts[i]) return
    const past = (this.pasts[i] ??= typeof value === 'number' ? new History(KEPT) : new States())
    if (past instanceof History ? Number.isFinite(value) : !isNothing) past.add(value, this.now)
    else past.interrupt(this.now)
  }

  /** Nothing is known after this moment. */
  #interrupt(time) {
    for (const past of this.pasts) past?.interrupt(time)
  }

  /** After a gap, a value that has not changed holds again. */
  hold() {
    if (this.isOld || this.isPast || this.failure || this.rows) return
    this.pasts.forEach((past, i) => {
      const value = this.values[i]
      if (past?.value === null && value !== undefined && !(value instanceof AttributeFailed)) this.#remember(i, value)
    })
  }

  /** The age of a card counts from the last report of its value, and of a table from the newest one. */
  #note(time) {
    if (typeof time === 'number') this.reported = this.rows ? Math.max(this.reported ?? -Infinity, time) : time
  }

  /** Seconds of the daemon's clock, which goes on while the page's device sleeps. */
  get now() {
    return this.client.now()
  }

  /** The right edge of its chart. */
  get edge() {
    return this.earlier?.end ?? this.now
  }

  get shownPasts() {
    return this.earlier?.pasts ?? this.pasts
  }

  /** The error in words, instead of the value. */
  fail(failure) {
    if (!this.isPast) this.#interrupt(this.now)
    this.values = this.values.map((each) => (each instanceof AttributeFailed ? each : null))
    this.#compare()
    if (this.kind === 'status') this.setStatus(null)
    this.failure ??= make('p', 'failure')
    this.failure.textContent = readable(failure.reason ?? failure.message, this.locale?.replace('_', '-'))
    this.failure.title = failure.path ?? this.path
    this.element.insertBefore(this.failure, this.context)
    this.body.hidden = true
    this.#judge()
  }

  /** Thresholds give the status, if nothing else does. */
  #compare() {
    if (this.levels.length === 0) return
    const known = this.values.filter((each) => typeof each === 'number' && !Number.isNaN(each))
    if (known.length === 0) return this.setStatus(null)
    this.setStatus(statusAt(this.levels, this.panel.stacked ? [known.reduce((sum, each) => sum + each, 0)] : known))
  }

  /** What is wrong with the card: `critical`, `error`, `warn` or `stale`; null if nothing is. */
  #judge() {
    const { status } = this.element.dataset
    const trouble = this.failure ? 'error' : status && status !== 'ok' ? status : null
    if (trouble === this.trouble) return
    // Nobody knows since when a card has been as it was when it was made.
    if (this.#isSettled && !this.isPast && trouble !== this.#trouble) this.since = Date.now()
    if (!this.isPast) this.#trouble = trouble
    this.trouble = trouble
    this.onStatus()
  }

  /** A status that is none of the four has no colour. */
  setStatus(status) {
    const known = status in STATUS_SHAPES ? status : undefined
    if (this.element.dataset.status === known) return
    if (known) this.element.dataset.status = known
    else delete this.element.dataset.status
    this.#judge()
    this.#tell()
  }

  /** The line below the value. */
  say(text = '') {
    this.said = text
    this.#tell()
  }

  /** The line below the value, while a person points at a moment of the past. */
  sayOfMoment(text) {
    this.ofMoment = text
    this.#tell()
  }

  /** A refusal stays until the user operates the card again, and the age as long as the connection is lost. */
  #tell() {
    const { status } = this.element.dataset
    const isNotable = this.kind !== 'status' && status && status !== 'ok'
    const mark = isNotable ? `${STATUS_SHAPES[status]} ${says.statuses[status]}` : ''
    const isShort = this.kind === 'gauge' && mark
    const age = this.isOld && this.reported !== null ? says.ago(duration(this.now - this.reported)) : ''
    const said = this.refusal || age ? [this.refusal, age] : this.ofMoment ? [this.ofMoment] : [mark, isShort ? '' : this.said]
    const text = said.filter(Boolean).join(' · ')
    if (this.context.textContent !== text) this.context.textContent = text
  }

  #refuse(text) {
    this.refusal = text
    this.element.classList.toggle('is-refused', text !== '')
    // Screen readers announce it.
    if (text) this.context.setAttribute('role', 'alert')
    else this.context.removeAttribute('role')
    this.#tell()
  }

  /** Gives a table other rows. The result is true if there are other ones. */
  setRows(given) {
    const rows = cellsOf(given)
    const isOther = Boolean(rows) && [...rows.cells.keys()].join() !== this.paths.join()
    if (isOther) {
      this.rows = rows
      this.view.draw()
    }
    return isOther
  }

  setLocale(locale) {
    if (this.locale === locale) return
    this.locale = locale
    if (this.value !== undefined && !this.rows) this.view.show({ value: this.value }, this.path)
    else if (this.parts.size > 0) this.view.part?.()
  }

  /** Each card says how old its value is while the connection is lost. */
  setLive(isLive) {
    if (this.isOld === !isLive) return
    this.isOld = !isLive
    this.element.classList.toggle('is-old', this.isOld)
    if (this.isOld) this.#interrupt(this.client.clock?.heard ?? this.now)
    else {
      // Changes come within a second.
      this.#ticks = 2
      this.view.resume?.()
    }
    this.tick()
  }

  /** Nobody sees the page, which reads nothing any more. */
  pause() {
    this.#interrupt(this.client.clock?.heard ?? this.now)
  }

  /** Somebody sees the page again. */
  resume() {
    this.#ticks = 2
    this.view.resume?.()
  }

  tick() {
    if (this.#ticks > 0 && --this.#ticks === 0) this.hold()
    this.#tell()
    this.view.tick?.()
  }

  /** Writes, and says why if the daemon refuses. */
  async write(value, { undo, ...options } = {}) {
    return this.perform(() => this.client.set(this.path, value, { label: 'dashboard', ...options }), undo)
  }

  async perform(act, undo) {
    this.#refuse('')
    try {
      await act()
    } catch (error) {
      undo?.()
      const said = String(error.reason ?? error.message)
      // The card stands for its path.
      const text = said.startsWith(`${this.path}: `) ? said.slice(this.path.length + 2) : said
      const isUnknown = (error instanceof ConnectionLost || error instanceof TimedOut) && !text.includes('may have happened')
      this.#refuse(isUnknown ? says.outcomeUnknown(text) : text)
    }
  }

  /** Several changes at once. */
  mutate(mutations, undo) {
    return this.perform(() => this.client.transact(mutations, { label: 'dashboard', ...this.animation }), undo)
  }

  get animation() {
    return this.panel.animation ? { animation: this.panel.animation } : { animation: 'smooth' }
  }

  /** Ends its motions, and takes no part in questions any more. */
  end() {
    for (const motion of this.motions.flat()) stop(motion)
    charts.delete(this.view)
  }

  remove() {
    this.end()
    this.element.remove()
  }
}

/** The status that numbers have by thresholds, of which the worst is the last. */
export function statusAt(levels, numbers) {
  const reached = levels.filter(({ from, to }) => numbers.some((each) => (to === undefined ? each >= from : each <= to)))
  return reached.at(-1)?.status ?? 'ok'
}

/** The decimals of one value. They only grow, so that its figures do not jump about. */
export class Decimals {
  #count = 0
  #greatest = 0

  get count() {
    return this.#greatest < 1 ? this.#count : Math.min(2, this.#count)
  }

  /** The format in which a number is written, with its decimals if the format leaves them open. */
  of(value, format) {
    const size = format.format === 'percent' ? value * 100 : converted(value, format.conversion)
    const isOpen = ['number', 'percent', undefined].includes(format.format) && format.decimals === undefined
    if (!isOpen || !isWrittenOut(size)) return format
    this.#count = Math.max(this.#count, decimalsOf(size))
    this.#greatest = Math.max(this.#greatest, Math.abs(size))
    return { ...format, decimals: this.count }
  }
}

/** The number in large figures. */
export function figures(card) {
  const element = make('p', 'value')
  const text = document.createTextNode('–')
  const unit = make('span', 'unit')
  element.append(text, unit)
  card.add(element)
  return (value) => {
    const isNumber = typeof value === 'number'
    const [shown, mark] = isNumber ? number(value, card.decimals.of(value, card.format))
      : [plain(value, { locale: card.locale }), value === null ? '' : card.panel.unit ?? '']
    // Equal texts would make the browser draw.
    if (text.data !== shown) text.data = shown
    if (unit.textContent !== mark) unit.textContent = mark
    // A number whose end is cut off would be another number.
    element.classList.toggle('words', shown.length > (isNumber ? 7 : 9))
  }
}

/** The ends of a gauge, bar or slider. */
export function scaleOf({ panel }, [least, most] = [0, panel.format === 'percent' ? 1 : 100]) {
  const [min, max] = [Number(panel.min ?? least), Number(panel.max ?? most)]
  return { min, max, part: (value) => (Number.isFinite(value) ? (value - min) / (max - min || 1) : value > 0 ? 1 : 0) }
}

function meter(card, element) {
  const { min, max } = scaleOf(card)
  element.setAttribute('role', 'meter')
  element.setAttribute('aria-label', card.title)
  element.setAttribute('aria-valuemin', String(min))
  element.setAttribute('aria-valuemax', String(max))
  return (value) => {
    // Null is no place on the scale, and neither is what is not a number.
    const isPlace = typeof value === 'number' && !Number.isNaN(value)
    card.body.classList.toggle('is-empty', !isPlace)
    if (isPlace) element.setAttribute('aria-valuenow', String(Math.min(max, Math.max(min, value))))
    else element.removeAttribute('aria-valuenow')
    element.setAttribute('aria-valuetext', plain(value, card.format))
  }
}

/** The thresholds of a card: `[number, status]`. */
function levelsOf({ levels }) {
  return levels.map(({ from, to, status }) => [from ?? to, status])
}

/** Where a link leads; null if there is none. */
export function linkOf(link, address) {
  return link ? (link.startsWith('/') ? address?.(link) ?? null : link) : null
}

/** A table of subviews, with its columns by path, row by row. */
function cellsOf(rows) {
  if (!rows) return null
  const { columns, views, more } = rows
  const cells = new Map(views.flatMap(({ path }) => columns.map((column) => [`${path}.${column}`, column])))
  return { columns, views, ids: views.map(({ id }) => id), cells, more }
}

/** Thresholds as parts of the scale. */
function thresholds(card, part) {
  return levelsOf(card).map(([limit, level]) => ({ level, at: part(limit) })).filter(({ at }) => at > 0 && at < 1)
}

/** Moves elements by the timelines of a number. The frame of the element at an index may bend at the values `bends(index)`. */
export function mover(card, elements, frame, bends = () => []) {
  const motions = elements.map(() => null)
  card.motions.push(motions)
  return (change) => {
    elements.forEach((element, i) => {
      stop(motions[i])
      Object.assign(element.style, frame(change.value, i))
      motions[i] = play(element, change, ([x]) => frame(x, i), () => card.client.now(), bends(i))
    })
  }
}

export function svg(name, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...children)
  return element
}

/** An arc of 270°, open below. */
export const ARC = 'M 21.7 78.3 A 40 40 0 1 1 78.3 78.3'
/**
 * Its first 180°, a little less so that no edge of it is seen at 0, and its last 90°, before both are turned to the
 * left by 45°. The second begins under the first.
 */
const PARTS = ['M 10 49.6 A 40 40 0 0 1 90 49.6', 'M 89.95 47.91 A 40 40 0 0 1 50 90']
/** The parts of the scale at which the first part stops, and at which the second one begins: earlier, so that there is no seam. */
const BENDS = [2 / 3, 2 / 3 - 0.0156]

/** A field for `card` that is disabled while pages may not write. */
export function control(card, element, label = card.title) {
  element.setAttribute('aria-label', label)
  return () => {
    element.disabled = !card.isWritable
    element.title = card.isWritable ? '' : card.isPast ? says.pastIsStill : says.readOnly
  }
}

function optionsOf({ panel }) {
  const given = panel.options ?? []
  return Array.isArray(given)
    ? given.map((each) => (each !== null && typeof each === 'object' ? [each.value, each.title ?? each.value] : [each, plain(each)]))
    : Object.entries(given)
}

/**
 * A switch for a bool of a card. `show` shows a value and gives the word for it. `write` writes another attribute than that
 * of the card.
 */
export function switchOf(card, { label, get = () => card.value, write = (...given) => card.write(...given), changed = (said) => card.say(said) } = {}) {
  const button = make('button', 'switch')
  button.type = 'button'
  button.append(make('i'))
  button.setAttribute('role', 'switch')
  const enable = control(card, button, label)
  const set = (isOn) => {
    button.setAttribute('aria-checked', String(isOn === true))
    button.classList.toggle('is-empty', isOn === null)
    return isOn === null ? '–' : isOn ? card.panel.on ?? says.on : card.panel.off ?? says.off
  }
  button.addEventListener('click', () => {
    // The new state is shown at once. If the daemon refuses, it is corrected.
    const wanted = get() !== true
    changed(set(wanted))
    write(wanted, { ...card.animation, undo: () => changed(set(get())) })
  })
  return {
    element: button,
    show(value) {
      enable()
      return set(value)
    },
  }
}

/** A slider for a number of a card. `said` is told the number that is shown. */
export function slideOf(card, { scale: { min, max, part }, type = card.type, label, write, said }) {
  const input = make('input')
  Object.assign(input, { type: 'range', min, max, step: card.panel.step ?? (type === 'int' ? 1 : (max - min) / 100) })
  const enable = control(card, input, label)
  let [isHeld, isBusy, wanted, target] = [false, false, null, undefined]
  const place = (value) => {
    input.value = value ?? min
    input.style.setProperty('--part', String(Math.min(1, Math.max(0, part(Number(input.value))))))
    input.setAttribute('aria-valuetext', plain(value === null ? null : Number(value), card.format))
  }
  const send = async () => {
    if (isBusy) return
    isBusy = true
    while (wanted !== null) {
      const value = wanted
      wanted = null
      await write(value)
      await new Promise((resolve) => setTimeout(resolve, WRITE_PAUSE))
    }
    isBusy = false
    release()
  }
  // When the thumb is released, the daemon's value counts.
  const release = () => {
    if (!isHeld && !isBusy && target !== undefined) {
      place(target)
      said(target)
    }
  }
  input.addEventListener('input', () => {
    isHeld = true
    place(input.value)
    wanted = Number(input.value)
    said(wanted)
    send()
  })
  input.addEventListener('change', () => {
    isHeld = false
    release()
  })
  return {
    element: input,
    show(value, isEnabled = true) {
      enable()
      if (!isEnabled) input.disabled = true
      target = value
      release()
    },
  }
}

/** A button that adds to a number of a card. */
export function stepButton(card, text, word, act) {
  const button = make('button', 'step', text)
  button.type = 'button'
  button.setAttribute('aria-label', `${card.title}: ${word}`)
  button.addEventListener('click', act)
  return button
}

/** Draws the icon of a card beside its title: a name of icons.js, or a sign as it is. */
async function iconOf(heading, name) {
  const icon = make('span', 'icon', /^[\w-]+$/.test(name) ? '' : name)
  icon.setAttribute('aria-hidden', 'true')
  heading.prepend(icon)
  if (icon.textContent) return
  const { draw } = await import('./icons.js')
  draw(icon, name)
}

/** Kinds whose modules are loaded when they are first used. */
const LATER = {
  __proto__: null, table: () => import('./tables.js'), list: () => import('./tables.js'), log: () => import('./log.js'), markdown: () => import('./markdown.js'),
  thermostat: () => import('./tiles.js'), light: () => import('./tiles.js'),
}

/** Those that are there. */
const READY = { __proto__: null }

/** Loads what the first picture of a board needs, so that its cards have their size at once. */
export async function prepare(kinds) {
  const missing = [...new Set(kinds)].filter((kind) => LATER[kind] && !READY[kind])
  await Promise.allSettled(missing.map(async (kind) => (READY[kind] = (await LATER[kind]()).kinds[kind])))
}

/** What a card of each kind shows. `show` gets each change; `tick` is called every second. */
const KINDS = {
  __proto__: null,

  unknown(card) {
    return { show: () => {} }
  },

  link(card) {
    card.add(make('p', 'value words', says.open))
    return { show: () => {} }
  },

  value(card) {
    const write = figures(card)
    return { show: ({ value }) => write(value) }
  },

  sparkline(card) {
    const write = figures(card)
    const { window = 60, normal } = card.panel
    const line = lineOf(card, { span: Number(window), normal })
    card.add(line.element)
    return lined(card, line, { plot: line.element, write: () => write(card.value) })
  },

  chart(card) {
    const { window = 300, normal, min, max, stacked } = card.panel
    const isOne = card.series.length === 1
    const line = lineOf(card, { span: Number(window), isLarge: true, isStacked: Boolean(stacked) && !isOne, normal, min, max })
    const write = isOne || line.isStacked ? figures(card) : () => {}
    const plot = plotOf(card)
    const [top, bottom] = [make('span', 'end top'), make('span', 'end bottom')]
    plot.append(line.element, top, bottom)
    const view = lined(card, line, {
      plot,
      write() {
        const known = card.values.filter(Number.isFinite)
        write(isOne ? card.value : known.length > 0 ? known.reduce((sum, each) => sum + each, 0) : null)
      },
      drawn() {
        const ends = line.axis()
        const shown = ends.map((end) => converted(end, card.panel.conversion))
        const isRough = (count) => shown.some((end) => Math.abs(end - Number(end.toFixed(count))) > 0.02 * Math.abs(shown[1] - shown[0]))
        const decimals = [0, 1, 2].find((count) => !isRough(count)) ?? 3
        const written = (end) => plain(end, { ...card.format, unit: '', ...(card.panel.format ? {} : { decimals }) })
        if (top.textContent !== written(ends[1])) top.textContent = written(ends[1])
        if (bottom.textContent !== written(ends[0])) bottom.textContent = written(ends[0])
      },
    })
    return furnish(view)
  },

  /** Bars of time for bools, texts, and numbers that stand for something. */
  timeline(card) {
    const write = card.series.length === 1 ? figures(card) : () => {}
    card.pasts = card.series.map((_, i) => (card.pasts[i] instanceof States ? card.pasts[i] : new States()))
    const plot = plotOf(card)
    const draw = onFrame(() => view.drawn.forEach((each) => each()))
    const view = {
      card, plot, span: Number(card.panel.window ?? 3600), drawn: [],
      show() {
        write(typeof card.value === 'boolean' || typeof card.value === 'string' ? card.wordOf(card.value) : card.value)
        draw()
      },
      tick: draw,
    }
    attend(view)
    return furnish(view)
  },

  bar(card) {
    const write = figures(card)
    const { part } = scaleOf(card)
    const track = make('div', 'bar')
    const fill = make('i')
    track.append(fill)
    for (const { level, at } of thresholds(card, part)) {
      const tick = make('b', level)
      tick.style.insetInlineStart = `${at * 100}%`
      track.append(tick)
    }
    card.add(track)
    const report = meter(card, track)
    const move = mover(card, [fill], (x) => ({ transform: `scaleX(${part(x)})` }))
    return {
      show(change) {
        write(change.value)
        report(change.value)
        move(change)
      },
    }
  },

  gauge(card) {
    const { min, max, part } = scaleOf(card)
    // The arc's parts turn behind windows, because browsers move transforms without drawing anew.
    const parts = PARTS.map((d) => svg('svg', { viewBox: '0 0 100 100', class: 'fill', 'aria-hidden': 'true' }, svg('path', { d })))
    const windows = make('div', 'windows')
    for (const each of parts) windows.appendChild(make('div')).append(each)
    const ticks = thresholds(card, part).map(({ level, at }) => {
      const angle = ((135 + 270 * at) * Math.PI) / 180
      const point = (r) => `${(50 + r * Math.cos(angle)).toFixed(2)} ${(50 + r * Math.sin(angle)).toFixed(2)}`
      return svg('path', { d: `M ${point(46)} L ${point(50)}`, class: `tick ${level}` })
    })
    const dial = svg('svg', { viewBox: '0 0 100 90', class: 'dial' }, svg('path', { d: ARC, class: 'track' }), ...ticks)
    const face = make('div', 'face')
    face.append(dial, windows)
    card.add(face)
    const write = figures(asFace(card, face))
    const report = meter(card, dial)
    // Each part turns between its ends, also if the value is not on the scale.
    const ends = [[0, BENDS[0]], [BENDS[1], 1]]
    const turn = (x, [from, to]) => Math.min(to, Math.max(from, part(x))) - to
    const bends = ends.map((pair) => pair.map((end) => min + (max - min) * end))
    const move = mover(card, parts, (x, i) => ({ transform: `rotate(${270 * turn(x, ends[i])}deg)` }), (i) => bends[i])
    card.say(says.range(plain(min, { ...card.format, unit: '', decimals: undefined }), plain(max, { ...card.format, decimals: undefined })))
    return {
      show(change) {
        write(change.value)
        report(change.value)
        move(change)
      },
    }
  },

  status(card) {
    const shown = make('p', 'value words')
    const shape = make('span', 'shape')
    shape.setAttribute('aria-hidden', 'true')
    const text = document.createTextNode('–')
    shown.append(shape, text)
    // Screen readers announce a change of status, and no other value.
    shown.setAttribute('role', 'status')
    card.add(shown)
    return {
      show({ value }) {
        const status = typeof value === 'boolean' ? (value ? 'ok' : 'critical') : String(value)
        const said = typeof value === 'string' ? says.statuses[value] ?? words(value) : plain(value)
        shape.textContent = STATUS_SHAPES[status] ?? '○'
        if (text.data !== said) text.data = said
        card.setStatus(status)
      },
    }
  },

  toggle(card) {
    const button = switchOf(card)
    card.add(button.element)
    return { show: ({ value }) => card.say(button.show(value)) }
  },

  slider(card) {
    const write = figures(card)
    const slide = slideOf(card, { scale: scaleOf(card), write: (value) => card.write(value), said: write })
    card.add(slide.element)
    return { show: ({ value }) => slide.show(value) }
  },

  stepper(card) {
    const write = figures(card)
    const { min, max, step = 1 } = card.panel
    const row = make('div', 'steps')
    const buttons = [['−', -step, says.less], ['+', step, says.more]].map(([text, by, word]) => {
      // Added by the daemon, so that nothing is lost if two pages press at once.
      const button = stepButton(card, text, word, () => card.mutate([{ op: 'add', path: card.path, value: by }]))
      row.append(button)
      return [button, by]
    })
    card.add(row)
    return {
      show({ value }) {
        write(value)
        for (const [button, by] of buttons) {
          const next = value + by
          button.disabled = !card.isWritable || value === null || (min !== undefined && next < min) || (max !== undefined && next > max)
        }
      },
    }
  },

  field(card) {
    // A line of an input cannot have line breaks: they would be lost with the first change.
    const input = make(card.isNumber ? 'input' : 'textarea', 'field')
    input.autocomplete = 'off'
    input.dir = 'auto'
    input.rows = 1
    card.add(input)
    const enable = control(card, input)
    const isTyping = () => input.getRootNode().activeElement === input
    input.addEventListener('change', () => {
      const value = card.isNumber ? Number(input.value) : input.value
      card.write(value, { undo: () => (input.value = card.value ?? '') })
    })
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        input.value = card.value ?? ''
        input.blur()
      } else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing && !card.isNumber) {
        event.preventDefault()
        // What was typed is written when the field loses the focus.
        input.blur()
        input.focus()
      }
    })
    return {
      show({ value }) {
        enable()
        if (!isTyping()) input.value = value ?? ''
      },
    }
  },

  picker(card) {
    const options = optionsOf(card)
    const isShort = options.length <= 4 && options.every(([, title]) => String(title).length <= 12)
    if (!isShort) {
      const select = make('select', 'field')
      for (const [value, title] of options) select.append(new Option(title, JSON.stringify(value)))
      card.add(select)
      const enable = control(card, select)
      const set = (value) => (select.value = JSON.stringify(value))
      select.addEventListener('change', () => card.write(JSON.parse(select.value), { ...card.animation, undo: () => set(card.value) }))
      return {
        show({ value }) {
          enable()
          set(value)
        },
      }
    }
    const group = make('div', 'segments')
    group.setAttribute('role', 'radiogroup')
    group.setAttribute('aria-label', card.title)
    const name = `pick-${Math.random().toString(36).slice(2)}`
    const inputs = options.map(([value, title]) => {
      const label = make('label')
      const input = make('input')
      Object.assign(input, { type: 'radio', name })
      input.addEventListener('change', () => card.write(value, { ...card.animation, undo: () => set(card.value) }))
      label.append(input, make('span', '', title))
      group.append(label)
      return [input, value]
    })
    const set = (now) => {
      for (const [input, value] of inputs) {
        input.checked = value === now
        input.disabled = !card.isWritable
      }
    }
    card.add(group)
    return { show: ({ value }) => set(value) }
  },

  button(card) {
    const { set, add, toggle, label } = card.panel
    const button = make('button', 'push', label ?? card.title)
    button.type = 'button'
    card.add(button)
    const enable = control(card, button)
    button.setAttribute('aria-label', label ? `${card.title}: ${label}` : card.title)
    const mutation = toggle ? { op: 'toggle' } : add !== undefined ? { op: 'add', value: add } : { op: 'set', value: set ?? true }
    const options = { label: 'dashboard', ...card.animation }
    let isAction = false
    button.addEventListener('click', () => {
      card.perform(() => isAction
        ? card.client.do(card.path, {}, options) : card.client.transact([{ ...mutation, path: card.path }], options))
    })
    return {
      show({ value }) {
        enable()
        // The value of an action tells its parameters; the button gives none.
        isAction = typeof value?.parameters === 'object'
        const missing = Object.entries(value?.parameters ?? {}).filter(([, each]) => !('default' in each))
        if (missing.length > 0) {
          button.disabled = true
          return card.say(says.needsParameters(missing.map(([name]) => name).join(', ')))
        }
        card.say(add !== undefined || toggle ? plain(value, card.format) : '')
      },
    }
  },

  color(card) {
    const swatch = make('div', 'swatch')
    const text = make('p', 'code')
    const input = make('input')
    input.type = 'color'
    card.add(swatch, text)
    const enable = control(card, input)
    if (card.panel.kind) swatch.append(input)
    input.addEventListener('input', () => card.write(input.value, { undo: () => (input.value = hexOf(swatch)) }))
    const motions = [null]
    card.motions.push(motions)
    return {
      show(change) {
        enable()
        const { value, timeline } = change
        text.textContent = plain(value)
        swatch.style.backgroundColor = value ?? ''
        input.value = hexOf(swatch)
        stop(motions[0])
        const frame = ([l, a, b, alpha]) => ({
          backgroundColor: `oklab(${[l, a, b].map((x) => (alpha > 0 ? x / alpha : 0).toFixed(6)).join(' ')} / ${alpha.toFixed(6)})`,
        })
        motions[0] = timeline?.space === 'oklab' ? play(swatch, change, frame, () => card.client.now()) : null
      },
    }
  },

  image(card) {
    const image = make('img')
    image.alt = card.title
    image.addEventListener('error', () => card.fail({ message: says.noImage(String(card.value).slice(0, 80)) }))
    card.add(image)
    return {
      show({ value }) {
        image.hidden = value === null
        if (value !== null) image.src = String(value)
      },
    }
  },

  text(card) {
    const text = make('p', 'prose')
    card.add(text)
    return { show: ({ value }) => (text.textContent = plain(value, { locale: card.locale })) }
  },
}

/** A part of a card that takes the place of the card's body. */
export function asFace(card, face) {
  return {
    add: (...elements) => face.append(...elements),
    get format() { return card.format },
    get panel() { return card.panel },
    get locale() { return card.locale },
    decimals: card.decimals,
  }
}

/** A line of all series of a card. */
function lineOf(card, options) {
  const { span } = options
  const histories = card.series.map((_, i) => (card.pasts[i] instanceof History ? card.pasts[i] : new History(span)))
  card.pasts = histories
  return new Line({ ...options, histories, tints: card.series.map(({ tint }) => tint), levels: levelsOf(card), clock: () => card.edge })
}

/** Where a chart is drawn. Keys and pointers ask it for values (crosshair.js). */
function plotOf(card) {
  const plot = make('div', 'plot')
  plot.tabIndex = 0
  plot.setAttribute('role', 'slider')
  plot.setAttribute('aria-label', says.momentOf(card.title))
  for (const [name, value] of [['min', -1], ['max', 0], ['now', 0]]) plot.setAttribute(`aria-value${name}`, String(value))
  plot.setAttribute('aria-valuetext', says.now)
  const times = make('p', 'times', says.now)
  times.setAttribute('aria-hidden', 'true')
  card.add(plot, times)
  return plot
}

/** Gives a chart what is not needed for its first picture: axis, legend, areas or bars, and the table behind it. */
function furnish(view) {
  const { resume } = view
  let isAsked = false
  const load = async () => {
    if (isAsked) return
    isAsked = true
    try {
      await (await import('./plot.js')).furnish(view)
      view.tick()
    } catch {
      // Without a connection, it is tried again on return.
      isAsked = false
    }
  }
  load()
  return Object.assign(view, {
    resume() {
      load()
      resume?.()
    },
  })
}

/** Charts answer questions when they are first pointed at or focused. */
function attend(view) {
  charts.add(view)
  const first = new AbortController()
  const begin = async (event) => {
    first.abort()
    const { point } = await import('./crosshair.js')
    point(view, event)
  }
  for (const name of ['pointerenter', 'focus']) view.plot.addEventListener(name, begin, { signal: first.signal })
}

/** Calls at most once a frame, and not while nobody can see it. */
function onFrame(act) {
  let isDue = false
  return () => {
    if (isDue || document.hidden) return
    isDue = true
    requestAnimationFrame(() => {
      isDue = false
      act()
    })
  }
}

function lined(card, line, { plot, write, drawn = () => {} }) {
  const range = () => {
    if (card.series.length > 1) return write()
    const found = line.range()
    const isFlat = !found || found[0] === found[1]
    // The value and both ends have the same decimals.
    const { count } = card.decimals
    const format = isFlat ? card.format : found.map((each) => card.formatOf(each)).at(-1)
    if (card.decimals.count !== count) write()
    card.say(isFlat ? '' : says.range(plain(found[0], { ...format, unit: '' }), plain(found[1], format)))
  }
  const draw = onFrame(() => {
    line.draw()
    drawn()
    for (const each of view.drawn) each()
  })
  const update = () => {
    range()
    draw()
  }
  const view = {
    card, line, plot, span: line.span, drawn: [],
    show() {
      if (card.series.length === 1) write()
      update()
    },
    resume: filler(card),
    tick: update,
  }
  attend(view)
  return view
}

/** Reads what the daemon has recorded of each series, at the beginning and after a gap. */
export function filler(card) {
  const states = card.series.map(() => ({ hasPast: true, isAsked: false }))
  const ask = async (state, i) => {
    if (!state.hasPast || state.isAsked) return
    state.isAsked = true
    try {
      const { step, times, least, greatest } = await card.client.history(card.series[i].path)
      const shift = card.wall(0)
      card.pasts[i].fill(times.map((time, k) => ({ time: Date.parse(time) / 1000 - shift, low: least[k], high: greatest[k] })), step, card.now)
      card.hold()
      card.view.tick()
    } catch (error) {
      // Without a past that the daemon records, the line begins now. If the connection is lost, the past is read on return.
      if (error.code) state.hasPast = false
    }
    state.isAsked = false
  }
  const fill = () => states.forEach(ask)
  fill()
  return fill
}

/** The colour of an element as a field for colours needs it. */
function hexOf(element) {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 1
  const context = canvas.getContext('2d')
  context.fillStyle = element.style.backgroundColor
  context.fillRect(0, 0, 1, 1)
  return `#${[...context.getImageData(0, 0, 1, 1).data.slice(0, 3)].map((each) => each.toString(16).padStart(2, '0')).join('')}`
}
