/** The axis of time at the foot of the page: the moment that is shown, and what has happened around it. */

import { make, svg } from './cards.js'
import { hold } from './crosshair.js'
import { duration, moment as momentText } from './format.js'
import { language, says } from './language.js'
import { ticksOf } from './plot.js'
import { sheet } from './style.js'
import { Look, Past } from './time.js'

document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet(`
body:has(.axis:not([hidden])) { --foot: 44px; padding-block-end: 60px; }
.axis { position: fixed; inset: auto 0 0; z-index: 3; display: flex; align-items: center; gap: 4px; height: 44px; padding-inline: 16px; background: var(--page); box-shadow: 0 -1px var(--line); }
.axis select, .axis > button { font: inherit; font-size: 13px; color: var(--muted); min-height: 44px; border: 0; background: none; border-radius: 8px; padding-inline: 8px; cursor: pointer; }
.axis select { max-width: 92px; }
.axis option { background: var(--surface); color: var(--ink); }
.axis > button { color: var(--accent); font-weight: 600; }
.axis > button:disabled { color: var(--muted); font-weight: 400; cursor: default; }
.axis .track { position: relative; flex: 1; min-width: 0; height: 44px; touch-action: none; cursor: ew-resize; direction: ltr; border-radius: 4px; user-select: none; -webkit-user-select: none; }
.axis .track:focus-visible { outline-offset: -2px; }
.axis .track > svg { position: absolute; inset: 0; width: 100%; height: 44px; overflow: visible; pointer-events: none; }
.axis path { fill: none; vector-effect: non-scaling-stroke; stroke-width: 2; stroke: var(--control); }
.axis .ground { stroke: var(--line); stroke-width: 1; }
.axis .routine { stroke: var(--control); opacity: 0.35; stroke-width: 6; }
.axis .deeds { stroke: var(--ink); }
.axis .worse { stroke: var(--warn); fill: var(--warn); }
.axis .alert { stroke: var(--critical); fill: var(--critical); }
.axis .time { position: absolute; bottom: 2px; transform: translateX(-50%); font-size: 12px; line-height: 16px; color: var(--muted); font-variant-numeric: tabular-nums; white-space: nowrap; pointer-events: none; }
.axis .thumb { position: absolute; inset-block: 2px 16px; left: 0; width: 2px; margin-inline-start: -1px; background: var(--accent); pointer-events: none; border-radius: 1px; }
.axis .thumb::after { content: ""; position: absolute; left: -5px; bottom: -6px; width: 12px; height: 12px; border-radius: 50%; background: var(--accent); box-shadow: 0 0 0 2px var(--page); }
.axis .chosen { position: absolute; inset-block: 0 16px; background: var(--track); opacity: 0.7; pointer-events: none; }
.deed { position: absolute; left: 8px; bottom: 48px; z-index: 1; width: max-content; max-width: min(420px, calc(100vw - 32px)); max-height: min(60vh, 480px); overflow: auto; padding: 10px 14px; border-radius: 12px; background: var(--raised); box-shadow: 0 0 0 1px var(--line), 0 4px 16px rgb(0 0 0 / 14%); font-size: 13px; line-height: 18px; direction: ltr; }
.deed.is-glance { pointer-events: none; padding-block: 6px; }
:dir(rtl) > .deed { direction: rtl; }
.deed p > b { font-weight: 600; }
.deed p > span { color: var(--muted); font-variant-numeric: tabular-nums; }
@media (max-width: 560px) { .axis { padding-inline: 4px; gap: 0; } .axis select { max-width: 76px; padding-inline: 4px; } }
`)]

/** Seconds that the axis shows: what one can choose, and the least to which one can zoom. */
const SPANS = [300, 1800, 10_800, 86_400, 604_800]
const FIRST_SPAN = 1800
const LEAST_SPAN = 10
/** Transactions that are read at a time, and those that may have made something worse. */
const MOST_DEEDS = 2000
const MOST_TURNS = 200
/** Pixels of a mark with its gap. */
const MARK = 3
/** A group is routine if it has so many transactions, and in the whole range would have as many. */
const ROUTINE = 20
/** Columns without a mark that do not interrupt a band. */
const BREAK = 8
/** Pixels in which a click hits a mark, and after which a pointer drags. */
const REACH = 8
const SLACK = 4
/** Milliseconds of rest before transactions are read, and the address of the page tells the moment. */
const REST = 200
/** Milliseconds after which transactions are read again when somebody points at the axis. */
const FRESH = 3000
/** Seconds of the spring with which the page comes back to now. */
const SPRING = 0.35
const RANKS = ['ok', 'stale', 'warn', 'critical']

const iso = (wall) => new Date(wall * 1000).toISOString()

/** Who made a transaction, in words. */
export function authorOf({ client }) {
  if (client === 'agd') return says.theDaemon
  return client?.as ?? client?.name ?? says.aClient
}

export class Axis {
  #client
  #page
  #past = new Past()
  #look
  #element = make('section', 'axis')
  #track = make('div', 'track')
  #drawing = svg('svg', { 'aria-hidden': 'true' })
  #lines = Object.fromEntries(['ground', 'routine', 'deeds', 'worse', 'alert'].map((name) => [name, this.#drawing.appendChild(svg('path', { class: name }))]))
  #thumb = make('i', 'thumb')
  #now = make('button', '', says.atNow)
  #spans = make('select')
  #labels = []
  /** What is told of a transaction, or of several. */
  #tag = null
  #chosen = make('i', 'chosen')

  /** Seconds that are shown, and where they end: null is now. */
  #span = FIRST_SPAN
  #end = null
  #width = 0
  /** Where the way back to now is, while the page is on it. */
  #gliding = null
  /** Transactions, oldest first, from `#from` on; how bad those were that made something worse. */
  #deeds = []
  #from = Infinity
  #worse = new Map()
  /** When the archive begins. */
  #begins = null
  #read = 0
  #isReading = false
  #timers = {}
  #isDue = false
  /** Pointers on the axis: where each is. */
  #pointers = new Map()
  #drag = null

  /**
   * @param options `client`, `board` (an element), `root` (gives its node), `locale` (gives it), `onMoment` (called with the moment
   *   that the page shows, in seconds since 1970, or null).
   */
  constructor({ client, board, root, locale, onMoment }) {
    this.#client = client
    this.#page = { root, locale, onMoment }
    this.#look = new Look({
      past: this.#past, board, root,
      changed: (moment) => {
        this.#gliding = null
        onMoment(moment?.wall ?? null)
        this.#rest('address', () => this.#writeAddress())
        this.#draw()
      },
      explain: (error) => (error.code === 'notFound' ? says.notThen : says.noPast(error.reason ?? error.message)),
    })
    this.#build()
  }

  get moment() {
    return this.#look.moment
  }

  /** Now, in seconds since 1970 on the daemon's machine. */
  get #wall() {
    const { wallOffset, offset } = this.#client.clock
    return this.#client.now() + wallOffset - (offset ?? 0)
  }

  get #to() {
    return this.#end ?? this.#wall
  }

  open() {
    if (!this.#element.hidden) return
    this.#element.hidden = false
    this.#timers.tick = setInterval(() => this.#draw(), 1000)
    this.#draw()
    this.#load()
  }

  get isOpen() {
    return !this.#element.hidden
  }

  close() {
    this.go(null)
    this.#element.hidden = true
    clearInterval(this.#timers.tick)
  }

  focus() {
    this.#track.focus()
  }

  /** Goes to a moment; null comes back to now. `time` is that of a transaction, which is more exact than a clock of a page. */
  go(wall, time = wall === null ? null : iso(wall)) {
    this.#untag()
    if (wall !== null && wall < this.#wall) {
      this.open()
      const from = this.#to - this.#span
      if (wall < from || wall > this.#to) this.#show(this.#span, Math.min(this.#wall, wall + this.#span / 2))
      return this.#look.go({ wall: this.#begins === null ? wall : Math.max(wall, this.#begins), time })
    }
    if (!this.moment) return
    const { wall: begin } = this.moment
    this.#end = null
    this.#look.go(null)
    this.#glide(begin)
  }

  // MARK: Building

  #build() {
    const [element, track] = [this.#element, this.#track]
    element.hidden = true
    element.setAttribute('aria-label', says.timeAxis)
    track.tabIndex = 0
    track.setAttribute('role', 'slider')
    track.setAttribute('aria-label', says.shownMoment)
    this.#now.type = 'button'
    this.#spans.setAttribute('aria-label', says.spans)
    track.append(this.#chosen, this.#drawing, this.#thumb)
    this.#chosen.hidden = true
    element.append(this.#spans, track, this.#now)
    document.body.append(element)
    this.#now.addEventListener('click', () => this.go(null))
    this.#spans.addEventListener('change', () => this.#show(Number(this.#spans.value), this.moment ? this.moment.wall + Number(this.#spans.value) / 2 : null))
    new ResizeObserver(([{ contentRect }]) => {
      this.#width = contentRect.width
      this.#draw()
    }).observe(track)
    track.addEventListener('pointerdown', (event) => this.#press(event))
    track.addEventListener('pointermove', (event) => this.#move(event))
    for (const name of ['pointerup', 'pointercancel']) track.addEventListener(name, (event) => this.#lift(event, name === 'pointercancel'))
    track.addEventListener('pointerleave', () => this.#tag?.classList.contains('is-glance') && this.#untag())
    for (const name of ['pointerenter', 'focus']) track.addEventListener(name, () => performance.now() - this.#read > FRESH && this.#load())
    track.addEventListener('wheel', (event) => this.#wheel(event), { passive: false })
    track.addEventListener('keydown', (event) => this.#key(event))
  }

  /** Does something when nothing has asked for it for a while. */
  #rest(name, act) {
    clearTimeout(this.#timers[name])
    this.#timers[name] = setTimeout(act, REST)
  }

  #writeAddress() {
    const address = new URL(location.href)
    if (this.moment) address.searchParams.set('t', this.moment.time)
    else address.searchParams.delete('t')
    if (address.href !== location.href) history.replaceState(history.state, '', address)
  }

  // MARK: The window

  /** All that there is, as far as is known. */
  get #all() {
    return Math.max(SPANS[0], this.#wall - (this.#begins ?? this.#wall - FIRST_SPAN))
  }

  /** Shows a span that ends at a moment; null: now. */
  #show(span, end) {
    const now = this.#wall
    this.#span = Math.min(Math.max(span, LEAST_SPAN), this.#all)
    // A little way from now is now.
    this.#end = end === null || end > now - this.#span / 100 ? null : Math.max(end, now - this.#all + this.#span)
    this.#rest('load', () => this.#load())
    this.#draw()
  }

  /** Zooms around a part of the axis. */
  #zoom(factor, part) {
    const to = this.#to
    const span = Math.min(Math.max(this.#span * factor, LEAST_SPAN), this.#all)
    this.#show(span, this.#end === null && part > 0.9 ? null : to - (1 - part) * (this.#span - span))
  }

  #wallAt(x) {
    return this.#to - (1 - x / (this.#width || 1)) * this.#span
  }

  #xOf(wall) {
    return (1 - (this.#to - wall) / this.#span) * this.#width
  }

  // MARK: Pointers and keys

  #xIn({ clientX }) {
    return Math.min(this.#width, Math.max(0, clientX - this.#track.getBoundingClientRect().left))
  }

  #press(event) {
    if (event.button !== 0) return
    this.#track.setPointerCapture(event.pointerId)
    const x = this.#xIn(event)
    this.#pointers.set(event.pointerId, x)
    this.#drag = this.#pointers.size > 1 ? { isPinch: true } : { x, isMoved: false, isChoosing: event.shiftKey }
  }

  #move(event) {
    const x = this.#xIn(event)
    if (!this.#pointers.has(event.pointerId)) return this.#glance(x)
    const before = [...this.#pointers.values()]
    this.#pointers.set(event.pointerId, x)
    const { isPinch, isChoosing } = this.#drag
    if (isPinch) {
      const [a, b] = [...this.#pointers.values()]
      const [c, d] = before
      if (Math.abs(a - b) > 1) this.#zoom(Math.abs(c - d) / Math.abs(a - b), (a + b) / 2 / this.#width)
      return
    }
    if (!this.#drag.isMoved && Math.abs(x - this.#drag.x) < SLACK) return
    this.#drag.isMoved = true
    if (!isChoosing) return this.#goTo(x)
    const ends = [this.#drag.x, x].sort((a, b) => a - b)
    this.#chosen.hidden = false
    Object.assign(this.#chosen.style, { left: `${ends[0]}px`, width: `${ends[1] - ends[0]}px` })
  }

  #lift(event, isCancelled) {
    const x = this.#pointers.get(event.pointerId)
    if (x === undefined) return
    this.#pointers.delete(event.pointerId)
    this.#chosen.hidden = true
    const { isMoved, isPinch, isChoosing, x: begin } = this.#drag
    if (this.#pointers.size > 0 || isPinch || isCancelled) return
    if (isChoosing && isMoved) return this.#show((Math.abs(x - begin) / this.#width) * this.#span, this.#wallAt(Math.max(x, begin)))
    if (isMoved) return
    const found = this.#near(x)
    if (found.length > 0) this.#visit(found.at(-1))
    else this.#goTo(x)
  }

  /** The right end of an axis that ends now is now. */
  #goTo(x) {
    this.go(this.#end === null && x > this.#width - SLACK ? null : this.#wallAt(x))
  }

  #wheel(event) {
    event.preventDefault()
    const part = this.#xIn(event) / this.#width
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return this.#show(this.#span, this.#to + (event.deltaX / this.#width) * this.#span)
    this.#zoom(1.002 ** Math.max(-300, Math.min(300, event.deltaY)), part)
  }

  #key(event) {
    const at = this.moment?.wall ?? this.#wall
    const shift = (part) => this.go(at + part * this.#span)
    const acts = {
      ArrowLeft: () => (event.shiftKey ? shift(-0.1) : this.#step(-1)), ArrowRight: () => (event.shiftKey ? shift(0.1) : this.#step(1)),
      PageUp: () => shift(-0.25), PageDown: () => shift(0.25), Home: () => this.go(this.#to - this.#span), End: () => this.go(null),
      '+': () => this.#zoom(0.5, this.#part), '-': () => this.#zoom(2, this.#part), Enter: () => this.#tag?.querySelector('button')?.focus(),
    }
    acts.ArrowDown = acts.ArrowLeft
    acts.ArrowUp = acts.ArrowRight
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(acts, event.key)) return
    event.preventDefault()
    acts[event.key]()
  }

  get #part() {
    return this.moment ? Math.min(1, Math.max(0, this.#xOf(this.moment.wall) / this.#width)) : 1
  }

  /** Goes to the transaction before or after the moment. */
  async #step(by) {
    const at = this.moment?.wall ?? this.#wall
    if (by > 0) {
      const next = this.#deeds.find(({ wall }) => wall > at)
      return next ? this.#visit(next) : this.go(null)
    }
    let last = this.#deeds.findLast(({ wall }) => wall < at)
    if (!last) {
      try {
        const [{ transactions }] = await this.#past.ask(['log', { ...this.#scope, to: iso(at - 0.001), count: 1, brief: true }])
        last = transactions.map(deedOf)[0]
      } catch (error) {
        return this.#say(error)
      }
    }
    if (last) this.#visit(last)
  }

  // MARK: What has happened

  get #scope() {
    const root = this.#page.root()
    return root === '/' ? {} : { paths: [root] }
  }

  /** Reads the transactions of the window, and half as much on both sides. */
  async #load() {
    if (this.#isReading) return this.#rest('load', () => this.#load())
    this.#isReading = true
    const to = this.#end === null ? {} : { to: iso(this.#end + this.#span / 2) }
    const within = { from: iso(this.#to - 1.5 * this.#span), ...to }
    const below = this.#page.root() === '/' ? '' : this.#page.root()
    const turns = ['status', 'firing'].map((name) => `${below}/**.${name}`)
    try {
      const [log, worse] = await this.#past.ask(
        ['log', { ...this.#scope, ...within, count: MOST_DEEDS, brief: true }], ['log', { ...within, paths: turns, count: MOST_TURNS }])
      this.#deeds = log.transactions.map(deedOf).reverse()
      this.#from = log.more ? this.#deeds[0]?.wall ?? Infinity : -Infinity
      this.#begins = log.begins ? Date.parse(log.begins) / 1000 : null
      this.#worse = new Map(worse.transactions.map((each) => [nameOf(each), turnOf(each)]).filter(([, turn]) => turn))
      this.#read = performance.now()
      this.#span = Math.min(this.#span, this.#all)
    } catch (error) {
      this.#say(error)
    }
    this.#isReading = false
    this.#draw()
  }

  #say(error) {
    this.#showTag(this.#width, [make('p', '', this.#look.explain(error))], true)
  }

  /** The transactions under a place of the axis. Those that made something worse come last, and those that are rare. */
  #near(x) {
    const found = this.#deeds.filter(({ wall }) => Math.abs(this.#xOf(wall) - x) <= REACH)
    const rank = (deed) => (this.#worse.has(deed.name) ? 2 : this.#routine.has(deed.group) ? 0 : 1)
    return found.sort((a, b) => rank(a) - rank(b) || a.wall - b.wall)
  }

  /** Goes to a transaction, and tells of it. */
  async #visit(deed) {
    this.go(deed.wall, deed.time)
    const { tell } = await import('./deed.js')
    if (this.moment?.time !== deed.time) return
    const root = this.#page.root()
    const parts = tell(deed, {
      past: this.#past, client: this.#client, root, locale: this.#page.locale(), title: this.#momentText(deed.wall),
      undone: () => {
        this.go(null)
        this.#load()
      },
    })
    this.#showTag(this.#xOf(deed.wall), parts, false)
  }

  /** Tells what is under the mouse. */
  #glance(x) {
    if (this.#tag && !this.#tag.classList.contains('is-glance')) return
    const found = this.#near(x)
    if (found.length === 0) return this.#untag()
    const groups = Map.groupBy ? Map.groupBy(found, ({ group }) => group) : new Map([['', found]])
    const rows = [...groups.values()].reverse().slice(0, 4).map((deeds) => {
      const row = make('p')
      const { label } = deeds.at(-1)
      row.append(make('b', '', `${deeds.length > 1 ? `${deeds.length} × ` : ''}${label ?? says.changes(deeds.at(-1).changes)}`), make('span', '', ` · ${authorOf(deeds.at(-1))}`))
      return row
    })
    rows.push(make('p'))
    rows.at(-1).append(make('span', '', this.#momentText(found.at(-1).wall)))
    this.#showTag(x, rows, true)
  }

  #showTag(x, parts, isGlance) {
    this.#untag()
    const tag = (this.#tag = make('div', `deed${isGlance ? ' is-glance' : ''}`))
    tag.append(...parts)
    this.#track.after(tag)
    // It grows when its changes have come.
    new ResizeObserver(() => {
      const { left } = this.#track.getBoundingClientRect()
      const most = document.documentElement.clientWidth - tag.offsetWidth - 8
      tag.style.left = `${Math.max(8, Math.min(most, left + x - tag.offsetWidth / 2))}px`
    }).observe(tag)
  }

  #untag() {
    this.#tag?.remove()
    this.#tag = null
  }

  // MARK: Drawing

  #momentText(wall) {
    const locale = this.#page.locale() ?? language
    const isToday = new Date(wall * 1000).toDateString() === new Date(this.#wall * 1000).toDateString()
    const time = momentText(wall, 1, locale)
    return isToday ? time : `${momentText(wall, 86_400, locale)}, ${time}`
  }

  #draw() {
    if (this.#isDue || this.#element.hidden) return
    this.#isDue = true
    requestAnimationFrame(() => {
      this.#isDue = false
      this.#drawNow()
    })
  }

  #drawNow() {
    if (this.#width === 0) return
    const [width, span, to] = [this.#width, this.#span, this.#to]
    const shown = this.#gliding ?? this.moment?.wall ?? to
    this.#thumb.style.transform = `translateX(${Math.min(width, Math.max(0, this.#xOf(shown)))}px)`
    this.#now.disabled = !this.moment
    this.#drawTimes(to, span, width)
    this.#drawMarks(width)
    this.#drawSpans()
    const track = this.#track
    const at = this.moment?.wall
    track.setAttribute('aria-valuemin', String(-Math.round(span + this.#wall - to)))
    track.setAttribute('aria-valuemax', '0')
    track.setAttribute('aria-valuenow', String(at === undefined ? 0 : -Math.round(this.#wall - at)))
    const text = at === undefined ? says.now : `${this.#momentText(at)}, ${says.ago(duration(this.#wall - at))}`
    if (track.getAttribute('aria-valuetext') !== text) track.setAttribute('aria-valuetext', text)
  }

  #drawTimes(to, span, width) {
    const locale = this.#page.locale() ?? language
    const label = (time, step) => momentText(time, step, locale, step < 60)
    const room = (step) => 7 * label(to, step).length
    const { step, ticks } = ticksOf(to, span, (step) => (width * step) / span >= room(step) + 28)
    const half = room(step) / 2
    const places = ticks.map((time) => [time, this.#xOf(time)]).filter(([, x]) => x > half && x < width - half)
    while (this.#labels.length < places.length) this.#labels.push(this.#track.appendChild(make('span', 'time')))
    this.#labels.forEach((element, i) => {
      element.hidden = i >= places.length
      if (element.hidden) return
      const text = label(places[i][0], step)
      if (element.textContent !== text) element.textContent = text
      element.style.left = `${places[i][1].toFixed(1)}px`
    })
  }

  /** Groups that write all the time. Their transactions are a quiet band, before which others stand out. */
  get #routine() {
    const groups = new Map()
    for (const { group, wall } of this.#deeds) {
      const known = groups.get(group)
      groups.set(group, { first: known?.first ?? wall, last: wall, count: (known?.count ?? 0) + 1 })
    }
    const isRoutine = ([, { first, last, count }]) => count >= ROUTINE && (last - first) / count < this.#span / ROUTINE
    return new Set([...groups].filter(isRoutine).map(([group]) => group))
  }

  #drawMarks(width) {
    const routine = this.#routine
    const columns = { routine: new Map(), deeds: new Map(), worse: new Map(), alert: new Map() }
    for (const deed of this.#deeds) {
      const column = Math.floor(this.#xOf(deed.wall) / MARK)
      if (column < 0 || column * MARK > width) continue
      const kind = this.#worse.get(deed.name) ?? (routine.has(deed.group) ? 'routine' : 'deeds')
      columns[kind].set(column, (columns[kind].get(column) ?? 0) + 1)
    }
    const from = Math.max(0, this.#xOf(Math.max(this.#from, this.#begins ?? -Infinity)))
    this.#lines.ground.setAttribute('d', `M${Number.isFinite(from) ? Math.min(width, from).toFixed(1) : 0} 27.5H${width}`)
    const bars = (kind, least, most) => [...columns[kind]].map(([column, count]) => (
      `M${column * MARK + 1.5} 27V${(27 - Math.min(most, least + 4 * Math.log2(count))).toFixed(1)}`)).join('')
    let band = ''
    let last = -Infinity
    for (const column of [...columns.routine.keys()].sort((a, b) => a - b)) {
      band += column - last > BREAK ? `M${column * MARK} 24H${column * MARK + MARK}` : `H${column * MARK + MARK}`
      last = column
    }
    const sign = (kind, shape) => [...columns[kind].keys()].map((column) => `M${column * MARK + 1.5} 27V12${shape}`).join('')
    this.#lines.routine.setAttribute('d', band)
    this.#lines.deeds.setAttribute('d', bars('deeds', 12, 24))
    this.#lines.worse.setAttribute('d', sign('worse', 'm-4 0h8l-4 -7z'))
    this.#lines.alert.setAttribute('d', sign('alert', 'l-4 -4l4 -4l4 4z'))
  }

  #drawSpans() {
    const all = Math.round(this.#all)
    const given = [...SPANS.filter((span) => span < all), all]
    const said = given.slice(0, -1).join()
    const isChoice = given.some((span) => Math.abs(span - this.#span) < 1)
    if (this.#spans.dataset.said !== said) {
      this.#spans.dataset.said = said
      this.#spans.replaceChildren(new Option('', 'other'), ...given.map((span) => new Option(span === all ? says.allTime : duration(span), String(span))))
      this.#spans.firstChild.hidden = true
    }
    this.#spans.lastChild.value = String(all)
    this.#spans.firstChild.textContent = duration(this.#span)
    this.#spans.value = isChoice ? String(given.find((span) => Math.abs(span - this.#span) < 1)) : 'other'
  }

  /** The thumb and the moment in charts come back to now, on a spring that does not swing. */
  #glide(begin) {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
    const start = performance.now()
    const speed = (2 * Math.PI) / SPRING
    const step = () => {
      const time = (performance.now() - start) / 1000
      if (this.moment || time > 1.5 * SPRING) {
        this.#gliding = null
        if (!this.moment) hold(null)
        return this.#draw()
      }
      const left = (1 + speed * time) * Math.exp(-speed * time)
      this.#gliding = this.#wall - left * (this.#wall - begin)
      hold(this.#gliding)
      this.#draw()
      requestAnimationFrame(step)
    }
    step()
  }
}

/** A transaction as the axis keeps it. */
function deedOf(given) {
  return { ...given, name: nameOf(given), wall: Date.parse(given.time) / 1000, group: `${given.label ?? ''}\n${authorOf(given)}` }
}

function nameOf({ epoch, revision }) {
  return `${epoch}:${revision}`
}

/** `worse` if a status got worse, `alert` if an alert began or something became critical; else nothing. */
function turnOf({ writes }) {
  let found = null
  for (const { path, before, after } of writes) {
    if (path.endsWith('.firing')) {
      if (after !== null && (before ?? null) === null) found = 'alert'
    } else if (RANKS.indexOf(after) > Math.max(0, RANKS.indexOf(before ?? 'ok'))) {
      found = after === 'critical' ? 'alert' : found ?? 'worse'
    }
  }
  return found
}
