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
import { Board } from './board.js'
import { Card, kindOf } from './cards.js'
import { member, words } from './format.js'
import { look, tokens } from './style.js'

let shared = null

/** The client of all elements of this page. */
export function client() {
  shared ??= connect()
  return shared
}

/** Attributes of an element that are members of its panel, and how they are read. */
const PANEL = {
  label: ['title', String], unit: ['unit', String], format: ['format', String], tint: ['tint', String],
  min: ['min', Number], max: ['max', Number], warn: ['warn', Number], critical: ['critical', Number],
  step: ['step', Number], decimals: ['decimals', Number], window: ['window', Number],
  options: ['options', JSON.parse], set: ['set', JSON.parse], add: ['add', Number], toggle: ['toggle', () => true],
}

/** One card: `path`, `kind`, `label` and the other members of a panel as attributes. */
export class AgdCard extends HTMLElement {
  static observedAttributes = ['path', 'kind', ...Object.keys(PANEL)]
  #watch = null
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
    const make = async (value) => {
      const [, node, name] = /^(.*)\.([^./]+)$/.exec(path) ?? [null, path, path]
      let attribute = { type: typeof value === 'number' ? 'double' : typeof value === 'boolean' ? 'bool' : 'dyn' }
      try {
        const { attributes } = await source.describe(node || '/', { depth: 0 })
        attribute = member(attributes, name) ?? attribute
      } catch {
        // A part of a value has no definition of its own.
      }
      if (watch !== this.#watch) return
      const kind = this.getAttribute('kind') ?? this.preset ?? kindOf(name, attribute)
      let [panel, fault] = [{}, null]
      try {
        panel = this.panel
      } catch {
        fault = { message: 'The attributes set and options must be JSON.' }
      }
      card = this.#card = new Card({ client: source, path, kind, panel, title: words(name), type: attribute.type })
      if (fault) card.fail(fault)
      this.shadowRoot.replaceChildren(card.element)
    }
    while (watch === this.#watch) {
      try {
        for await (const event of watch) {
          if (!(event instanceof Update)) continue
          const change = event.details.get(path)
          if (!change) continue
          if (!card) await make(change.value)
          if (watch !== this.#watch) return
          card.show(path, change)
        }
        return
      } catch (error) {
        if (watch !== this.#watch) return
        if (!card) await make(null)
        card?.fail(error instanceof AttributeFailed ? error : { message: error.reason ?? error.message })
        await new Promise((resolve) => setTimeout(resolve, 2000))
        if (watch === this.#watch) {
          this.#end()
          return this.#begin()
        }
      }
    }
  }

  #end() {
    clearInterval(this.#timer)
    const watch = this.#watch
    this.#watch = null
    watch?.close()
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

/** A board: `root` is a path, otherwise the only node at the top of the tree. */
export class AgdBoard extends HTMLElement {
  static observedAttributes = ['root']
  #board = null
  /** Makes the address of a page about an attribute, for the titles of cards; null makes no links. */
  inspector = null

  connectedCallback() {
    if (!this.shadowRoot) this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [tokens, look]
    this.#board = new Board({
      client: client(),
      root: this.getAttribute('root'),
      inspector: this.inspector,
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
}

for (const [name, element] of [['card', AgdCard], ['value', AgdValue], ['gauge', AgdGauge], ['chart', AgdChart], ['board', AgdBoard]]) {
  if (!customElements.get(`agd-${name}`)) customElements.define(`agd-${name}`, element)
}
