/** A card shows one value, or a table of several. The daemon's method `board` says what it shows. */

import { AttributeFailed, ConnectionLost, TimedOut } from './gateway.js'
import { charts, History, Line, States } from './chart.js'
import { decimalsOf, duration, isWrittenOut, member, number, plain, readable, words } from './format.js'
import { play, stop } from './motion.js'

const NUMBERS = ['int', 'uint', 'double', 'angle']
/** A shape and a word go with every colour. */
// Tables whose names come from scenes and values have no other names, as `constructor`.
const STATUS_SHAPES = { __proto__: null, ok: '●', warn: '▲', critical: '◆', stale: '◌' }
/** The same for what can be wrong with a card; the word is for a number of cards. */
export const SHAPES = { ...STATUS_SHAPES, error: '◆' }
export const WORDS = {
  __proto__: null, critical: () => 'critical', error: (count) => (count > 1 ? 'errors' : 'error'), warn: (count) => (count > 1 ? 'warnings' : 'warning'),
  stale: () => 'stale',
}
/** The least milliseconds between two writes of a slider. */
const WRITE_PAUSE = 34
const MOST_ROWS = 100
const MOST_COLUMNS = 6
const MOST_LINES = 100
/** Seconds of the past that a card without a chart keeps for its sheet. */
const KEPT = 600

export function make(name, className, text) {
  const element = document.createElement(name)
  if (className) element.className = className
  if (text !== undefined) element.textContent = text
  return element
}

/** What the value of a card must be, if it is not null. */
const NEEDS = { __proto__: null, gauge: 'number', bar: 'number', slider: 'number', stepper: 'number', toggle: 'boolean' }
const NOUNS = { __proto__: null, number: 'a number', boolean: 'a bool', string: 'a text', object: 'a map' }
/** Numbers that JSON has no form for. */
const WRITTEN = { __proto__: null, Infinity, '-Infinity': -Infinity, NaN }

export class Card {
  #isSettled = false
  #ticks = 0

  /**
   * @param options `client`, what `board` answers of the card, `pasts` (what is known already of the pasts of its series), `open`
   *   (called with the card when its title is operated), `inspector` and `address` (make the addresses of an attribute's page and
   *   of a board), `onStatus` (called when the card has another status).
   */
  constructor({
    client, path, kind, panel = {}, title = '', type = 'dyn', rows = null, levels = [], status = null, height = 0, fault = null, series = null,
    pasts = [], open = null, inspector = null, address = null, onStatus = () => {},
  }) {
    Object.assign(this, { client, path, panel, type, title, levels, status, fault, onStatus, pasts, rows: cellsOf(rows) })
    // Several series have colours of their own, a single one has the accent.
    this.series = series?.map((each, i) => ({ ...each, tint: each.tint ?? `var(--series-${i % 6 + 1})` })) ?? [{ path, title: this.title }]
    /** The newest value of each series. */
    this.values = []
    this.kind = KINDS[kind] ? kind : 'unknown'
    this.isNumber = NUMBERS.includes(type.replace(/\?$/, ''))
    this.element = make('article', `card kind-${this.kind}${series ? ' several' : ''}`)
    this.element.dataset.path = path
    if (height > 0) this.element.style.setProperty('--rows', String(height))
    if (panel.tint) this.element.style.setProperty('--accent', panel.tint)
    this.element.setAttribute('aria-label', this.title)
    const title_ = make('h3')
    const target = fault ? null : linkOf(panel.link, address)
    if (target) {
      const link = make('a', 'link', this.title)
      link.href = target
      if (!panel.link.startsWith('/')) Object.assign(link, { target: '_blank', rel: 'noopener' })
      title_.append(link)
    } else if (inspector || open) {
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
    this.body = make('div', 'body')
    this.context = make('p', 'context')
    this.element.append(title_, this.body, this.context)
    this.reported = null
    this.decimals = new Decimals()
    this.refusal = ''
    this.said = ''
    this.motions = []
    queueMicrotask(() => (this.#isSettled = true))
    this.view = KINDS[this.kind](this)
    if (fault) this.fail({ message: fault })
  }

  /** The paths whose changes this card shows. */
  get paths() {
    return this.rows ? [...this.rows.cells.keys()] : this.series.map((each) => each.path)
  }

  /** The unit, language and decimals of a number. */
  get format() {
    const { format, decimals, unit } = this.panel
    return { format, decimals, unit, locale: this.locale }
  }

  /** The format of a number with its decimals, which only grow. */
  formatOf(value) {
    return typeof value === 'number' ? this.decimals.of(value, this.format) : this.format
  }

  /** A bool or a text in the words of the panel. */
  wordOf(value) {
    const { on, off } = this.panel
    if (typeof value === 'boolean') return (value ? on : off) ?? plain(value)
    return value in STATUS_SHAPES ? words(value) : plain(value, this.format)
  }

  /** Seconds since 1970 at a moment of the daemon's clock. */
  wall(time) {
    const { wallOffset = Date.now() / 1000 - time, offset = 0 } = this.client.clock ?? {}
    return time + wallOffset - offset
  }

  get isWritable() {
    return this.client.clock?.isWritable !== false
  }

  add(...elements) {
    this.body.append(...elements)
  }

  show(path, change) {
    this.#note(change.reported)
    if (this.fault) return
    this.element.classList.remove('is-waiting')
    const at = this.rows ? -1 : this.series.findIndex((each) => each.path === path)
    if (at >= 0) this.values[at] = change.value
    if (change.value instanceof AttributeFailed && !this.rows) {
      if (this.series.every((_, i) => this.values[i] instanceof AttributeFailed)) return this.fail(change.value)
      change = { ...change, value: null }
    }
    const needed = NEEDS[this.kind]
    if ((this.isNumber || needed === 'number') && change.value in WRITTEN) change = { ...change, value: WRITTEN[change.value] }
    const { value } = change
    if (needed && value !== null && typeof value !== needed) {
      const given = Array.isArray(value) ? 'a list' : NOUNS[typeof value]
      return this.fail({ message: `A ${this.kind} needs ${NOUNS[needed]}, not ${given}.` })
    }
    this.failure?.remove()
    this.failure = null
    this.body.hidden = false
    this.value = value
    this.#judge()
    if (at >= 0) this.#remember(at, value)
    this.view.show(change, path)
    this.#compare()
  }

  /** Notes a value for the past of the card. A value that is no number leaves a gap on an axis. */
  #remember(i, value) {
    if (!(this.values[i] instanceof AttributeFailed)) this.values[i] = value
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
    if (this.isOld || this.failure || this.rows) return
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

  /** The error in words, instead of the value. */
  fail(failure) {
    this.#interrupt(this.now)
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
    const shown = this.panel.stacked ? [known.reduce((sum, each) => sum + each, 0)] : known
    const reached = this.levels.filter(({ from, to }) => shown.some((each) => (to === undefined ? each >= from : each <= to)))
    this.setStatus(reached.at(-1)?.status ?? 'ok')
  }

  /** What is wrong with the card: `critical`, `error`, `warn` or `stale`; null if nothing is. */
  #judge() {
    const { status } = this.element.dataset
    const trouble = this.failure ? 'error' : status && status !== 'ok' ? status : null
    if (trouble === this.trouble) return
    // Nobody knows since when a card has been as it was when it was made.
    if (this.#isSettled) this.since = Date.now()
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
    const mark = isNotable ? `${STATUS_SHAPES[status]} ${words(status)}` : ''
    const isShort = this.kind === 'gauge' && mark
    const age = this.isOld && this.reported !== null ? `${duration(this.now - this.reported)} ago` : ''
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
      this.#refuse(isUnknown ? `${text}; the change may have happened, or may still happen` : text)
    }
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

/** The decimals of one value. They only grow, so that its figures do not jump about. */
class Decimals {
  #count = 0
  #greatest = 0

  get count() {
    return this.#greatest < 1 ? this.#count : Math.min(2, this.#count)
  }

  /** The format in which a number is written, with its decimals if the format leaves them open. */
  of(value, format) {
    const size = format.format === 'percent' ? value * 100 : value
    const isOpen = ['number', 'percent', undefined].includes(format.format) && format.decimals === undefined
    if (!isOpen || !isWrittenOut(size)) return format
    this.#count = Math.max(this.#count, decimalsOf(size))
    this.#greatest = Math.max(this.#greatest, Math.abs(size))
    return { ...format, decimals: this.count }
  }
}

/** The number in large figures. */
function figures(card) {
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
function scaleOf({ panel }) {
  const [min, max] = [Number(panel.min ?? 0), Number(panel.max ?? (panel.format === 'percent' ? 1 : 100))]
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
function linkOf(link, address) {
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
function mover(card, elements, frame, bends = () => []) {
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

function svg(name, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...children)
  return element
}

/** An arc of 270°, open below. */
const ARC = 'M 21.7 78.3 A 40 40 0 1 1 78.3 78.3'
/**
 * Its first 180°, a little less so that no edge of it is seen at 0, and its last 90°, before both are turned to the
 * left by 45°. The second begins under the first.
 */
const PARTS = ['M 10 49.6 A 40 40 0 0 1 90 49.6', 'M 89.95 47.91 A 40 40 0 0 1 50 90']
/** The parts of the scale at which the first part stops, and at which the second one begins: earlier, so that there is no seam. */
const BENDS = [2 / 3, 2 / 3 - 0.0156]

/** A field for `card` that is disabled while pages may not write. */
function control(card, element) {
  element.setAttribute('aria-label', card.title)
  return () => {
    element.disabled = !card.isWritable
    if (!card.isWritable) element.title = 'The gateway lets pages only read. Start it with --writable.'
  }
}

function optionsOf({ panel }) {
  const given = panel.options ?? []
  return Array.isArray(given)
    ? given.map((each) => (each !== null && typeof each === 'object' ? [each.value, each.title ?? each.value] : [each, plain(each)]))
    : Object.entries(given)
}

/** What a card of each kind shows. `show` gets each change; `tick` is called every second. */
const KINDS = {
  __proto__: null,

  unknown(card) {
    return { show: () => {} }
  },

  link(card) {
    card.add(make('p', 'value words', 'Open'))
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
        const isRough = (count) => ends.some((end) => Math.abs(end - Number(end.toFixed(count))) > 0.02 * (ends[1] - ends[0]))
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
    card.say(`${plain(min, { ...card.format, unit: '', decimals: undefined })} to ${plain(max, { ...card.format, decimals: undefined })}`)
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
        const said = typeof value === 'string' ? words(value) : plain(value)
        shape.textContent = STATUS_SHAPES[status] ?? '○'
        if (text.data !== said) text.data = said
        card.setStatus(status)
      },
    }
  },

  toggle(card) {
    const button = make('button', 'switch')
    button.type = 'button'
    button.append(make('i'))
    button.setAttribute('role', 'switch')
    card.add(button)
    const enable = control(card, button)
    const set = (isOn) => {
      button.setAttribute('aria-checked', String(isOn === true))
      button.classList.toggle('is-empty', isOn === null)
      card.say(isOn === null ? '–' : isOn ? card.panel.on ?? 'On' : card.panel.off ?? 'Off')
    }
    button.addEventListener('click', () => {
      // The new state is shown at once. If the daemon refuses, it is corrected.
      const wanted = card.value !== true
      set(wanted)
      card.write(wanted, { ...card.animation, undo: () => set(card.value) })
    })
    return {
      show({ value }) {
        enable()
        set(value)
      },
    }
  },

  slider(card) {
    const write = figures(card)
    const { min, max, part } = scaleOf(card)
    const input = make('input')
    Object.assign(input, { type: 'range', min, max, step: card.panel.step ?? (card.type === 'int' ? 1 : (max - min) / 100) })
    card.add(input)
    const enable = control(card, input)
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
        await card.write(value)
        await new Promise((resolve) => setTimeout(resolve, WRITE_PAUSE))
      }
      isBusy = false
      release()
    }
    // When the thumb is released, the daemon's value counts.
    const release = () => {
      if (!isHeld && !isBusy && target !== undefined) {
        place(target)
        write(target)
      }
    }
    input.addEventListener('input', () => {
      isHeld = true
      place(input.value)
      wanted = Number(input.value)
      write(wanted)
      send()
    })
    input.addEventListener('change', () => {
      isHeld = false
      release()
    })
    return {
      show({ value }) {
        enable()
        target = value
        release()
      },
    }
  },

  stepper(card) {
    const write = figures(card)
    const { min, max, step = 1 } = card.panel
    const row = make('div', 'steps')
    const buttons = [['−', -step, 'less'], ['+', step, 'more']].map(([text, by, word]) => {
      const button = make('button', 'step', text)
      button.type = 'button'
      button.setAttribute('aria-label', `${card.title}: ${word}`)
      button.addEventListener('click', () => {
        // Added by the daemon, so that nothing is lost if two pages press at once.
        card.perform(() => card.client.transact([{ op: 'add', path: card.path, value: by }], { label: 'dashboard', ...card.animation }))
      })
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
          return card.say(`needs ${missing.map(([name]) => name).join(', ')}`)
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
    image.addEventListener('error', () => card.fail({ message: `The image cannot be shown: ${String(card.value).slice(0, 80)}` }))
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

  list(card) {
    return card.rows ? tableOfRows(card, false) : tableOfValue(card)
  },

  table(card) {
    return card.rows ? tableOfRows(card, true) : tableOfValue(card)
  },

  log(card) {
    const lines = make('ol', 'log')
    lines.tabIndex = 0
    lines.setAttribute('aria-label', card.title)
    card.add(lines)
    const line = (value, time) => {
      const item = make('li')
      if (time) item.append(make('time', '', time))
      item.append(make('span', '', plain(value, { locale: card.locale })))
      return item
    }
    return {
      show({ value }) {
        const isAtEnd = lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 4
        if (Array.isArray(value)) lines.replaceChildren(...value.slice(-MOST_LINES).map((each) => line(each)))
        else lines.append(line(value, new Date().toLocaleTimeString(card.locale?.replace('_', '-'))))
        while (lines.childElementCount > MOST_LINES) lines.firstChild.remove()
        if (isAtEnd) lines.scrollTop = lines.scrollHeight
      },
    }
  },
}

/** The face of a gauge takes the place of the card's body. */
function asFace(card, face) {
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
  return new Line({ ...options, histories, tints: card.series.map(({ tint }) => tint), levels: levelsOf(card), clock: () => card.now })
}

/** Where a chart is drawn. Keys and pointers ask it for values (crosshair.js). */
function plotOf(card) {
  const plot = make('div', 'plot')
  plot.tabIndex = 0
  plot.setAttribute('role', 'slider')
  plot.setAttribute('aria-label', `${card.title}: moment`)
  for (const [name, value] of [['min', -1], ['max', 0], ['now', 0]]) plot.setAttribute(`aria-value${name}`, String(value))
  plot.setAttribute('aria-valuetext', 'now')
  const times = make('p', 'times', 'now')
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
    card.say(isFlat ? '' : `${plain(found[0], { ...format, unit: '' })} to ${plain(found[1], format)}`)
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

/** Rows of a list, or the entries of a map. */
function tableOfValue(card) {
  const table = make('table')
  const scroller = make('div', 'rows')
  scroller.append(table)
  card.add(scroller)
  return {
    show({ value }) {
      const isList = Array.isArray(value)
      const rows = isList ? value : Object.entries(value ?? {})
      const isOfMaps = isList && rows.length > 0 && rows.every((each) => each !== null && typeof each === 'object' && !Array.isArray(each))
      const all = isOfMaps ? [...new Set(rows.flatMap((each) => Object.keys(each)))] : []
      const columns = card.panel.columns ?? all.slice(0, MOST_COLUMNS)
      const body = rows.slice(0, MOST_ROWS).map((each) => {
        if (isOfMaps) return columns.map((column) => plain(member(each, column), { ...card.format, ...member(card.panel.formats, column) }))
        return isList ? [plain(each, card.format)] : [words(each[0]), plain(each[1], card.format)]
      })
      fill(table, isOfMaps ? columns.map(words) : null, body)
      const more = [[rows.length - MOST_ROWS, 'row'], [card.panel.columns ? 0 : all.length - MOST_COLUMNS, 'column']]
        .filter(([count]) => count > 0).map(([count, word]) => `${count} more ${word}${count > 1 ? 's' : ''}`)
      card.say(rows.length === 0 ? 'Empty' : more.join(', '))
    },
  }
}

const FIGURE = /^[−-]?[\d.,\s]+( ?\S{1,4})?$/

/** A new table. */
export function tableOf(columns, rows) {
  const table = make('table')
  fill(table, columns, rows)
  return table
}

function fill(table, columns, rows) {
  const parts = []
  if (columns) {
    const head = make('thead')
    const row = make('tr')
    row.append(...columns.map((each, i) => make('th', i > 0 && rows.every((cells) => FIGURE.test(cells[i])) ? 'figure' : '', each)))
    for (const each of row.children) each.scope = 'col'
    head.append(row)
    parts.push(head)
  }
  const body = make('tbody')
  body.append(...rows.map((cells) => {
    const row = make('tr')
    row.append(...cells.map((text, i) => {
      const cell = make(i === 0 && cells.length > 1 ? 'th' : 'td', FIGURE.test(text) ? 'figure' : '', text)
      if (i === 0 && cells.length > 1) cell.scope = 'row'
      return cell
    }))
    return row
  }))
  table.replaceChildren(...parts, body)
}

/** A row for each subview of a container. */
function tableOfRows(card, isTable) {
  /** The texts by path. */
  const known = new Map()
  const decimals = new Map()
  const table = make('table')
  const scroller = make('div', 'rows')
  scroller.append(table)
  card.add(scroller)
  let isDue = false
  const draw = () => {
    isDue = false
    const { columns, ids, cells } = card.rows
    for (const each of [known, decimals]) for (const path of each.keys()) if (!cells.has(path)) each.delete(path)
    const texts = [...cells.keys()].map((path) => known.get(path) ?? '')
    const hasId = !columns.includes('name')
    const rows = ids.map((id, i) => {
      const values = texts.slice(i * columns.length, (i + 1) * columns.length)
      return isTable ? [...(hasId ? [words(id)] : []), ...values] : [hasId ? words(id) : values[0], values.slice(hasId ? 0 : 1).join(' · ')]
    })
    fill(table, isTable ? [...(hasId ? [''] : []), ...columns.map(words)] : null, rows)
    const { more } = card.rows
    card.say(rows.length === 0 ? 'Empty' : more > 0 ? `${more} more row${more > 1 ? 's' : ''}` : '')
  }
  draw()
  return {
    draw,
    show({ value }, path) {
      const formats = card.panel.formats?.[card.rows.cells.get(path)]
      if (!decimals.has(path)) decimals.set(path, new Decimals())
      const format = typeof value === 'number' ? decimals.get(path).of(value, { ...card.format, ...formats }) : { ...card.format, ...formats }
      known.set(path, value instanceof AttributeFailed ? readable(value.reason, card.locale) : plain(value, format))
      if (isDue) return
      isDue = true
      queueMicrotask(draw)
    },
  }
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
