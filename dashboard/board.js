/**
 * A board: the cards of a part of the tree. Containers are sections. A node's container value `panel` describes its
 * card, and a node without one gets cards that suit its attributes (Documentation/Dashboard.md).
 */

import { AttributeFailed, Timeline, Update } from './gateway.js'
import { Card, idOf, make, prepare } from './cards.js'
import { partOf, placeAt } from './format.js'
import { says, speak } from './language.js'
import { arrange, isMoved, measure, placeOf } from './layout.js'
import { effectsOf, put, Stage } from './motion.js'

/** Milliseconds between two questions for the cards. */
const DESCRIBE_PAUSE = 100
/** Milliseconds for which a mouse that does not move any more keeps a control in its place, and a finger that has left it. */
const RESTING = 1500
const LIFTED = 600
/** A board on a large page grows to at most so much of its own height. */
const MOST_GROWTH = 1.5
const CONTROLS = 'button, input, select, textarea, a'

export class Board {
  #client
  #root
  #inspector
  #said
  #watch = null
  #isClosed = false
  /** The answer of the method `board`: what the cards are. */
  #board = null
  /** Attributes that decide about the cards. */
  #layout = new Set()
  /** The arrangement of the sections: `arrange` in layout.js. */
  #bands = []
  #measures = measure(1200)
  #sections = []
  #density
  /** The key of a card whose control is under a finger or the mouse, and until when it stays where it is. */
  #touched = null
  /** The call of `#place` that waits for it. */
  #postponed = null
  /** The present: `values` by path, and when each was last reported. */
  #now = { values: new Map(), reports: new Map() }
  /** What the cards show: the present, or a moment of the past. */
  #shown = this.#now
  /** The moment of the past that is shown: see `showPast`. */
  then = null
  #seek
  /** By path and kind. */
  #cards = new Map()
  /** Cards on their way out, by path and kind. */
  #going = new Map()
  /** Cards outside of the board that show its values: those of an open sheet. */
  #guests = new Set()
  #sheet = null
  /** While a person edits the board. */
  #editor = null
  /** By path of an attribute. */
  #readers = new Map()
  /** The cards to which an attribute gives a status. */
  #statuses = new Map()
  #isLive = null
  /** Why the daemon or the gateway does not let this page watch any more. */
  #refusal = null
  /** Whether the cards may be others than those that were read last, and whether they are being read. */
  #isOutdated = false
  #isDescribing = false
  /** How the changes of the structure that are not shown yet move: `{ timeline, css, transitions }`. */
  #motion = null
  #filter = ''
  #stage
  #timer
  #address
  #ending
  #sizes
  #isReporting = false
  /** Of the element, when its columns were counted. */
  #width = 0

  /**
   * @param options `client`, `root` (a path; otherwise the only node at the top, or all), `density` (`compact` or
   *   `comfortable`; otherwise the scene or the width decides), `inspector` (makes the address of an attribute's page), `address`
   *   (makes the address of a board), `onState` (called with what `agd-state` tells, see elements.d.ts), `seek` (see elements.js).
   */
  constructor({ client, root = null, density = null, inspector = null, address = null, onState = () => {}, seek = null }) {
    this.#client = client
    this.#seek = seek
    this.#root = root
    this.#density = density
    this.#inspector = inspector
    this.#address = address
    this.#said = onState
    this.element = make('div', 'board')
    this.element.setAttribute('aria-busy', 'true')
    this.#stage = new Stage(() => client.now())
    this.#timer = setInterval(() => this.#tick(), 1000)
    this.#ending = new AbortController()
    this.#listen({ signal: this.#ending.signal })
    this.#sizes = new ResizeObserver(() => this.#fit())
    this.#sizes.observe(this.element)
    this.#run()
  }

  close() {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#ending.abort()
    this.#sizes.disconnect()
    this.#watch?.close()
    this.#sheet?.close({ isAtOnce: true })
    this.#editor?.close()
    for (const card of [...this.#cards.values(), ...this.#going.values()]) card.end()
  }

  /** Opens the sheet of a card. */
  async #open(card) {
    const { Sheet } = await import('./sheet.js')
    this.#sheet ??= new Sheet({ board: this, client: this.#client, inspector: this.#inspector })
    this.#sheet.open(card)
  }

  /** Begins to edit the board. */
  async edit() {
    if (this.#editor || !this.#board?.isEditable) return
    const onEnd = () => {
      this.#editor = this.#touched = null
      this.#report()
    }
    // Stands for the editor while its module is loaded.
    this.#editor = { placed() {}, close: onEnd }
    try {
      const { begin } = await import('./edit.js')
      this.#editor = await begin({ board: this, client: this.#client, onEnd })
    } catch (error) {
      onEnd()
      throw error
    }
    this.#report()
  }

  /** The last answer of the method `board`. */
  get answer() {
    return this.#board
  }

  /** The shown cards by the ids that the answer has. */
  get cards() {
    return this.#cards
  }

  /** Shows other rows until the daemon answers again. */
  preview(rows) {
    this.#board = { ...this.#board, rows }
    this.#place()
  }

  /** Asks the daemon again what the board is. */
  refresh() {
    this.#describeAgain(this.#board.root)
  }

  /** The card of an attribute, if the board has one. */
  cardAt(path) {
    return [...this.#cards.values()].find((card) => !card.rows && card.series.length === 1 && card.path === path)
  }

  /** Shows the values of the board's attributes to a card outside of it. The result is false if the board has not all of them. */
  admit(card) {
    this.#guests.add(card)
    card.setPast?.(this.#isPast)
    this.#index(card)
    if (this.#isLive === false) card.setLive(false)
    return card.paths.every((path) => this.#values.has(placeAt(path).attribute))
  }

  dismiss(card) {
    this.#guests.delete(card)
    for (const [path, readers] of this.#readers) this.#readers.set(path, readers.filter((each) => each !== card && each.card !== card))
  }

  get #all() {
    return [...this.#cards.values(), ...this.#guests]
  }

  /** Shows only cards whose title or path contains the text. */
  filter(text) {
    this.#filter = text.trim().toLowerCase()
    this.#showFiltered()
  }

  async #run() {
    while (!this.#isClosed) {
      try {
        await this.#follow(await this.#client.board(this.#root ?? '/'))
      } catch (error) {
        this.#refusal = error.code && error.code !== 'unavailable' ? error.reason : null
        this.#setLive(false)
        if (this.#cards.size === 0) this.#explain(error.reason ?? error.message)
      }
      // A part of the tree that does not exist yet may come.
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
  }

  async #follow(board) {
    const { root } = board
    const options = { css: true, reports: true, events: ['update', 'structure'], onLive: (isLive) => this.#setLive(isLive) }
    this.#watch = this.#client.watch(root === '/' ? '/**' : `${root}/**`, options)
    for await (const event of this.#watch) {
      if (event instanceof Update) {
        if (event.initial) {
          for (const each of Object.values(this.#now)) each.clear()
          for (const [path, change] of event.details) this.#keep(path, change)
          // The present is laid when the page comes back to it.
          if (this.#isPast) board = null
          else await this.#speak(root)
          const found = this.#isPast ? null : board ?? (await this.#client.board(root))
          if (found) {
            await prepare(found.rows.flatMap(({ cards }) => cards.map(({ kind }) => kind)))
            this.#lay(found)
          }
          // Cards that were read at another revision may be others.
          if (board && board.revision !== event.revision) this.#describeAgain(root)
          board = null
          this.#setLive(true)
        }
        this.#take(event.details, event.initial ? null : root)
      } else if (event.method === 'structure' && !this.#isPast) {
        this.#prepare(event)
        this.#describeAgain(root)
      }
    }
  }

  #prepare({ timeline, transitions = {} }) {
    this.#motion ??= { timeline: null, css: null, transitions: {} }
    if (timeline) Object.assign(this.#motion, { timeline: new Timeline(timeline), css: timeline.css ?? null })
    for (const [node, given] of Object.entries(transitions)) {
      this.#motion.transitions[node] = { ...this.#motion.transitions[node], ...given }
    }
  }

  get #values() {
    return this.#shown.values
  }

  get #isPast() {
    return this.then !== null
  }

  #keep(path, { value, reported }) {
    this.#now.values.set(path, value)
    this.#now.reports.set(path, reported)
  }

  /** The change with which a card begins. */
  #known(path) {
    return { value: this.#values.get(path), timeline: null, css: null, reported: this.#shown.reports.get(path) }
  }

  // MARK: The past

  /**
   * Shows a moment of the past: its `fault`, or `values`, `changed` (paths; null: all), another `board`, and what can `explain`.
   * Null: now.
   */
  async showPast(past) {
    this.then = past
    this.#shown = past ? { values: past.values ?? new Map(), reports: new Map() } : this.#now
    this.#report()
    if (past?.fault) return this.#explain(past.fault)
    for (const card of this.#all) card.setPast?.(this.#isPast)
    if (past?.board) {
      await prepare(past.board.rows.flatMap(({ cards }) => cards.map(({ kind }) => kind)))
      // Meanwhile the page may have come back.
      if (!this.#isPast) return
      this.#lay(past.board)
    }
    for (const [path, readers] of this.#readers) {
      if (!this.#values.has(path) || past?.changed?.has(path) === false) continue
      for (const card of readers) card.show(path, this.#known(path))
    }
    for (const path of this.#statuses.keys()) this.#showStatus(path)
    if (!past) await this.#describeAgain(this.#board.root)
  }

  /** @param root is asked for its cards again if they may be others; null for values with which its cards were just read. */
  #take(details, root) {
    let [isOutdated, isOtherLook] = [false, false]
    for (const [path, change] of details) {
      if (change.value instanceof AttributeFailed && change.value.code === 'removed') {
        for (const each of Object.values(this.#now)) each.delete(path)
        continue
      }
      this.#keep(path, change)
      if (this.#isPast) {
        for (const card of this.#readers.get(path) ?? []) card.keep?.(path, change)
        continue
      }
      for (const card of this.#readers.get(path) ?? []) card.show(path, change)
      if (this.#statuses.has(path)) this.#showStatus(path)
      isOutdated ||= this.#layout.has(path)
      isOtherLook ||= /\.(tint|colorScheme|locale|density)$/.test(path)
    }
    if (root === null) return
    if (isOtherLook) this.#speak(root)
    if (isOutdated) this.#describeAgain(root)
    else if (isOtherLook) this.#place()
  }

  /** Takes the words of the board's language. Cards that have others are made anew. */
  async #speak(root) {
    if (!(await speak(this.#localeOf(root))) || !this.#board) return
    for (const card of [...this.#cards.values(), ...this.#going.values()]) card.remove()
    this.#cards.clear()
    this.#going.clear()
    this.element.replaceChildren(this.#stage.layer)
    this.element.setAttribute('aria-busy', 'true')
    this.#place()
  }

  /** A list that changes all the time is not asked for more often than once each pause. */
  async #describeAgain(root) {
    this.#isOutdated = true
    if (this.#isDescribing) return
    this.#isDescribing = true
    while (this.#isOutdated && !this.#isClosed) {
      this.#isOutdated = false
      try {
        const found = await this.#client.board(root)
        if (this.#isPast) break
        this.#lay(found)
      } catch (error) {
        // A lost connection is told by the watch. If the root is gone, the board begins anew, and says so meanwhile.
        if (error.code && error.code !== 'unavailable') this.#watch.close()
      }
      await new Promise((resolve) => setTimeout(resolve, DESCRIBE_PAUSE))
    }
    this.#isDescribing = false
  }

  #lay(board) {
    this.#board = board
    this.#layout = new Set(board.layout)
    const motion = this.#motion
    this.#motion = null
    this.#place(motion)
  }

  // MARK: Places

  /** Notes which control is under a finger or the mouse, and whether the page is seen. */
  #listen(options) {
    document.addEventListener('visibilitychange', () => {
      for (const card of this.#all) document.hidden ? card.pause() : card.resume()
    }, options)
    const hold = (event, time) => {
      // Whoever edits moves cards on purpose.
      if (this.#editor) return
      const control = event.composedPath().find((each) => each.matches?.(CONTROLS))
      const key = control?.closest('.card')?.dataset.key
      if (!key) return this.#release()
      this.#touched = { key, isSwitch: control.matches('.switch'), until: performance.now() + time }
      this.#postpone()
    }
    const { element } = this
    element.addEventListener('pointerdown', (event) => hold(event, Infinity), options)
    element.addEventListener('pointermove', (event) => event.pointerType === 'mouse' && event.buttons === 0 && hold(event, RESTING), options)
    element.addEventListener('pointerleave', () => this.#touched?.until < Infinity && this.#release(), options)
    for (const name of ['pointerup', 'pointercancel']) {
      addEventListener(name, ({ pointerType }) => {
        if (this.#touched) this.#touched.until = performance.now() + (pointerType === 'mouse' ? RESTING : LIFTED)
        this.#postpone()
      }, options)
    }
  }

  /** The finger has gone: what waited for it may happen. */
  #release() {
    this.#touched = null
    if (this.#postponed) this.#place(this.#postponed.motion)
  }

  /** Tries again what waits, when the finger may have gone. */
  #postpone() {
    if (!this.#postponed) return
    clearTimeout(this.#postponed.timer)
    const { until } = this.#touched ?? { until: 0 }
    if (until < Infinity) this.#postponed.timer = setTimeout(() => this.#release(), Math.max(0, until - performance.now()))
  }

  /** Sizes of the board's columns. They follow its width. */
  #fit() {
    const { clientWidth } = this.element
    if (clientWidth === 0 || !this.#board) return
    const before = JSON.stringify(this.#measures)
    this.#width = clientWidth
    this.#measures = measure(clientWidth, this.#density ?? this.#read(this.#board.root, 'density'))
    if (JSON.stringify(this.#measures) === before) return
    this.#bands = arrange(this.#sections, this.#measures, this.#bands)
    this.#dress()
  }

  /** Gives sections and cards their sizes. */
  #dress() {
    const { density, gap, row, columns } = this.#measures
    const { element } = this
    element.classList.toggle('compact', density === 'compact')
    element.classList.toggle('wall', gap === 16)
    element.style.setProperty('--gap', `${gap}px`)
    element.style.setProperty('--row', `${row}px`)
    element.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`
    // Bands of charts and tables take the room that the page has left, but not much more than they need.
    const needed = this.#bands.reduce((sum, { height }) => sum + height * (row + gap), 0)
    element.style.setProperty('--most', `${density === 'compact' ? 0 : Math.round(MOST_GROWTH * needed)}px`)
    element.style.setProperty('--above', `${Math.round(element.getBoundingClientRect().top + scrollY)}px`)
    element.style.gridTemplateRows = this.#bands.map(({ isStretchable }) => (isStretchable ? 'auto' : 'max-content')).join(' ')
    const widths = new Map()
    const shares = new Map()
    for (const section of this.#bands.flatMap(({ sections }) => sections)) {
      widths.set(section.key, section.width)
      for (const each of section.rows.flat()) shares.set(each.key, each)
    }
    for (const section of element.querySelectorAll(':scope > section')) section.style.gridColumn = `span ${widths.get(section.dataset.key) ?? columns}`
    for (const card of this.#cards.values()) {
      const { share, count } = shares.get(card.id) ?? { share: 1, count: 1 }
      // A hundredth less, so that rounding moves no card into the next row.
      card.element.style.flex = `${share} ${share} calc((100% - ${(count - 1) * gap}px) * ${share.toFixed(5)} - 0.01px)`
    }
  }

  /** The value of an attribute of a node. */
  #read(node, name) {
    const value = this.#values.get(`${node}.${name}`)
    return value instanceof AttributeFailed ? undefined : value
  }

  /**
   * Makes, reuses and removes cards, and puts them in their places.
   * @param motion of the change of the structure that is shown, if there is one.
   */
  #place(motion = null) {
    const { rows, omitted, root: node } = this.#board
    const root = this.element
    // What moves because the page has another size does not glide.
    if (root.clientWidth !== this.#width) this.#fit()
    if (root.clientWidth > 0) this.#measures = measure(root.clientWidth, this.#density ?? this.#read(node, 'density'))
    for (const row of rows) for (const given of row.cards) given.id = idOf(given)
    const sections = rows.map((row) => ({ ...row, cards: row.cards.map(({ id, series, ...card }) => ({ ...card, key: id, isSeveral: Boolean(series) })) }))
    const bands = arrange(sections, this.#measures, this.#bands)
    const { key, until = 0, isSwitch } = this.#touched ?? {}
    const isAtBeginning = isSwitch && this.#measures.density === 'comfortable'
    if (until > performance.now() && isMoved(placeOf(this.#bands, key), placeOf(bands, key), isAtBeginning)) {
      // A control does not move away under the finger.
      this.#postponed = { timer: this.#postponed?.timer, motion: motion ?? this.#postponed?.motion }
      return this.#postpone()
    }
    clearTimeout(this.#postponed?.timer)
    this.#postponed = null
    this.#sections = sections
    this.#bands = bands
    const old = new Map([...root.querySelectorAll('section')].map((each) => [each.dataset.key, each]))
    const before = new Set(this.#cards.keys())
    const made = []
    const parts = rows.map((row) => {
      const section = old.get(row.key) ?? this.#section(row)
      this.#theme(section, row.node, row.key !== '' && !row.isFeatured)
      const heading = section.querySelector('h2')
      heading.textContent = row.title ?? row.heading
      heading.classList.toggle('unseen', !row.title)
      const cards = row.cards.map((given) => {
        const [card, isNew] = this.#card(given)
        before.delete(given.id)
        if (isNew) made.push(card)
        card.setLocale(this.#localeOf(row.node))
        return card.element
      })
      return [section, cards]
    })
    const children = parts.map(([section]) => section)
    if (omitted > 0) children.push(make('p', 'empty', says.moreCards(omitted)))
    if (rows.length === 0) children.push(make('p', 'empty', says.noCards))
    for (const key of before) {
      this.#going.set(key, this.#cards.get(key))
      this.#cards.delete(key)
    }
    const change = () => {
      for (const [section, cards] of parts) put(section.querySelector('.cards'), cards)
      put(root, [...children, this.#stage.layer])
      this.#dress()
    }
    if (root.getAttribute('aria-busy') === 'true') change()
    else {
      this.#stage.rearrange(() => [...root.querySelectorAll('section > h2:not(.unseen), section > .cards > .card')], {
        change,
        motion,
        effects: (element, isComing) => effectsOf(element, motion, isComing),
        onGone: (element) => this.#forget(element),
      })
    }
    this.#readers.clear()
    this.#statuses.clear()
    const fresh = new Set(made)
    for (const card of this.#all) {
      if (fresh.has(card) && this.#isLive === false) card.setLive(false)
      this.#index(card, fresh.has(card))
      if (!card.status) continue
      if (!this.#statuses.has(card.status.path)) this.#statuses.set(card.status.path, [])
      this.#statuses.get(card.status.path).push(card)
    }
    for (const path of this.#statuses.keys()) this.#showStatus(path)
    root.setAttribute('aria-busy', 'false')
    this.#showFiltered()
    this.#editor?.placed()
    this.#report()
  }

  /** An element has gone for good. */
  #forget(element) {
    for (const [key, card] of this.#going) {
      if (card.element !== element) continue
      card.remove()
      this.#going.delete(key)
      return
    }
  }

  /** Leads changes of its paths to a card, and shows it what is known. */
  #index(card, isNew = true) {
    for (const path of card.paths) {
      // A panel may show a part of a value: `episode.title`. Its attribute is watched as a whole.
      const { attribute, steps } = card.rows || this.#values.has(path) ? { attribute: path, steps: [] } : placeAt(path)
      const isPart = steps.length > 0
      const reader = !isPart ? card : { card, show: (_, { value, reported }) => {
        const found = value instanceof AttributeFailed ? value : partOf(value, steps)
        card.show(path, { value: found ?? null, timeline: null, css: null, reported })
      } }
      if (!this.#readers.has(attribute)) this.#readers.set(attribute, [])
      this.#readers.get(attribute).push(reader)
      if ((isNew || isPart) && this.#values.has(attribute)) reader.show(path, this.#known(attribute))
    }
  }

  #section(row) {
    const section = make('section', row.isFeatured ? 'featured' : '')
    section.dataset.key = row.key
    section.setAttribute('aria-label', row.heading)
    section.append(make('h2'), make('div', 'cards'))
    return section
  }

  /** The environment of a subtree: its tint and colour scheme. */
  #theme(section, node, isOwn) {
    const tint = this.#read(node, 'tint')
    const scheme = this.#read(node, 'colorScheme')
    if (typeof tint === 'string') section.style.setProperty('--accent', tint)
    else section.style.removeProperty('--accent')
    const outer = this.#read(this.#board.root, 'colorScheme')
    // The environment is light by default, and then the device decides.
    const isOther = isOwn && (scheme === 'dark' || outer === 'dark') && scheme !== outer
    section.style.colorScheme = isOther && scheme ? scheme : ''
    section.classList.toggle('is-themed', Boolean(isOther && scheme))
  }

  #localeOf(node) {
    const found = this.#read(node, 'locale') ?? this.#read(this.#board?.root, 'locale')
    return typeof found === 'string' && found !== 'en_US' ? found : undefined
  }

  #card(given) {
    const known = this.#cards.get(given.id)
    const card = known ?? this.#going.get(given.id) ?? new Card({
      ...given, client: this.#client, inspector: this.#inspector, address: this.#address, onStatus: () => this.#report(),
      open: (card) => this.#open(card),
    })
    card.setPast(this.#isPast)
    card.seek = this.#seek
    this.#going.delete(given.id)
    this.#cards.set(given.id, card)
    card.id = given.id
    card.element.dataset.key = given.id
    card.element.style.setProperty('--rows', String(given.height ?? 1))
    card.sort = given.sort ?? null
    return [card, card.setRows(given.rows) || !known]
  }

  /** A status colours the cards of its node. Values below a stale node are stale, too. */
  #showStatus(path) {
    const status = this.#values.get(path)
    for (const card of this.#statuses.get(path)) card.setStatus(card.status.isOwn || status === 'stale' ? status : 'ok')
  }

  #showFiltered() {
    for (const card of this.#cards.values()) {
      const isShown = !this.#filter || `${card.title} ${card.path}`.toLowerCase().includes(this.#filter)
      card.element.hidden = !isShown
    }
    for (const section of this.element.querySelectorAll('section')) {
      section.hidden = ![...section.querySelectorAll('.card')].some((each) => !each.hidden)
    }
  }

  #explain(message) {
    this.element.replaceChildren(make('p', 'empty', message))
    this.element.setAttribute('aria-busy', 'false')
  }

  #setLive(isLive) {
    this.#isLive = isLive
    if (isLive) this.#refusal = null
    for (const card of this.#all) card.setLive(isLive)
    this.#report()
  }

  /** Tells the page what is new, once for all changes of a moment. */
  #report() {
    if (this.#isReporting) return
    this.#isReporting = true
    queueMicrotask(() => {
      this.#isReporting = false
      if (!this.#isClosed) this.#said(this.state)
    })
  }

  /** See `BoardState` in elements.d.ts. */
  get state() {
    const { root = null, title = 'agd', boards = [] } = this.#board ?? {}
    const scheme = root && this.#read(root, 'colorScheme')
    // The environment is light by default, and then the page decides.
    this.element.style.colorScheme = scheme === 'dark' ? 'dark' : ''
    this.element.classList.toggle('is-themed', scheme === 'dark')
    const cards = [...this.#cards.values()]
    const wrong = cards.filter((card) => card.trouble).map(({ id, title, path, status, trouble, since = null, element, failure }) => ({
      id, title, path, status: trouble, since: this.#isPast ? null : since, section: element.closest('section')?.querySelector('h2:not(.unseen)')?.textContent ?? null,
      reason: failure?.textContent ?? null,
      // The last change of this attribute began the status, unless a threshold did.
      statusPath: failure ? path : status?.path ?? null,
    }))
    const judged = cards.filter(({ levels, kind }) => levels.length > 0 || kind === 'status').length
    return {
      root, title, boards, wrong, judged, statuses: [...this.#statuses.keys()], isLive: this.#isLive, refusal: this.#refusal, moment: this.then?.moment ?? null,
      colorScheme: scheme ?? undefined, locale: root ? this.#localeOf(root) : undefined,
      isEditable: Boolean(this.#board?.isEditable) && this.#client.clock?.isWritable === true, isEditing: this.#editor !== null,
    }
  }

  /** Brings a card of the state into view and gives it the focus. */
  show(id) {
    const element = this.#cards.get(id)?.element
    element?.scrollIntoView({ block: 'center' })
    element?.querySelector(CONTROLS)?.focus({ preventScroll: true })
  }

  #tick() {
    if (document.hidden) return
    for (const card of this.#all) card.tick()
  }
}
