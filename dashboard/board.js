/**
 * A board: the cards of a part of the tree. Containers are sections. A node's container value `panel` describes its
 * card, and a node without one gets cards that suit its attributes (Documentation/Dashboard.md).
 */

import { AttributeFailed, Timeline, Update } from './gateway.js'
import { Card, kindOf, make } from './cards.js'
import { member, words } from './format.js'
import { Stage } from './motion.js'

/** A board of more cards would be slow, and nobody could read it. */
const MOST_CARDS = 500
/** Milliseconds between two descriptions of the structure. */
const DESCRIBE_PAUSE = 100
/** Without panels: displays first, then controls, then lists. */
const ORDER = ['status', 'gauge', 'bar', 'sparkline', 'value', 'chart', 'toggle', 'field', 'color', 'button', 'table', 'list']
const TRANSPARENT = ['group', 'forEach', 'section']

/** The attributes of a node that get a card if there is no panel. */
function namesOf({ attributes = {}, children = [], component }) {
  const names = Object.keys(attributes)
  const has = (name) => names.includes(name)
  const hasGauge = children.some(({ id }) => id === 'gauge')
  const hasList = children.some(({ kind }) => kind === 'forEach')
  // What else a view has leads to its percentage.
  if ((component || children.length === 0) && has('percent')) return ['percent']
  return names.filter((name) => {
    const { kind, type = 'dyn', transient } = attributes[name]
    if (kind === 'clock' || kind === 'inherit' || (kind === 'binding' && type === 'dyn')) return false
    if (['index', 'elements', 'cards', 'severity'].includes(name)) return false
    if ((name === 'percent' && hasGauge) || (type.startsWith('list') && kind === 'state' && hasList)) return false
    if (name === 'isStale' && has('status')) return false
    // Unprocessed figures of a feeder are only inputs of rules.
    return !(transient && /^(map|list|dyn)/.test(type) && names.length > 2)
  })
}

function join(path, id) {
  return `${path === '/' ? '' : path}/${id}`
}

/** A node and all nodes below it. */
function* below(node) {
  const pending = [node]
  while (pending.length > 0) {
    const next = pending.pop()
    yield next
    pending.push(...(next.children ?? []))
  }
}

function attributePath(node, name) {
  return `${node.path}.${name}`
}

export class Board {
  #client
  #root
  #inspector
  #said
  #watch = null
  #isClosed = false
  /** Nodes by path, of the last description. */
  #nodes = new Map()
  /** The nodes in which nodes were declared. */
  #parents = new Map()
  /** Subviews of containers without the attribute `cards`, by path; null for nodes that have none. */
  #subviews = new Map()
  /** The paths that have changed since the structure was read; null if anything may have. */
  #changed = null
  /** Whether panels describe what is below a node, by path. */
  #arranging = new Map()
  #values = new Map()
  /** When each value was last reported. */
  #reports = new Map()
  #tree = null
  /** By path and kind. */
  #cards = new Map()
  /** Cards on their way out, by path and kind. */
  #going = new Map()
  /** Cards outside of the board that show its values: those of an open sheet. */
  #guests = new Set()
  #sheet = null
  /** By path of an attribute. */
  #readers = new Map()
  #isLive = null
  /** Why the daemon or the gateway does not let this page watch any more. */
  #refusal = null
  /** Whether the structure has changed since it was read, and whether it is being read. */
  #isOutdated = false
  #isReading = false
  #isDescribing = false
  /** How the changes of the structure that are not shown yet move: `{ timeline, css, transitions }`. */
  #motion = null
  #filter = ''
  #stage
  #timer

  /**
   * @param options `client`, `root` (a path; otherwise the only node at the top, or all), `inspector` (makes the address of an
   *   attribute's page), `onState` (called with `{title, isLive, refusal}`).
   */
  constructor({ client, root = null, inspector = null, onState = () => {} }) {
    this.#client = client
    this.#root = root
    this.#inspector = inspector
    this.#said = onState
    this.element = make('div', 'board')
    this.element.setAttribute('aria-busy', 'true')
    this.#stage = new Stage(() => client.now())
    this.#timer = setInterval(() => this.#tick(), 1000)
    this.#run()
  }

  close() {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#watch?.close()
    this.#sheet?.close({ isAtOnce: true })
    for (const card of [...this.#cards.values(), ...this.#going.values()]) card.end()
  }

  /** Opens the sheet of a card. */
  async #open(card) {
    const { Sheet } = await import('./sheet.js')
    this.#sheet ??= new Sheet({ board: this, client: this.#client, inspector: this.#inspector })
    this.#sheet.open(card)
  }

  /** The card of an attribute, if the board has one. */
  cardAt(path) {
    return [...this.#cards.values()].find((card) => !card.rows && card.series.length === 1 && card.path === path)
  }

  /** Shows the values of the board's attributes to a card outside of it. The result is false if the board has not all of them. */
  admit(card) {
    this.#guests.add(card)
    this.#index(card)
    if (this.#isLive === false) card.setLive(false)
    return card.paths.every((path) => this.#values.has(/^[^.]*\.[^.[]+/.exec(path)?.[0] ?? path))
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
        await this.#follow(this.#root ?? (await this.#findRoot()))
      } catch (error) {
        this.#refusal = error.code && error.code !== 'unavailable' ? error.reason : null
        this.#setLive(false)
        if (this.#cards.size === 0) this.#explain(error.reason ?? error.message)
      }
      // A part of the tree that does not exist yet may come.
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
  }

  async #findRoot() {
    const { children = [] } = await this.#client.describe('/', { depth: 1 })
    return children.length === 1 ? children[0].path : '/'
  }

  async #follow(root) {
    const options = { css: true, reports: true, events: ['update', 'structure'], onLive: (isLive) => this.#setLive(isLive) }
    this.#watch = this.#client.watch(root === '/' ? '/**' : `${root}/**`, options)
    for await (const event of this.#watch) {
      if (event instanceof Update) {
        if (event.initial) {
          this.#values.clear()
          this.#reports.clear()
          for (const [path, change] of event.details) this.#keep(path, change)
          this.#changed = null
          await this.#describe(root)
          this.#setLive(true)
        }
        this.#take(event.details)
      } else if (event.method === 'structure') {
        this.#prepare(event)
        this.#describeAgain(root)
      }
    }
  }

  #prepare({ timeline, transitions = {}, added, removed, moved, shown }) {
    if (shown) this.#changed = null
    this.#changed?.push(...added, ...removed, ...moved)
    this.#motion ??= { timeline: null, css: null, transitions: {} }
    if (timeline) Object.assign(this.#motion, { timeline: new Timeline(timeline), css: timeline.css ?? null })
    for (const [node, given] of Object.entries(transitions)) {
      this.#motion.transitions[node] = { ...this.#motion.transitions[node], ...given }
    }
  }

  #keep(path, { value, reported }) {
    this.#values.set(path, value)
    this.#reports.set(path, reported)
  }

  /** The change with which a card begins. */
  #known(path) {
    return { value: this.#values.get(path), timeline: null, css: null, reported: this.#reports.get(path) }
  }

  #take(details) {
    let isDue = false
    for (const [path, change] of details) {
      if (change.value instanceof AttributeFailed && change.value.code === 'removed') {
        this.#values.delete(path)
        this.#reports.delete(path)
        continue
      }
      this.#keep(path, change)
      for (const card of this.#readers.get(path) ?? []) card.show(path, change)
      if (/\.(cards|tint|colorScheme|locale|title)$/.test(path)) isDue = true
      if (path.endsWith('.status')) this.#showStatus(path.slice(0, -'.status'.length), change.value)
    }
    // A change of the structure comes before its values: what is read then is shown together with them.
    if (isDue && this.#tree && !this.#isOutdated && !this.#isReading) this.#lay()
  }

  /** A list that changes all the time is not described more often than once each pause. */
  async #describeAgain(root) {
    this.#isOutdated = true
    if (this.#isDescribing) return
    this.#isDescribing = true
    while (this.#isOutdated && !this.#isClosed) {
      this.#isOutdated = false
      try {
        await this.#describe(root)
      } catch (error) {
        // A lost connection is told by the watch. If the root is gone, the board begins anew, and says so meanwhile.
        if (error.code && error.code !== 'unavailable') this.#watch.close()
      }
      await new Promise((resolve) => setTimeout(resolve, DESCRIBE_PAUSE))
    }
    this.#isDescribing = false
  }

  /** Reads the structure anew. */
  async #describe(root) {
    this.#isReading = true
    try {
      await this.#read(root)
    } catch (error) {
      this.#changed = null
      throw error
    } finally {
      this.#isReading = false
    }
    this.#lay(this.#motion)
    this.#motion = null
  }

  /** Asks only containers around a change for their subviews. */
  async #read(root) {
    const changed = this.#changed
    this.#changed = []
    const tree = await this.#treeOf(root)
    this.#nodes.clear()
    for (const node of below(tree)) this.#nodes.set(node.path, node)
    this.#showPlaces()
    // A component that places what it is given shows its body. What it is given is told where that stands.
    const isAsked = ({ children, kind, attributes, component, shown }) =>
      children && !TRANSPARENT.includes(kind) && !attributes?.cards && !(component && shown)
    const containers = [...below(tree)].filter(isAsked).map(({ path }) => path).slice(0, 200)
    const isOther = (path) => !changed || !this.#subviews.has(path) || path === '/' || changed.some((each) => each === path || each.startsWith(`${path}/`))
    const known = containers.map(async (path) => [path, isOther(path) ? await this.#subviewsOf(path) : this.#subviews.get(path)])
    this.#subviews = new Map(await Promise.all(known))
    this.#tree = tree
  }

  async #subviewsOf(path) {
    try {
      return await this.#client.eval('subviews', { at: path })
    } catch (error) {
      if (!error.code || error.code === 'unavailable') throw error
      // A view, or the root, whose children have no container values.
      return null
    }
  }

  /** Gives each node, as its children, the nodes that stand in it, wherever they were declared. */
  #showPlaces() {
    this.#parents.clear()
    for (const node of this.#nodes.values()) for (const child of node.children ?? []) this.#parents.set(child, node)
    for (const node of this.#nodes.values()) {
      if (node.shown) node.children = node.shown.map((path) => this.#nodes.get(path))
      if (node.children) node.children = node.children.filter((child) => child && !child.isUnshown)
    }
  }

  /** The node of a subview, whose id leads there from its container. */
  #nodeOf(container, id) {
    let from = container
    while (from && id.startsWith('../')) {
      from = this.#parents.get(from)
      id = id.slice('../'.length)
    }
    return from && this.#nodes.get(join(from.path, id))
  }

  async #treeOf(root) {
    try {
      return await this.#client.describe(root)
    } catch (error) {
      if (error.code !== 'limit') throw error
      return this.#sketch(root)
    }
  }

  /** A tree that is too large to be described, as far as its values tell. */
  #sketch(root) {
    const nodes = new Map()
    const nodeAt = (path) => {
      if (nodes.has(path)) return nodes.get(path)
      // An id in quotes may contain slashes.
      const [, around, id] = /^(.*)\/("(?:[^"\\]|\\.)*"|[^/"]*)$/.exec(path) ?? [null, null, path]
      const node = { id: id.startsWith('"') ? JSON.parse(id) : id, path, kind: 'view', attributes: Object.create(null) }
      nodes.set(path, node)
      if (path !== root && around !== null) {
        const parent = nodeAt(around || '/')
        parent.children ??= []
        parent.children.push(node)
        parent.kind = 'group'
      }
      return node
    }
    nodeAt(root)
    for (const [path, value] of this.#values) {
      const [, node, name] = /^(.*)\.([^./]+)$/.exec(path) ?? []
      if (!name || nodes.size > 20 * MOST_CARDS) continue
      const type = { number: 'double', boolean: 'bool', string: 'string' }[typeof value] ?? (Array.isArray(value) ? 'list' : 'dyn')
      nodeAt(node || '/').attributes[name] = { kind: 'unknown', type }
    }
    return nodes.get(root)
  }

  /** Node, panel and title of the direct subviews of a container, in the order of its rule. */
  #entries(node) {
    const ruled = node.attributes?.cards && this.#values.get(attributePath(node, 'cards'))
    const given = Array.isArray(ruled) ? ruled : this.#subviews.get(node.path)
    if (!given) return (node.children ?? []).map((child) => ({ node: child, panel: {}, values: {} }))
    return given.map(({ id, panel, containerValues }) => {
      const found = this.#nodeOf(node, id)
      const values = containerValues ?? {}
      return { node: found, panel: panel ?? values.panel ?? {}, values, section: this.#sectionOf(node, found) }
    }).filter((each) => each.node)
  }

  /** The innermost section of a container that has a subview. */
  #sectionOf(container, subview) {
    let section = null
    for (let at = this.#parents.get(subview); at; at = this.#parents.get(at)) {
      if (at === container) return section
      if (at.kind === 'section') section ??= at
    }
    return null
  }

  /** @param motion of the change of the structure that is shown, if there is one. */
  #lay(motion = null) {
    this.#arranging.clear()
    const tree = this.#tree
    const rows = []
    const featured = []
    const open = (node, key, title, prefix) => {
      // The environment of the whole graph is no part of a board.
      const own = node.path === '/' ? [] : this.#ofNode(node, {}, this.#titleOf(node), true)
      const loose = { key, title, node, cards: own }
      rows.push(loose)
      const entries = this.#entries(node)
      for (const { node: inner, panel, values, section } of entries) {
        if (panel.hidden) continue
        const title = panel.title || values.title || this.#titleOf(inner)
        if (section) {
          let row = rows.find((each) => each.key === section.path)
          if (!row) rows.push((row = { key: section.path, title: prefix + this.#headingOf(section), node: section, cards: [] }))
          row.cards.push(...this.#ofView(inner, panel, title, featured))
        } else if (inner.children?.length && !panel.value && !panel.values) {
          const heading = panel.kind ? values.title || this.#titleOf(inner) : title
          const own = panel.kind ? panel : { ...panel, title: undefined }
          // Several boards stand below each other, with rows of their own. So does one that is alone in its container.
          if (node === tree && (tree.path === '/' || entries.length === 1) && !panel.kind && this.#hasRows(inner)) {
            open(inner, inner.path, heading, `${heading} · `)
          } else {
            rows.push({ key: inner.path, title: prefix + heading, node: inner, cards: this.#ofView(inner, own, heading, featured) })
          }
        } else {
          loose.cards.push(...this.#ofView(inner, panel, title, featured))
        }
      }
    }
    open(tree, '', null, '')
    if (featured.length > 0) rows.unshift({ key: 'featured', title: null, node: tree, cards: featured })
    this.#place(rows.filter((row) => row.cards.length > 0), motion)
  }

  /** Whether a node contains containers of cards. */
  #hasRows(node) {
    return this.#entries(node).some(({ node: inner, panel }) => inner.children?.length && !panel.value && !panel.values && !panel.kind && !panel.hidden)
  }

  /** What a `Cards` is called, or a name made of the node's id. */
  #titleOf(node) {
    const given = node.component === 'Cards' && this.#values.get(attributePath(node, 'title'))
    if (typeof given === 'string' && given) return given
    return node.id ? words(node.id) : 'agd'
  }

  #headingOf(section) {
    const header = section.children?.find(({ attributes }) => attributes?.text)
    const text = header && this.#values.get(attributePath(header, 'text'))
    return typeof text === 'string' ? text : words(section.id)
  }

  /** The cards of a view and of everything below it. Featured cards go to `featured`. */
  #ofView(node, panel, title, featured, depth = 0) {
    if (panel.hidden || depth > 100) return []
    const cards = this.#ofNode(node, panel, title)
    const isWhole = panel.kind === 'table' || panel.kind === 'list'
    if (!isWhole) {
      for (const each of node.children ? this.#entries(node) : []) {
        const own = each.panel.title || each.values.title || (each.node.id === 'gauge' ? title : this.#titleOf(each.node))
        cards.push(...this.#ofView(each.node, each.panel, own, featured, depth + 1))
      }
    }
    if (!panel.featured) return cards
    featured.push(...cards)
    return []
  }

  /** Descriptions of the cards of one node. */
  #ofNode(node, panel, title, isRoot = false) {
    const attributes = node.attributes ?? {}
    if ((panel.kind === 'table' || panel.kind === 'list') && !panel.value && node.children) {
      return [{ key: `${node.path} ${panel.kind}`, path: node.path, kind: panel.kind, panel, title, node, rows: this.#rowsOf(node, panel) }]
    }
    if (panel.values && !panel.value) return [this.#ofSeveral(node, panel, title)]
    const names = panel.value ? [panel.value] : namesOf(node)
    // A node that arranges cards has none of its own.
    if (!panel.value && node.children && this.#arranges(node)) return []
    const isAlone = names.length === 1 && !node.children
    const cards = names.map((name) => {
      const attribute = member(attributes, String(name).split(/[.[]/)[0])
      const path = attributePath(node, name)
      const type = Object.hasOwn(attributes, name) ? attribute.type : 'dyn'
      const own = isRoot || node.children ? words(name) : `${title}: ${words(name).toLowerCase()}`
      const label = isAlone || name === 'percent' || panel.value ? title : own
      if (!attribute) return { key: `${path} missing`, path, kind: 'value', panel, title, fault: `${node.path} has no attribute ${name}.`, node }
      const kind = panel.kind ?? kindOf(name, attribute)
      const isReadOnly = ['toggle', 'slider', 'stepper', 'field', 'picker', 'button', 'textField'].includes(kind) && attribute.kind === 'computed'
      return { key: `${path} ${isReadOnly ? 'value' : kind}`, path, kind: isReadOnly ? 'value' : kind, panel: panel.value ? panel : {}, title: label, type, node }
    })
    if (!panel.value) cards.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
    return cards
  }

  /** Description of a card with several values of one node. */
  #ofSeveral(node, panel, title) {
    const isList = Array.isArray(panel.values) && panel.values.length > 0
    const series = (isList ? panel.values : []).map((each) => {
      const { value, title, tint } = each !== null && typeof each === 'object' ? each : { value: each }
      return { path: attributePath(node, value), title: title ?? words(String(value).split('.').at(-1)), tint, name: String(value) }
    })
    const missing = series.find(({ name }) => !member(node.attributes, name.split(/[.[]/)[0]))
    const isText = series.some(({ name }) => /^(bool|string)/.test(member(node.attributes, name)?.type))
    const kind = panel.kind ?? (isText ? 'timeline' : 'chart')
    const fault = !isList ? `values of the panel of ${node.path} must be a list of attributes.`
      : missing ? `${node.path} has no attribute ${missing.name}.`
        : !['line', 'chart', 'timeline'].includes(kind) ? `A ${kind} shows one value. Several need the kind line or timeline.` : null
    const path = series[0]?.path ?? node.path
    const key = `${node.path} ${kind} ${fault ? 'fault' : series.map((each) => each.path).join(' ')}`
    return fault ? { key, path, kind: 'value', panel, title, node, fault } : { key, path, kind, panel, title, node, series }
  }

  /** Whether panels describe the cards below a node. */
  #arranges(node) {
    if (!this.#arranging.has(node.path)) {
      const isSo = Boolean(node.attributes?.cards) || this.#entries(node).some(({ node: child, panel }) => {
        return Object.keys(panel).some((each) => each !== 'hidden' && each !== 'title') || (child.children && this.#arranges(child))
      })
      this.#arranging.set(node.path, Boolean(isSo))
    }
    return this.#arranging.get(node.path)
  }

  /** A row for each subview below a container; `cells` has the columns by path, row by row. */
  #rowsOf(node, panel) {
    const views = []
    const collect = (each) => {
      for (const child of each.children ?? []) TRANSPARENT.includes(child.kind) ? collect(child) : views.push(child)
    }
    collect(node)
    const shown = (view) => Object.keys(view.attributes ?? {}).filter((name) => {
      const { kind, type, rule } = view.attributes[name]
      // The element of a list is a binding or a value without a rule. The view says what to show of it.
      const isElement = type === 'dyn' && (kind === 'binding' || (kind === 'let' && !rule))
      return !['clock', 'action'].includes(kind) && name !== 'index' && !isElement
    })
    const columns = panel.columns ?? [...new Set(views.flatMap(shown))].slice(0, 6)
    const cells = new Map()
    for (const view of views) {
      for (const column of columns) cells.set(attributePath(view, column), column)
    }
    return { columns, ids: views.map(({ id }) => id), cells }
  }

  /** Makes, reuses and removes cards, and puts them in their places. */
  #place(rows, motion) {
    const root = this.element
    const count = rows.reduce((sum, row) => sum + row.cards.length, 0)
    let left = MOST_CARDS
    const old = new Map([...root.querySelectorAll('section')].map((each) => [each.dataset.key, each]))
    const before = new Set(this.#cards.keys())
    const made = []
    const sections = rows.map((row) => {
      const section = old.get(row.key) ?? this.#section(row)
      this.#theme(section, row.node, row.key !== '' && row.key !== 'featured')
      if (row.title) section.querySelector('h2').textContent = row.title
      const cards = row.cards.slice(0, left).map((given) => {
        const [card, isNew] = this.#card(given)
        before.delete(given.id)
        if (isNew) made.push(card)
        card.setLocale(this.#localeOf(row.node))
        return card.element
      })
      left -= cards.length
      return [section, cards]
    }).filter(([, cards]) => cards.length > 0)
    const parts = sections.map(([section]) => section)
    if (count > MOST_CARDS) parts.push(make('p', 'empty', `${count - MOST_CARDS} more cards are not shown. ?root=PATH shows a part of the tree.`))
    if (count === 0) parts.push(make('p', 'empty', 'No values are here yet. agctl apply -f FILE adds a scene.'))
    for (const key of before) {
      this.#going.set(key, this.#cards.get(key))
      this.#cards.delete(key)
    }
    const change = () => {
      for (const [section, cards] of sections) put(section.querySelector('.cards'), cards)
      put(root, [...parts, this.#stage.layer])
    }
    if (root.getAttribute('aria-busy') === 'true') change()
    else {
      this.#stage.rearrange(() => [...root.querySelectorAll('section > h2, section > .cards > .card')], {
        change,
        motion,
        effects: (element, isComing) => effectsOf(element, motion, isComing),
        onGone: (element) => this.#forget(element),
      })
    }
    this.#readers.clear()
    const fresh = new Set(made)
    for (const card of this.#all) {
      if (fresh.has(card) && this.#isLive === false) card.setLive(false)
      this.#index(card, fresh.has(card))
    }
    for (const path of this.#values.keys()) {
      if (path.endsWith('.status')) this.#showStatus(path.slice(0, -'.status'.length), this.#values.get(path))
    }
    root.setAttribute('aria-busy', 'false')
    this.#showFiltered()
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
      const isWhole = card.rows || this.#values.has(path)
      // A panel may show a part of a value: `episode.title`. Its attribute is watched as a whole.
      const [, attribute, rest] = (!isWhole && /^([^.]*\.[^.[]+)(.+)$/.exec(path)) || [null, path]
      const keys = rest?.split(/[.[\]"]+/).filter(Boolean)
      const reader = !keys ? card : { card, show: (_, { value, reported }) => {
        const found = value instanceof AttributeFailed ? value : keys.reduce(member, value)
        card.show(path, { value: found ?? null, timeline: null, css: null, reported })
      } }
      if (!this.#readers.has(attribute)) this.#readers.set(attribute, [])
      this.#readers.get(attribute).push(reader)
      if ((isNew || keys) && this.#values.has(attribute)) reader.show(path, this.#known(attribute))
    }
  }

  #section(row) {
    const section = make('section', row.key === 'featured' ? 'featured' : '')
    section.dataset.key = row.key
    if (row.title) {
      const heading = make('h2', '', row.title)
      section.append(heading)
      section.setAttribute('aria-label', row.title)
    }
    section.append(make('div', 'cards'))
    return section
  }

  /** The environment of a subtree: its tint and colour scheme. */
  #theme(section, node, isOwn) {
    const read = (name) => (node.attributes?.[name] ? this.#values.get(attributePath(node, name)) : null)
    const tint = read('tint')
    const scheme = read('colorScheme')
    if (typeof tint === 'string') section.style.setProperty('--accent', tint)
    else section.style.removeProperty('--accent')
    const outer = this.#tree.attributes?.colorScheme ? this.#values.get(attributePath(this.#tree, 'colorScheme')) : null
    // The environment is light by default, and then the device decides.
    const isOther = isOwn && (scheme === 'dark' || outer === 'dark') && scheme !== outer
    section.style.colorScheme = isOther ? scheme : ''
    section.classList.toggle('is-themed', isOther)
  }

  #localeOf(node) {
    const found = node.attributes?.locale ? this.#values.get(attributePath(node, 'locale')) : this.#values.get(attributePath(this.#tree, 'locale'))
    return typeof found === 'string' && found !== 'en_US' ? found : undefined
  }

  #card(given) {
    given.id = `${given.key} ${JSON.stringify(given.panel)} ${given.title}${JSON.stringify(given.rows?.columns ?? '')}`
    const known = this.#cards.get(given.id)
    const card = known ?? this.#going.get(given.id) ?? new Card({ ...given, client: this.#client, inspector: this.#inspector, open: (card) => this.#open(card) })
    this.#going.delete(given.id)
    this.#cards.set(given.id, card)
    card.node = given.node.path
    if (given.fault) card.fail({ message: given.fault })
    return [card, card.setRows(given.rows) || !known]
  }

  /** A status colours the cards of its node. Values below a stale node are stale, too, unless a status nearer to them says more. */
  #showStatus(node, status) {
    for (const card of this.#cards.values()) {
      if (card.panel.warn !== undefined || card.panel.critical !== undefined) continue
      if (this.#statusAbove(card.node) !== node) continue
      if (card.node !== node) card.setStatus(status === 'stale' ? 'stale' : 'ok')
      else if (['bar', 'gauge', 'status', 'sparkline'].includes(card.kind)) card.setStatus(status)
    }
  }

  /** The nearest node with a status: this one, or one around it. */
  #statusAbove(path) {
    for (let at = path; at; at = at.slice(0, at.lastIndexOf('/'))) if (this.#values.has(`${at}.status`)) return at
    return null
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

  #report() {
    const node = this.#tree
    const scheme = node?.attributes?.colorScheme && this.#values.get(attributePath(node, 'colorScheme'))
    // The environment is light by default, and then the page decides.
    this.element.style.colorScheme = scheme === 'dark' ? 'dark' : ''
    this.element.classList.toggle('is-themed', scheme === 'dark')
    const title = node ? this.#titleOf(node) : 'agd'
    this.#said({ title, isLive: this.#isLive, refusal: this.#refusal, colorScheme: scheme, locale: node && this.#localeOf(node) })
  }

  #tick() {
    for (const card of this.#all) card.tick()
  }
}

/** The effects of the transition of an element's node, or of the outermost node around it that comes or goes. */
function effectsOf(element, motion, isComing) {
  const path = element.dataset.path ?? element.parentElement.dataset.key
  for (const { index } of `${path}/`.matchAll(/[/.]/g)) {
    const given = index > 0 && motion?.transitions[path.slice(0, index)]
    if (given) return (isComing ? given.insertion : given.removal) ?? [{ opacity: {} }]
  }
  return [{ opacity: {} }]
}

/** Gives an element these children. Those that keep their order stay in the document, with their focus and scrolling. */
function put(parent, children) {
  const kept = new Set(children)
  for (const each of [...parent.children]) if (!kept.has(each)) each.remove()
  let next = parent.firstElementChild
  for (const each of children) {
    if (each === next) next = next.nextElementSibling
    else parent.insertBefore(each, next)
  }
}
