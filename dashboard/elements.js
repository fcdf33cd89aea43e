/**
 * Elements for any page:
 *
 *     <script type="module" src="http://localhost:7210/elements.js"></script>
 *     <agd-value path="/host.status"></agd-value>
 *     <agd-gauge path="/host/cpu.percent" label="CPU"></agd-gauge>
 *     <agd-chart path="/host/cpu.percent" window="600"></agd-chart>
 *     <agd-board root="/host"></agd-board>
 */

import { AttributeFailed, connect, Update } from './gateway.js'
import { Card } from './cards.js'
import { placeAt, words } from './format.js'
import { says } from './language.js'
import { look, tokens } from './style.js'

let shared = null

/** The client of all elements of this page. */
export function client() {
  shared ??= connect()
  return shared
}

/** Attributes of an element that are members of its panel, and how they are read. */
const PANEL = {
  label: ['title', String], icon: ['icon', String], text: ['text', String], units: ['units', String], sort: ['sort', String],
  current: ['current', String], active: ['active', String], switch: ['switch', String], level: ['level', String], unit: ['unit', String], format: ['format', String], tint: ['tint', String],
  min: ['min', Number], max: ['max', Number], warn: ['warn', Number], critical: ['critical', Number],
  step: ['step', Number], decimals: ['decimals', Number], window: ['window', Number],
  options: ['options', JSON.parse], set: ['set', JSON.parse], add: ['add', Number], toggle: ['toggle', () => true],
}

/** One card: `path`, `kind`, `label` and the other members of a panel as attributes. */
export class AgdCard extends HTMLElement {
  static observedAttributes = ['path', 'kind', ...Object.keys(PANEL)]
  #watch = null
  /** Of the further attributes of the card. */
  #further = null
  #card = null
  #timer = null
  #isDue = false

  /** The kind of card without the attribute `kind`; null lets the type decide. */
  get preset() {
    return null
  }

  connectedCallback() {
    if (!this.shadowRoot) this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [tokens, look]
    this.#begin()
  }

  disconnectedCallback() {
    this.#end()
  }

  attributeChangedCallback() {
    if (!this.isConnected || this.#isDue) return
    this.#isDue = true
    queueMicrotask(() => {
      this.#isDue = false
      this.#end()
      if (this.isConnected) this.#begin()
    })
  }

  get panel() {
    const given = Object.entries(PANEL).filter(([name]) => this.hasAttribute(name))
    return Object.fromEntries(given.map(([name, [member, read]]) => [member, read(this.getAttribute(name))]))
  }

  async #begin() {
    const path = this.getAttribute('path')
    if (!path) return
    const source = client()
    let card = null
    const options = { css: true, reports: true, onLive: (isLive) => card?.setLive(isLive) }
    const watch = (this.#watch = source.watch(path, options))
    this.#timer = setInterval(() => card?.tick(), 1000)
    const make = async () => {
      let [panel, fault] = [{}, null]
      try {
        panel = this.panel
      } catch {
        fault = { message: says.notJSON }
      }
      const kind = this.getAttribute('kind') ?? this.preset
      if (kind) panel.kind = kind
      let given
      try {
        given = await source.board(path, { panel })
      } catch {
        // An attribute that does not exist has an error.
        given = { path, kind: 'value', panel, title: panel.title ?? words(placeAt(path).name) }
      }
      if (watch !== this.#watch) return
      card = this.#card = new Card({ ...given, client: source })
      if (fault) card.fail(fault)
      this.shadowRoot.replaceChildren(card.element)
      this.#follow(card, path)
    }
    while (watch === this.#watch) {
      try {
        for await (const event of watch) {
          if (!(event instanceof Update)) continue
          const change = event.details.get(path)
          if (!change) continue
          if (!card) await make()
          if (watch !== this.#watch) return
          card.show(path, change)
        }
        return
      } catch (error) {
        if (watch !== this.#watch) return
        if (!card) await make()
        card?.fail(error instanceof AttributeFailed ? error : { message: error.reason ?? error.message })
        await new Promise((resolve) => setTimeout(resolve, 2000))
        if (watch === this.#watch) {
          this.#end()
          return this.#begin()
        }
      }
    }
  }

  /** Shows the further attributes of a card. */
  async #follow(card, path) {
    const paths = card.paths.filter((each) => each !== path)
    if (paths.length === 0) return
    const watch = (this.#further = client().watch(paths, { css: true, reports: true }))
    try {
      for await (const event of watch) if (event instanceof Update) for (const [each, change] of event.details) card.show(each, change)
    } catch (error) {
      if (watch === this.#further) card.fail({ message: error.reason ?? error.message })
    }
  }

  #end() {
    clearInterval(this.#timer)
    const watch = this.#watch
    const further = this.#further
    this.#watch = this.#further = null
    watch?.close()
    further?.close()
    this.#card?.end()
  }
}

export class AgdValue extends AgdCard {}

export class AgdGauge extends AgdCard {
  get preset() {
    return 'gauge'
  }
}

export class AgdChart extends AgdCard {
  get preset() {
    return 'chart'
  }
}

/**
 * A board: `root` is a path, otherwise the only node at the top of the tree. `density` is `compact` or `comfortable`,
 * otherwise the scene or the width decides.
 */
export class AgdBoard extends HTMLElement {
  static observedAttributes = ['root', 'density']
  #board = null
  /** Makes the address of a page about an attribute, for the titles of cards; null makes no links. */
  inspector = null
  /** Makes the address of the page of a board, for cards with a `link`; null makes no links. */
  address = null
  /** Goes to the moment to which a chart is dragged, in seconds since 1970; null lets nobody drag. */
  seek = null

  async connectedCallback() {
    if (!this.shadowRoot) this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [tokens, look]
    // Pages without a board do without its module.
    const { Board } = await import('./board.js')
    if (!this.isConnected || this.#board) return
    this.#board = new Board({
      client: client(),
      root: this.getAttribute('root'),
      density: this.getAttribute('density'),
      inspector: this.inspector,
      address: this.address,
      seek: this.seek,
      onState: (state) => this.dispatchEvent(new CustomEvent('agd-state', { detail: state })),
    })
    this.shadowRoot.replaceChildren(this.#board.element)
  }

  disconnectedCallback() {
    this.#board?.close()
    this.#board = null
  }

  attributeChangedCallback(_, old, now) {
    if (old === now || !this.#board) return
    this.disconnectedCallback()
    this.connectedCallback()
  }

  /** Shows only cards whose title or path contains the text. */
  filter(text) {
    this.#board?.filter(text)
  }

  /** Shows a moment of the past; null shows the present again. See `showPast` in board.js. */
  showPast(past) {
    return this.#board?.showPast(past)
  }

  /** Begins to edit the board. */
  edit() {
    return this.#board?.edit()
  }

  /** Brings a card of the state into view, by its `id`. */
  show(id) {
    this.#board?.show(id)
  }
}

for (const [name, element] of [['card', AgdCard], ['value', AgdValue], ['gauge', AgdGauge], ['chart', AgdChart], ['board', AgdBoard]]) {
  if (!customElements.get(`agd-${name}`)) customElements.define(`agd-${name}`, element)
}
