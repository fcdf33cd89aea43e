/**
 * Editing a board on the page. Each change is applied at once to a named layer at the board's node, so all pages show it.
 * Cards get a handle over everything else, and a panel beside the board has what can be said of one of them.
 */

import { make } from './cards.js'
import { add, forget, hidden, hide, idsIn, isAdded, isEmpty, move, moveInto, said, say } from './draft.js'
import { idsOf, placeAt, words } from './format.js'
import { language, says } from './language.js'
import { adopt, sheet } from './style.js'

const LAYER = 'page'
/** Pixels that a mouse moves before a card is dragged. */
const SLOP = 6
/** Pixels from the edge of the window within which a dragged card scrolls the page, and how far for each move. */
const [EDGE, SCROLL] = [64, 12]
/** The part of a row from which on a card counts as alone in it. */
const ALONE = 0.7
const MOST_STEPS = 200
const MOST_FOUND = 60
const [MOST_SPAN, MOST_HEIGHT] = [4, 6]

const look = sheet(`
.tools { position: sticky; inset-block-start: 0; z-index: 4; display: flex; align-items: center; gap: 4px; background: var(--page); padding-block: 4px; margin-block-end: 8px; }
.tools p { flex: 1; min-width: 0; color: var(--muted); font-size: 13px; line-height: 18px; padding-inline: 8px; overflow-wrap: anywhere; }
.tools p.is-wrong { color: var(--critical); font-weight: 500; }
.tools button, .settings button {
  font: inherit; color: inherit; min-height: 44px; min-width: 44px; padding-inline: 16px; border: 0; border-radius: 8px; background: var(--track); cursor: pointer; flex: none;
}
.tools .plain, .settings .plain { background: none; padding-inline: 12px; }
.tools .main { background: var(--accent); color: var(--on-accent); font-weight: 600; }
.tools svg { display: block; width: 20px; height: 20px; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
:is(.tools, .settings) button:hover:not(:disabled, .main) { background: var(--line); }
.editing section > h2 { position: relative; padding-inline-end: 44px; }
.grip {
  position: absolute; inset: 0; z-index: 2; width: 100%; border: 0; border-radius: 12px; background: none; cursor: grab; padding: 0; color: var(--muted);
  box-shadow: inset 0 0 0 1px var(--control);
}
.grip:hover, .grip:focus-visible, .is-chosen > .grip { box-shadow: inset 0 0 0 2px var(--accent); outline: none; }
.grip > i { position: absolute; inset-block-start: 5px; inset-inline-end: 5px; width: 28px; height: 28px; display: grid; place-content: center; touch-action: none; border-radius: 8px; background: var(--surface); }
.grip > i::after { content: ""; position: absolute; inset: -5px -5px -11px -11px; }
.grip svg, .head svg { width: 16px; height: 16px; fill: currentColor; }
/* In a tile, the dots have room of their own. */
.editing.compact .card { padding-inline-end: 40px; }
.editing.compact .grip > i { inset-block: 1px; inset-inline-end: 1px; width: 36px; height: auto; background: none; }
.editing.compact .grip > i::after { inset: 0; }
.head { position: relative; z-index: 2; align-self: end; width: 44px; height: 44px; margin-block: -36px -8px; border: 0; border-radius: 8px; background: none; color: var(--muted); cursor: pointer; display: grid; place-content: center; }
.compact .head { margin-block: -33px -11px; }
.head:hover { color: var(--ink); }
.editing .card { content-visibility: visible; scroll-margin-block-start: 84px; }
.editing .card > :not(.grip) { pointer-events: none; user-select: none; -webkit-user-select: none; }
.is-lifted { opacity: 0.3; }
.ghost { position: fixed; z-index: 6; margin: 0; pointer-events: none; opacity: 0.95; box-shadow: 0 8px 24px rgb(0 0 0 / 24%); }
.settings {
  position: fixed; z-index: 5; inset-block: auto 16px; inset-inline: auto 16px; width: 344px; max-height: calc(100dvh - 136px); overflow: auto; overscroll-behavior: contain; margin: 0; padding: 0 16px 16px; border: 0;
  border-radius: 16px; background: var(--surface); color: var(--ink); box-shadow: 0 8px 32px rgb(0 0 0 / 28%); font: 15px/1.4 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; scrollbar-width: thin;
}
.settings header { position: sticky; inset-block-start: 0; z-index: 1; display: flex; align-items: center; gap: 8px; background: var(--surface); padding-block: 8px; margin-inline-end: -8px; }
.settings h2 { position: static; background: none; flex: 1; padding: 0; font-size: 16px; line-height: 22px; white-space: normal; overflow-wrap: anywhere; }
.settings h3 { font-size: 13px; font-weight: 600; margin-block: 16px 4px; }
.settings form { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 10px 12px; }
.settings label { display: grid; gap: 2px; font-size: 13px; color: var(--muted); min-width: 0; align-content: end; }
.settings label.wide, .settings .row { grid-column: 1 / -1; }
.settings :is(input, select) { font: inherit; font-size: 15px; color: var(--ink); background: var(--page); border: 1px solid var(--control); border-radius: 8px; min-height: 44px; padding: 8px 10px; width: 100%; min-width: 0; }
.settings label.check { grid-column: 1 / -1; display: flex; align-items: center; gap: 12px; min-height: 44px; color: var(--ink); font-size: 15px; }
.settings label.check input { width: 20px; height: 20px; min-height: 0; accent-color: var(--accent); }
.settings .row { display: flex; gap: 8px; flex-wrap: wrap; }
.settings .row button { flex: 1; padding-inline: 8px; }
.settings .remove { color: var(--critical); }
.settings ul { list-style: none; padding: 0; margin-block-start: 8px; }
.settings li button { display: grid; width: 100%; text-align: start; padding: 6px 8px; background: none; border-radius: 8px; }
.settings li b { font-weight: 500; overflow-wrap: anywhere; }
.settings li span, .settings .none { color: var(--muted); font-size: 13px; overflow-wrap: anywhere; }
.settings p.none { padding-block: 8px; }
.clash { margin: auto; width: min(440px, calc(100vw - 32px)); border: 0; border-radius: 16px; padding: 20px 24px; background: var(--surface); color: var(--ink); font: 15px/1.4 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
.clash::backdrop { background: rgb(0 0 0 / 40%); }
.clash p { color: var(--muted); margin-block: 8px 16px; }
.clash div { display: flex; gap: 8px; justify-content: end; flex-wrap: wrap; }
.clash button { font: inherit; color: inherit; min-height: 44px; padding-inline: 16px; border: 0; border-radius: 8px; background: var(--track); cursor: pointer; }
@media (max-width: 720px) {
  .settings { inset-inline: 0; inset-block-end: 0; width: auto; max-height: 62dvh; border-radius: 16px 16px 0 0; }
  .editing:has(~ .settings[open]) { padding-block-end: 62dvh; }
  .tools { flex-wrap: wrap; gap: 0 4px; }
  .tools button, .tools .plain { padding-inline: 10px; }
  .tools p { flex-basis: 100%; order: 1; }
  .tools p:empty { display: none; }
  .tools .gap { flex: 1; }
}
@media (min-width: 721px) { .tools .gap { display: none; } }
`)

const SIGNS = {
  undo: '<path d="M8 5 3.5 9.5 8 14M4 9.5h10a6 6 0 0 1 0 11h-3"/>',
  redo: '<path d="m16 5 4.5 4.5L16 14m4-4.5H10a6 6 0 0 0 0 11h3"/>',
}
const DOTS = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M5 2h2v2H5zm4 0h2v2H9zM5 7h2v2H5zm4 0h2v2H9zM5 12h2v2H5zm4 0h2v2H9z"/></svg>'

/** Kinds for a value, by its type in JavaScript; and those that need an attribute that can be written. Names as in scenes. */
const KINDS = { __proto__: null, number: ['value', 'sparkline', 'line', 'gauge', 'bar'], boolean: ['value', 'timeline'], string: ['value', 'text', 'status', 'timeline'], object: ['table', 'list', 'log', 'value'] }
const CONTROLS = { __proto__: null, number: ['slider', 'stepper'], boolean: ['toggle'], string: ['textField'], object: [] }
const NAMES = { __proto__: null, chart: 'line', field: 'textField', color: 'colour' }
/** The kinds that a new card gets, by the type of its attribute. */
const FIRST = { __proto__: null, number: 'sparkline', boolean: 'value', string: 'value', object: 'table' }
const SCALES = ['line', 'gauge', 'bar', 'slider', 'stepper']
const LEVELS = ['value', 'sparkline', 'line', 'gauge', 'bar']
const FORMATS = ['number', 'percent', 'bytes', 'duration']

const isPhone = matchMedia('(max-width: 720px)')
const keyOf = ({ node, path, isAutomatic }) => `${node} ${isAutomatic ? path : ''}`
const typeOf = (value) => (value === null || value === undefined ? 'string' : typeof value)
/** `Meter: power` for /house/meter.power. The name `value` says nothing more. */
const titleOf = (path) => {
  const { node, name } = placeAt(path)
  const owner = words(idsOf(node).at(-1) ?? '')
  return name === 'value' || !owner ? owner || words(name) : `${owner}: ${words(name).toLowerCase()}`
}
const button = (text, className, act) => {
  const made = make('button', className, text)
  made.type = 'button'
  made.addEventListener('click', act)
  return made
}

/** Words that only this module needs. */
const WORDS = { __proto__: null, en: () => import('./english-editing.js'), de: () => import('./german-editing.js') }
let editing

/** Begins to edit a board: see `Editor`. */
export async function begin(options) {
  editing = (await WORDS[language]()).default
  return new Editor(options)
}

class Editor {
  #board
  #client
  #root
  #onEnd
  /** What the layer says, and the position up to which this is known. */
  #document = null
  #base = null
  /** Documents of the layer before each change, and those that were taken back. */
  #before = []
  #after = []
  #first = null
  /** Changes happen one after the other. */
  #last = Promise.resolve()
  /** The key of the card whose settings are open: a card's, `section PATH`, or `add`. */
  #chosen = null
  /** The key of the card or section that gets the focus when it is shown anew. */
  #wanted = null
  /** The key of a new card, which is scrolled to when it is there. */
  #added = null
  #drag = null
  #tools = make('div', 'tools')
  #message = make('p')
  #undo
  #redo
  #settings = make('dialog', 'settings')
  #ending = new AbortController()
  #attributes = null

  /** @param options `board`, `client`, and `onEnd`, which is called when it has ended. */
  constructor({ board, client, onEnd }) {
    this.#board = board
    this.#client = client
    this.#root = board.answer.root
    this.#onEnd = onEnd
    const sign = (name, act) => {
      const made = button('', 'plain', act)
      made.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true">${SIGNS[name]}</svg>`
      made.title = editing[name]
      made.setAttribute('aria-label', editing[name])
      return made
    }
    this.#undo = sign('undo', () => this.#turn(-1))
    this.#redo = sign('redo', () => this.#turn(1))
    this.#message.setAttribute('role', 'status')
    this.#tools.setAttribute('role', 'toolbar')
    this.#tools.setAttribute('aria-label', says.edit)
    this.#tools.append(
      this.#undo, this.#redo, button(editing.addCard, '', () => this.#choose('add')), make('span', 'gap'), this.#message,
      button(editing.discard, 'plain', () => this.#discard()), button(editing.done, 'main', () => this.#end()))
    const { element } = board
    adopt(element, look)
    element.before(this.#tools)
    element.after(this.#settings)
    element.classList.add('editing')
    const options = { signal: this.#ending.signal }
    addEventListener('keydown', (event) => this.#press(event), options)
    addEventListener('pointerdown', () => (this.#focused = null), { ...options, capture: true })
    element.addEventListener('pointerdown', (event) => this.#grasp(event), options)
    addEventListener('pointermove', (event) => this.#pull(event), options)
    for (const name of ['pointerup', 'pointercancel']) addEventListener(name, (event) => this.#drop(event), options)
    if (matchMedia('(pointer: fine)').matches) this.#tell(editing.hint)
    // Changes wait for it.
    this.#queue(async () => {
      await this.#load()
      this.#first = structuredClone(this.#document)
    })
    this.placed()
    this.#tools.querySelector('.main').focus({ preventScroll: true })
  }

  close() {
    this.#ending.abort()
    this.#drag?.ghost?.remove()
    this.#tools.remove()
    this.#settings.remove()
    const { element } = this.#board
    element.classList.remove('editing')
    for (const each of element.querySelectorAll('.grip, .head')) each.remove()
    for (const each of element.querySelectorAll('.card > [inert]')) each.inert = false
    for (const each of element.querySelectorAll('.is-chosen')) each.classList.remove('is-chosen')
    this.#onEnd()
  }

  // MARK: The layer

  async #load() {
    const { layers, epoch, revision } = await this.#client.call('layers', { path: this.#root })
    const isThere = layers.some(({ name, at }) => name === LAYER && at === this.#root)
    // If somebody changes the layer between the two answers, the next change is refused.
    this.#base = { epoch, revision }
    this.#document = isThere ? (await this.#client.call('dump', { path: this.#root, format: 'scene', layer: LAYER })).document : { agd: 1, nodes: [] }
    this.#showTools()
    if (this.#chosen) this.#showSettings()
  }

  /**
   * Changes the document and applies it.
   * @param make changes a copy of the document; it is called again if somebody else has changed the layer.
   * @param text says what has happened.
   */
  #change(make, text = '') {
    return this.#queue(async () => {
      // Without a connection at the beginning.
      if (!this.#document) await this.#load()
      this.#first ??= structuredClone(this.#document)
      const next = structuredClone(this.#document)
      make(next)
      if (JSON.stringify(next) === JSON.stringify(this.#document)) return this.#board.refresh()
      const before = this.#document
      if (!(await this.#apply(next, make))) return
      this.#before = [...this.#before, before].slice(-MOST_STEPS)
      this.#after = []
      this.#showTools()
      this.#tell(text)
    })
  }

  #queue(act) {
    this.#last = this.#last.then(act).catch((error) => this.#fail(error))
    return this.#last
  }

  /** Takes back a change, or makes it again. */
  #turn(direction) {
    return this.#queue(async () => {
      const [from, to] = direction < 0 ? [this.#before, this.#after] : [this.#after, this.#before]
      if (from.length === 0) return
      const present = this.#document
      if (!(await this.#apply(from.at(-1)))) return
      from.pop()
      to.push(present)
      this.#showTools()
      this.#tell(direction < 0 ? editing.undone : editing.redone)
    })
  }

  /**
   * The result is true if the layer says the document now.
   * @param isAgain after a refusal although nobody has changed the layer: the daemon may have been started anew.
   */
  async #apply(document, make = null, isAgain = false) {
    try {
      const { revision } = await this.#client.apply(document, { at: this.#root, layer: LAYER, if: this.#base, animation: 'smooth', label: 'edit' })
      this.#document = document
      this.#base = { ...this.#base, revision }
      return true
    } catch (error) {
      this.#board.refresh()
      if (error.code !== 'conflict' || isAgain) throw error
      const known = JSON.stringify(this.#document)
      await this.#load()
      if (JSON.stringify(this.#document) === known) return this.#apply(document, make, true)
      this.#clash(make)
      return false
    }
  }

  /** Somebody else has changed the layer: what they made is shown, and the person decides about the own change. */
  #clash(make) {
    this.#before = []
    this.#after = []
    this.#first = structuredClone(this.#document)
    this.#showTools()
    const dialog = window.document.createElement('dialog')
    dialog.className = 'clash'
    const heading = window.document.createElement('b')
    heading.textContent = editing.clash
    const text = window.document.createElement('p')
    text.textContent = make ? editing.clashText : editing.clashUndo
    const choices = window.document.createElement('div')
    const end = (act) => () => {
      dialog.remove()
      act?.()
    }
    choices.append(button(editing.takeTheirs, 'theirs', end()))
    if (make) choices.append(button(editing.mineToo, 'mine', end(() => this.#change(make))))
    dialog.append(heading, text, choices)
    dialog.addEventListener('close', () => dialog.remove())
    this.#settings.after(dialog)
    dialog.showModal()
  }

  #discard() {
    return this.#queue(async () => {
      if (this.#first && JSON.stringify(this.#first) !== JSON.stringify(this.#document) && !(await this.#apply(this.#first))) return
      await this.#leave()
    })
  }

  #end() {
    return this.#queue(() => this.#leave())
  }

  /** A layer that says nothing is withdrawn. */
  async #leave() {
    if (this.#document && isEmpty(this.#document) && this.#before.length + this.#after.length > 0) {
      await this.#client.call('remove', { path: this.#root, layer: LAYER, label: 'edit' }).catch(() => {})
    }
    this.close()
  }

  #fail(error) {
    this.#board.refresh()
    this.#tell(error.reason ?? error.message, true)
  }

  #tell(text, isWrong = false) {
    this.#message.textContent = text
    this.#message.classList.toggle('is-wrong', isWrong)
  }

  #showTools() {
    this.#undo.disabled = this.#before.length === 0
    this.#redo.disabled = this.#after.length === 0
  }

  // MARK: What is on the board

  /** All cards of the answer, each with its row. */
  get #all() {
    return this.#board.answer.rows.flatMap((row) => row.cards.map((card) => ({ card, row })))
  }

  #cardOf(key) {
    return this.#all.find(({ card }) => keyOf(card) === key) ?? null
  }

  /** The rows that can change places: not the loose cards, the featured ones, and boards that contain others. */
  get #sections() {
    const { rows, root } = this.#board.answer
    const named = rows.filter(({ key, isFeatured }) => key !== '' && !isFeatured)
    return root === '/' ? [] : named.filter(({ key }) => !named.some((other) => other.key.startsWith(`${key}/`)))
  }

  /** Cards were placed: they get their handles, and the focus goes on. */
  placed() {
    const { element, cards, answer } = this.#board
    const root = element.getRootNode()
    const focused = root.activeElement?.dataset.edits ?? null
    for (const row of answer.rows) {
      for (const card of row.cards) {
        const shown = cards.get(card.id)?.element
        if (!shown) continue
        for (const each of shown.children) if (!each.classList.contains('grip')) each.inert = true
        let grip = shown.querySelector(':scope > .grip')
        if (card.isEditable && !grip) {
          grip = button('', 'grip', () => this.#choose(keyOf(card)))
          grip.innerHTML = `<i>${DOTS}</i>`
          shown.append(grip)
        }
        if (!grip) continue
        grip.dataset.edits = keyOf(card)
        grip.setAttribute('aria-label', editing.editCard(card.title))
        shown.classList.toggle('is-chosen', keyOf(card) === this.#chosen)
        shown.classList.toggle('is-lifted', Boolean(this.#drag?.ghost) && this.#drag.key === keyOf(card))
      }
    }
    const sections = new Map(answer.rows.map((row) => [row.key, row]))
    for (const section of element.querySelectorAll(':scope > section')) {
      const row = sections.get(section.dataset.key)
      let head = section.querySelector(':scope > .head')
      if (!row?.isEditable || !row.title) {
        head?.remove()
        continue
      }
      if (!head) {
        head = button('', 'head', () => this.#choose(`section ${row.key}`))
        head.innerHTML = DOTS
        section.querySelector('h2').after(head)
      }
      head.dataset.edits = `section ${row.key}`
      head.setAttribute('aria-label', editing.editSection(row.title))
    }
    // A card that moves in the document loses the focus.
    const wanted = this.#wanted ?? (window.document.activeElement === window.document.body ? this.#focused : null)
    if (wanted && !this.#settings.open) this.#focus(wanted)
    else if (focused) this.#focused = focused
    this.#wanted = null
    if (this.#added) this.#grip(this.#added)?.scrollIntoView({ block: 'nearest' })
    this.#added = null
    if (this.#chosen) this.#showSettings()
  }

  /** The key of what had the focus last on the board. */
  #focused = null

  #grip(key) {
    return [...this.#board.element.querySelectorAll('.grip, .head')].find((each) => each.dataset.edits === key)
  }

  #focus(key) {
    const grip = this.#grip(key)
    grip?.focus()
    if (grip) this.#focused = key
  }

  // MARK: Keys

  #press(event) {
    const target = event.composedPath()[0]
    const isField = ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName)
    if ((event.ctrlKey || event.metaKey) && !isField && ['z', 'y', 'Z'].includes(event.key)) {
      event.preventDefault()
      return void this.#turn(event.key === 'y' || event.shiftKey ? 1 : -1)
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Escape') {
      if (this.#drag) return this.#release()
      if (this.#settings.open) {
        event.preventDefault()
        return this.#choose(null)
      }
    }
    const key = target.dataset?.edits
    if (!key) return
    const isSection = key.startsWith('section ')
    const found = isSection ? null : this.#cardOf(key)
    const isForward = this.#board.element.matches(':dir(rtl)') ? 'ArrowLeft' : 'ArrowRight'
    const step = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: isForward === 'ArrowLeft' ? 1 : -1, ArrowRight: isForward === 'ArrowRight' ? 1 : -1 }[event.key]
    if (step) {
      event.preventDefault()
      event.stopPropagation()
      if (event.shiftKey && found) return void this.#resize(found.card, event.key === 'ArrowUp' || event.key === 'ArrowDown' ? 'height' : 'span', step)
      return void this.#step(key, step)
    }
    if ((event.key === 'Delete' || event.key === 'Backspace') && found) {
      event.preventDefault()
      this.#remove(found.card)
    }
  }

  /** Moves a card or a section by one place. A card at the end of its section moves into the next one. */
  #step(key, by) {
    const isSection = key.startsWith('section ')
    const row = isSection ? null : this.#cardOf(key)?.row
    const all = isSection ? this.#sections : row?.cards ?? []
    const from = all.findIndex((each) => (isSection ? `section ${each.key}` : keyOf(each)) === key)
    const to = from + by
    if (from < 0) return
    if (to < 0 || to >= all.length) {
      const rows = this.#ordinary
      const into = row && rows[rows.indexOf(row) + by]
      if (into && rows.includes(row)) this.#moveInto(all[from], row, into, by > 0 ? 0 : into.cards.length)
      return
    }
    const title = all[from].title
    this.#wanted = this.#focused = key
    this.#change((document) => move(document, this.#root, all, from, to), editing.moved(title, to + 1, all.length))
  }

  /** The rows between which cards can be moved. */
  get #ordinary() {
    return this.#board.answer.rows.filter(({ isFeatured }) => !isFeatured)
  }

  /** @param from and `into` are rows as the daemon has them. */
  #moveInto(card, from, into, to) {
    const { rows } = this.#board.answer
    this.#wanted = this.#focused = keyOf(card)
    this.#change((document) => moveInto(document, this.#root, rows, card, from, into, to), editing.movedInto(card.title, into.heading, to + 1, into.cards.length + 1))
  }

  #resize(card, member, by) {
    const present = member === 'span' ? card.span : card.height ?? 1
    const next = Math.min(member === 'span' ? MOST_SPAN : MOST_HEIGHT, Math.max(1, present + by))
    this.#wanted = this.#focused = keyOf(card)
    this.#change((document) => say(document, this.#root, card, member, next), editing[member === 'span' ? 'isWide' : 'isHigh'](card.title, next))
  }

  #remove(card) {
    const { row } = this.#cardOf(keyOf(card)) ?? {}
    const at = row?.cards.findIndex((each) => keyOf(each) === keyOf(card)) ?? -1
    const next = row?.cards[at + 1] ?? row?.cards[at - 1]
    if (this.#chosen) this.#choose(null)
    this.#wanted = this.#focused = next ? keyOf(next) : null
    this.#change((document) => hide(document, this.#root, card), editing.removed(card.title))
  }

  // MARK: Dragging

  #grasp(event) {
    const grip = event.target.closest?.('.grip')
    // A finger on a card scrolls. It drags at the dots.
    if (!grip || event.button !== 0 || (event.pointerType !== 'mouse' && !event.target.closest('i'))) return
    if (!this.#cardOf(grip.dataset.edits)) return
    // `rows` are those of the daemon, `row` the key of the one that has the card, and `shown` those that the board shows instead.
    this.#drag = { key: grip.dataset.edits, pointer: event.pointerId, x: event.clientX, y: event.clientY, row: null, rows: null, shown: null, element: grip.parentElement, ghost: null }
  }

  #pull(event) {
    const drag = this.#drag
    if (!drag || event.pointerId !== drag.pointer) return
    const { clientX: x, clientY: y } = event
    if (!drag.ghost) {
      if (Math.hypot(x - drag.x, y - drag.y) < SLOP) return
      const { left, top, width, height } = drag.element.getBoundingClientRect()
      drag.ghost = drag.element.cloneNode(true)
      drag.ghost.classList.add('ghost')
      Object.assign(drag.ghost.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px`, flex: 'none' })
      drag.ghost.setAttribute('aria-hidden', 'true')
      // Choices of the same name would lose theirs.
      for (const each of drag.ghost.querySelectorAll('[name]')) each.removeAttribute('name')
      const holder = make('div', `board editing ${this.#board.element.classList.contains('compact') ? 'compact' : ''}`)
      holder.style.cssText = 'display: contents'
      holder.append(drag.ghost)
      drag.holder = holder
      this.#board.element.after(holder)
      drag.element.classList.add('is-lifted')
    }
    event.preventDefault()
    drag.ghost.style.translate = `${x - drag.x}px ${y - drag.y}px`
    if (y < EDGE) scrollBy(0, -SCROLL)
    else if (y > innerHeight - EDGE) scrollBy(0, SCROLL)
    const { rows } = this.#board.answer
    const row = rows.find(({ cards }) => cards.some((each) => keyOf(each) === drag.key))
    if (!row) return this.#release()
    // The daemon has answered meanwhile.
    if (rows !== drag.shown) Object.assign(drag, { rows, row: row.key })
    const from = row.cards.findIndex((each) => keyOf(each) === drag.key)
    const card = row.cards[from]
    const into = this.#rowAt(x, y, row)
    const to = this.#placeAt(into.cards.filter((each) => each !== card), x, y)
    if (into === row && to === from) return
    drag.shown = rows.map((each) => {
      const cards = each.cards.filter((other) => other !== card)
      if (each === into) cards.splice(to, 0, card)
      return { ...each, cards }
    })
    this.#board.preview(drag.shown)
  }

  /** The section at a point. A card of the first row stays there, and others do not come in. */
  #rowAt(x, y, row) {
    if (row.isFeatured) return row
    const { left, top } = this.#board.element.getBoundingClientRect()
    const sections = new Map([...this.#board.element.querySelectorAll(':scope > section')].map((each) => [each.dataset.key, each]))
    return this.#ordinary.find(({ key }) => {
      const section = sections.get(key)
      const [start, above] = [left + (section?.offsetLeft ?? 0), top + (section?.offsetTop ?? 0)]
      return section && x >= start && x <= start + section.offsetWidth && y >= above && y <= above + section.offsetHeight
    }) ?? row
  }

  /** The number of cards that stand before a point, in the order of reading. */
  #placeAt(cards, x, y) {
    const isReversed = this.#board.element.matches(':dir(rtl)')
    const { left, top } = this.#board.element.getBoundingClientRect()
    return cards.filter((card) => {
      const element = this.#board.cards.get(card.id)?.element
      if (!element) return false
      const [start, above] = [left + element.offsetLeft, top + element.offsetTop]
      if (y > above + element.offsetHeight) return true
      if (y < above) return false
      // A card that has its row for itself stands above or below the point.
      if (element.offsetWidth > ALONE * element.parentElement.offsetWidth) return y > above + element.offsetHeight / 2
      const middle = start + element.offsetWidth / 2
      return isReversed ? x < middle : x > middle
    }).length
  }

  #drop(event) {
    const drag = this.#drag
    if (!drag || event.pointerId !== drag.pointer) return
    if (!drag.ghost) return void (this.#drag = null)
    // The board may show what the daemon has answered since the last move.
    if (event.type === 'pointerup') this.#pull(event)
    if (!this.#drag) return
    // The click that follows is none.
    addEventListener('click', (click) => click.stopPropagation(), { capture: true, once: true, signal: AbortSignal.timeout(50) })
    const shown = this.#board.answer.rows.find(({ cards }) => cards.some((each) => keyOf(each) === drag.key))
    const to = shown?.cards.findIndex((each) => keyOf(each) === drag.key) ?? -1
    // As the daemon has them.
    const row = drag.rows.find(({ key }) => key === drag.row)
    const into = drag.rows.find(({ key }) => key === shown?.key)
    const from = row.cards.findIndex((each) => keyOf(each) === drag.key)
    const isMoved = event.type === 'pointerup' && Boolean(into) && (into !== row || to !== from)
    this.#release(isMoved)
    if (!isMoved) return
    this.#wanted = this.#focused = drag.key
    const card = row.cards[from]
    const text = into === row ? editing.moved(card.title, to + 1, row.cards.length) : editing.movedInto(card.title, into.heading, to + 1, into.cards.length + 1)
    this.#change((document) => {
      if (into === row) move(document, this.#root, row.cards, from, to)
      else moveInto(document, this.#root, drag.rows, card, row, into, to)
    }, text)
  }

  /** Ends a drag. Without a change the board is as before. */
  #release(isChange = false) {
    this.#drag?.holder?.remove()
    this.#drag = null
    for (const each of this.#board.element.querySelectorAll('.is-lifted')) each.classList.remove('is-lifted')
    if (!isChange) this.#board.refresh()
  }

  // MARK: Settings

  #choose(key) {
    const before = this.#chosen
    this.#chosen = key
    for (const each of this.#board.element.querySelectorAll('.is-chosen')) each.classList.remove('is-chosen')
    if (!key) {
      this.#settings.close()
      if (before) before === 'add' ? this.#tools.querySelector('button:not(.plain)').focus() : this.#focus(before)
      return
    }
    this.#settings.replaceChildren()
    this.#showSettings()
    if (!this.#settings.open) this.#settings.show()
    // On a phone, the settings cover the lower part of the page.
    if (isPhone.matches) this.#board.element.querySelector('.is-chosen')?.scrollIntoView({ block: 'start' })
    // On a phone, a field would open the keyboard.
    this.#settings.querySelector(isPhone.matches ? 'button' : 'input, select')?.focus({ preventScroll: true })
  }

  /** Shows what can be said of the chosen card, without taking the field away in which somebody writes. */
  #showSettings() {
    const key = this.#chosen
    if (key === 'add') {
      if (!this.#settings.firstChild) this.#showAdding()
      return
    }
    const isSection = key.startsWith('section ')
    const row = isSection ? this.#board.answer.rows.find((each) => `section ${each.key}` === key) : this.#cardOf(key)?.row
    const card = isSection ? null : this.#cardOf(key)?.card
    if (!row || (!isSection && !card)) return this.#choose(null)
    if (card) this.#board.cards.get(card.id)?.element.classList.add('is-chosen')
    const root = this.#settings.getRootNode()
    const active = this.#settings.contains(root.activeElement) ? root.activeElement : null
    const scroll = this.#settings.scrollTop
    this.#settings.setAttribute('aria-label', isSection ? editing.editSection(row.title) : editing.editCard(card.title))
    this.#settings.replaceChildren(...(isSection ? this.#sectionForm(row) : this.#cardForm(card, row)))
    this.#settings.scrollTop = scroll
    if (!active) return
    const same = [...this.#settings.querySelectorAll('[data-member]')].find((each) => each.dataset.member === active.dataset.member)
    if (same?.localName === 'input' && active.localName === 'input' && active.type !== 'checkbox' && active.isDirty) same.value = active.value
    same?.focus({ preventScroll: true })
  }

  #header(title) {
    const head = make('header')
    const close = button('✕', 'plain', () => this.#choose(null))
    close.setAttribute('aria-label', says.close)
    close.dataset.member = 'close'
    head.append(make('h2', '', title), close)
    return head
  }

  /** A field for a member of a panel. It says the member when its value is committed. */
  #field(subject, member, label, value, { type = 'text', options = null, className = '', min, max } = {}) {
    const holder = make('label', className, type === 'checkbox' ? undefined : label)
    const input = make(options ? 'select' : 'input')
    if (options) {
      for (const [name, text] of options) {
        const option = make('option', '', text)
        option.value = name
        input.append(option)
      }
    } else {
      input.type = type
      if (type === 'number') Object.assign(input, { step: 'any', ...(min === undefined ? {} : { min, max }) })
    }
    input.dataset.member = member
    if (type === 'checkbox') input.checked = value === true || value === 'full'
    else input.value = value ?? ''
    input.addEventListener('input', () => (input.isDirty = true))
    input.addEventListener('change', () => {
      input.isDirty = false
      if (!input.checkValidity()) return input.reportValidity()
      const text = input.value.trim()
      const given = type === 'checkbox' ? (member === 'width' ? (input.checked ? 'full' : null) : input.checked) : text === '' ? null : type === 'number' || (options && /^\d+$/.test(text)) ? Number(text) : text
      this.#change((document) => say(document, this.#root, subject, member, given), '')
    })
    if (type === 'checkbox') holder.append(input, label)
    else holder.append(input)
    return holder
  }

  #cardForm(card, row) {
    const { panel } = card
    const form = make('form')
    form.addEventListener('submit', (event) => event.preventDefault())
    const field = (...given) => form.append(this.#field(card, ...given))
    const shown = this.#board.cards.get(card.id)
    const isText = card.kind === 'markdown' && typeof panel.text === 'string'
    const kind = NAMES[card.kind] ?? card.kind
    field('title', editing.title, card.title, { className: 'wide' })
    if (!isText && kind !== 'link' && kind !== 'button') {
      const type = typeOf(shown?.value)
      const kinds = card.rows ? ['table', 'list'] : card.series ? ['line', 'timeline'] : [...KINDS[type] ?? [], ...(this.#mayWrite(card) ? CONTROLS[type] ?? [] : [])]
      if (!kinds.includes(kind)) kinds.unshift(kind)
      field('kind', editing.kind, kind, { className: 'wide', options: kinds.map((each) => [each, editing.kinds[each] ?? words(each)]) })
      if (type === 'number' && !card.rows) {
        const hasUnit = !panel.conversion
        if (hasUnit) field('unit', editing.unit, panel.unit)
        field('format', editing.format, panel.format ?? '', { options: [['', editing.formats.none], ...FORMATS.map((each) => [each, editing.formats[each]])], className: hasUnit ? '' : 'wide' })
        if (SCALES.includes(kind)) {
          field('min', editing.min, panel.min, { type: 'number' })
          field('max', editing.max, panel.max, { type: 'number' })
        }
        if (LEVELS.includes(kind)) {
          field('warn', editing.warn, panel.warn, { type: 'number' })
          field('critical', editing.critical, panel.critical, { type: 'number' })
        }
        field('decimals', editing.decimals, panel.decimals, { type: 'number', min: 0, max: 6 })
      }
      if (type === 'boolean') {
        field('on', editing.onWord, panel.on)
        field('off', editing.offWord, panel.off)
      }
    }
    field('span', editing.width, card.span, { options: [1, 2, 3, 4].map((each) => [String(each), editing.columnCount(each)]) })
    field('height', editing.height, card.height ?? '', { options: [['', editing.automatic], ...[1, 2, 3, 4, 5, 6].map((each) => [String(each), editing.rowCount(each)])] })
    field('width', editing.full, panel.width, { type: 'checkbox', className: 'check' })
    if (!card.isAutomatic) field('featured', editing.featured, panel.featured, { type: 'checkbox', className: 'check' })
    const rows = this.#ordinary
    if (rows.length > 1 && rows.includes(row)) {
      const holder = make('label', 'wide', editing.section)
      const select = make('select')
      select.dataset.member = 'section'
      for (const each of rows) {
        const option = make('option', '', each.heading)
        option.value = each.key
        select.append(option)
      }
      select.value = row.key
      select.addEventListener('change', () => {
        const into = rows.find(({ key }) => key === select.value)
        this.#moveInto(card, row, into, into.cards.length)
      })
      holder.append(select)
      form.append(holder)
    }
    form.append(this.#moves(keyOf(card), row.cards.findIndex((each) => keyOf(each) === keyOf(card)), row.cards.length))
    const last = make('div', 'row')
    const added = this.#document && isAdded(this.#document, this.#root, card)
    if (!added && this.#document && Object.keys(said(this.#document, this.#root, card)).length > 0) {
      last.append(button(editing.reset, '', () => this.#change((document) => forget(document, this.#root, card), editing.wasReset(card.title))))
    }
    last.append(button(editing.remove, 'remove', () => this.#remove(card)))
    form.append(last)
    const place = make('p', 'none', card.path)
    return [this.#header(card.title), form, place]
  }

  #moves(key, at, count) {
    const moves = make('div', 'row')
    for (const [by, text] of [[-1, editing.earlier], [1, editing.later]]) {
      const made = button(text, '', () => this.#step(key, by))
      made.dataset.member = `move ${by}`
      made.disabled = at + by < 0 || at + by >= count
      moves.append(made)
    }
    return moves
  }

  #sectionForm(row) {
    const form = make('form')
    form.addEventListener('submit', (event) => event.preventDefault())
    const subject = { node: row.key }
    form.append(
      this.#field(subject, 'title', editing.title, row.title, { className: 'wide' }),
      this.#field(subject, 'columns', editing.columns, row.columns ?? '', { options: [['', editing.automatic], ...[1, 2, 3, 4, 5, 6].map((each) => [String(each), String(each)])], className: 'wide' }),
      this.#field(subject, 'width', editing.full, row.isFull ? 'full' : null, { type: 'checkbox', className: 'check' }))
    const key = `section ${row.key}`
    const sections = this.#sections
    const at = sections.findIndex((each) => each.key === row.key)
    if (at >= 0) form.append(this.#moves(key, at, sections.length))
    const last = make('div', 'row')
    last.append(button(editing.remove, 'remove', () => {
      this.#choose(null)
      this.#change((document) => hide(document, this.#root, subject), editing.removed(row.title))
    }))
    form.append(last)
    return [this.#header(row.title), form]
  }

  // MARK: Adding

  /** All attributes that the page may read, by path: `{ path, kind, type, value }`; and what each node is. */
  async #read() {
    if (this.#attributes) return this.#attributes
    const attributes = new Map()
    const nodes = new Map()
    const visit = (node) => {
      nodes.set(node.path, node)
      // Those of the environment and of the board itself are no values of anybody.
      const own = node.path === '/' ? Object.keys(node.attributes ?? {}) : node.component === 'Cards' ? ['title', 'shown', 'cards'] : []
      for (const [name, each] of Object.entries(node.attributes ?? {})) {
        const path = each.path ?? `${node.path === '/' ? '/' : node.path}.${name}`
        if (!own.includes(name) && !['action', 'clock', 'inherit'].includes(each.kind)) attributes.set(path, { ...each, path })
      }
      node.children?.forEach(visit)
    }
    const describe = (path) => this.#client.call('describe', { path })
    // The page may know only the board, or the tree may be too large.
    visit(await describe('/').catch(() => describe(this.#root)))
    return (this.#attributes = { attributes, nodes })
  }

  /** True if the attribute of a card can be written, as far as is known. */
  #mayWrite(card) {
    const known = this.#attributes?.attributes.get(placeAt(card.path).attribute)
    if (!this.#attributes) this.#read().then(() => this.#chosen && this.#showSettings(), () => {})
    return known ? ['state', 'binding'].includes(known.kind) : false
  }

  async #showAdding() {
    this.#settings.setAttribute('aria-label', editing.addCard)
    const search = make('input')
    Object.assign(search, { type: 'search', placeholder: editing.searchAttributes })
    search.setAttribute('aria-label', editing.searchAttributes)
    const list = make('ul')
    const target = make('label', 'wide', editing.section)
    const select = make('select')
    target.append(select)
    const form = make('form')
    form.addEventListener('submit', (event) => event.preventDefault())
    const field = make('label', 'wide')
    field.append(search)
    form.append(target, field)
    this.#settings.replaceChildren(this.#header(editing.addCard), form, list)
    let found
    try {
      found = await this.#read()
    } catch (error) {
      return this.#fail(error)
    }
    const { attributes, nodes } = found
    // A component may show its children elsewhere, or not at all.
    const takes = (path) => ['Cards', undefined].includes(nodes.get(path)?.component)
    const { rows, root, title } = this.#board.answer
    const own = root === '/' ? [] : [[root, title]]
    const sections = [...own, ...rows.filter(({ key, isEditable }) => isEditable && takes(key)).map(({ key, heading }) => [key, heading])]
    for (const [path, title] of sections) {
      const option = make('option', '', title)
      option.value = path
      select.append(option)
    }
    const show = () => {
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean)
      const gone = wanted.length === 0 && this.#document ? hidden(this.#document, this.#root) : []
      const fitting = [...attributes.values()].filter(({ path }) => wanted.every((each) => path.toLowerCase().includes(each)))
      const entry = (title, text, act) => {
        const item = make('li')
        const made = button('', '', act)
        made.append(make('b', '', title), make('span', '', text))
        item.append(made)
        return item
      }
      list.replaceChildren(
        ...gone.map((card) => entry(card.title, `${editing.bringBack} · ${card.path}`, () => {
          this.#change((document) => say(document, this.#root, card, 'hidden', undefined), editing.broughtBack(card.title)).then(show)
        })),
        ...fitting.slice(0, MOST_FOUND).map((each) => entry(titleOf(each.path), each.path, () => this.#add(each, select.value))))
      if (fitting.length > MOST_FOUND) list.append(make('li', 'none', editing.moreFound(fitting.length - MOST_FOUND)))
      if (fitting.length === 0) list.append(make('li', 'none', editing.noneFound))
    }
    search.addEventListener('input', show)
    show()
    if (!isPhone.matches) search.focus({ preventScroll: true })
  }

  async #add({ path, kind, value }, section) {
    const type = typeOf(value)
    const isWritable = ['state', 'binding'].includes(kind)
    const known = this.#all.find(({ card }) => card.path === path && !card.panel.conversion)?.card
    const panel = {
      title: known?.title ?? titleOf(path),
      kind: isWritable && type === 'boolean' ? 'toggle' : FIRST[type],
      ...Object.fromEntries(['unit', 'format', 'decimals', 'min', 'max', 'on', 'off'].map((each) => [each, known?.panel[each]]).filter(([, each]) => each !== undefined)),
    }
    // The automatic cards of the container stay.
    if (this.#all.some(({ card }) => card.node === section)) panel.extra = true
    const { nodes } = await this.#read()
    const taken = (document) => [...(nodes.get(section)?.children ?? []).map(({ id }) => id), ...idsIn(document, this.#root, section)]
    this.#change((document) => {
      this.#added = `${add(document, this.#root, { section, attribute: { path, isWritable }, panel, taken: taken(document) })} `
    }, editing.added(panel.title))
  }
}
