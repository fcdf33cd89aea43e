/** The sheet of a card: its past in large, figures about it, why it is so, what it depends on, and its control. */

import { AttributeFailed, Update } from './gateway.js'
import { Card, make } from './cards.js'
import { duration, member, placeAt, plain, words } from './format.js'
import { says } from './language.js'
import { between, rowsOfPast } from './plot.js'
import { adopt, sheet } from './style.js'
import { tableOf } from './tables.js'
import { facts, isInternal, reasonsOf } from './why.js'

const look = sheet(`
.sheet {
  margin: auto; padding: 0; border: 0; width: min(1040px, calc(100% - 32px)); max-height: min(860px, calc(100% - 32px)); overflow: auto; overscroll-behavior: contain;
  border-radius: 16px; background: var(--page); color: var(--ink); font: 15px/1.4 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; scrollbar-width: thin;
}
.sheet::backdrop { background: rgb(0 0 0 / 40%); }
.sheet header { position: sticky; inset-block-start: 0; z-index: 2; background: var(--page); display: flex; align-items: center; gap: 8px; padding: 12px 12px 8px 24px; }
.sheet header > div { min-width: 0; flex: 1; }
.sheet h2 { position: static; background: none; padding: 0; font-size: 18px; line-height: 24px; overflow-wrap: anywhere; }
.sheet .path { color: var(--muted); font: 13px/18px ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.sheet .round { border: 0; width: 44px; height: 44px; border-radius: 50%; background: none; font-size: 18px; cursor: pointer; flex: none; }
.sheet .round:hover { background: var(--track); }
.sheet .parts { display: grid; grid-template-columns: minmax(0, 1.7fr) minmax(0, 1fr); gap: 12px; padding: 4px 24px 24px; align-items: start; }
.sheet .parts > div { display: grid; gap: 12px; min-width: 0; }
.sheet .block { background: var(--surface); border-radius: 12px; padding: 12px 16px; min-width: 0; }
.sheet .block > h3 { font-size: 13px; font-weight: 600; margin-block-end: 6px; }
.sheet .kind-chart { min-height: 320px; }
.sheet .card { content-visibility: visible; box-shadow: none; }
.sheet .segments { margin: 0; background: var(--track); }
.sheet dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 4px 16px; font-size: 13px; }
.sheet dt { color: var(--muted); }
.sheet dd { margin: 0; overflow-wrap: anywhere; }
.sheet .block a { color: inherit; }
.sheet .block > a { display: inline-block; font-size: 13px; margin-block-start: 8px; }
.sheet .walk { list-style: none; padding: 0; display: grid; gap: 4px; }
.sheet .walk button {
  width: 100%; min-height: 44px; border: 0; border-radius: 8px; background: var(--page); padding: 4px 12px; text-align: start; cursor: pointer;
  font-size: 13px; line-height: 18px; overflow-wrap: anywhere;
}
.sheet .walk b { display: block; font-weight: 500; }
.sheet .walk span, .sheet .none { color: var(--muted); font-size: 13px; }
.sheet .command { display: flex; align-items: center; gap: 8px; }
.sheet .command code { flex: 1; min-width: 0; font: 13px/18px ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.sheet .command button { min-height: 44px; min-width: 72px; margin-inline-end: -12px; border: 0; border-radius: 8px; background: none; color: var(--accent); font-size: 13px; font-weight: 500; cursor: pointer; }
.sheet .command button:hover { background: var(--track); }
.sheet summary { font-size: 13px; font-weight: 600; cursor: pointer; min-height: 44px; line-height: 44px; margin-block: -12px; }
.sheet details table { margin-block-start: 12px; }
@media (max-width: 720px) {
  .sheet { width: 100%; max-width: none; max-height: calc(100% - 24px); margin: auto 0 0; border-radius: 16px 16px 0 0; }
  .sheet header { padding-inline: 16px 8px; }
  .sheet .parts { grid-template-columns: minmax(0, 1fr); padding: 4px 16px 24px; }
}
`)

const EASING = 'cubic-bezier(0.2, 0, 0, 1)'
const [OPENING, CLOSING, FADING] = [200, 160, 100]
/** The controls of states without one on their card, by type. */
const WRITTEN_BY = { __proto__: null, bool: 'toggle', color: 'color', string: 'field', int: 'field', uint: 'field', double: 'field', angle: 'field' }
/** Seconds that a chart may show. The page keeps ten minutes itself. */
const SPANS = [60, 300, 600, 3600, 21_600, 86_400, 604_800, 2_678_400]
const SEEN = 600
/** States have no record, but the page keeps them for long. */
const STATE_SPANS = [300, 3600, 21_600]
const MOST_NEIGHBOURS = 8
const TABLE_ROWS = 24
const CONTROLS = ['toggle', 'slider', 'stepper', 'field', 'picker', 'button', 'color', 'light', 'thermostat']
const isPhone = matchMedia('(max-width: 720px)')
const isReduced = matchMedia('(prefers-reduced-motion: reduce)')

export class Sheet {
  #board
  #client
  #inspector
  #dialog
  /** The card whose title was operated, and what had the focus then. */
  #origin = null
  #focused = null
  /** The attributes that were visited, each `{ path, card }`; `card` is that of the board, if there is one. */
  #trail = []
  /** What is shown: ends with the next attribute. */
  #shown = null

  constructor({ board, client, inspector }) {
    this.#board = board
    this.#client = client
    this.#inspector = inspector
    const dialog = (this.#dialog = make('dialog', 'sheet'))
    dialog.setAttribute('aria-labelledby', 'sheet-title')
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault()
      this.close()
    })
    dialog.addEventListener('close', () => this.#end())
    dialog.addEventListener('click', ({ target, clientX, clientY }) => {
      const { left, right, top, bottom } = dialog.getBoundingClientRect()
      if (target === dialog && (clientX < left || clientX > right || clientY < top || clientY > bottom)) this.close()
    })
  }

  open(card) {
    this.#origin = card
    const root = this.#board.element.getRootNode()
    this.#focused = root.activeElement
    adopt(this.#board.element, look)
    // Beside the board, which removes what is none of its parts when its structure changes.
    this.#board.element.after(this.#dialog)
    this.#dialog.style.colorScheme = this.#board.element.style.colorScheme
    this.#trail = []
    this.#show({ path: card.path, card })
    this.#dialog.showModal()
    this.#move(true)
  }

  /** @param options with `isAtOnce` without a motion. */
  async close({ isAtOnce = false } = {}) {
    if (!this.#dialog.open) return
    // The second time, nobody waits for the motion.
    const isSecond = this.#dialog.inert
    this.#dialog.inert = true
    if (!isAtOnce && !isSecond) await this.#move(false)
    this.#dialog.close()
  }

  #end() {
    this.#dialog.inert = false
    this.#leave()
    this.#dialog.remove()
    // The card may have gone, or stand for another one now.
    const card = this.#origin.element.isConnected ? this.#origin : this.#board.cardAt(this.#origin.path)
    const back = this.#focused?.isConnected ? this.#focused : card?.element.querySelector('h3 > *')
    back?.focus({ preventScroll: true })
  }

  /** The sheet comes from its card and goes there again, on a phone from the lower edge. */
  async #move(isOpening) {
    const dialog = this.#dialog
    const to = dialog.getBoundingClientRect()
    const from = this.#origin.element.getBoundingClientRect()
    const isSeen = this.#origin.element.isConnected && from.width > 0 && from.bottom > 0 && from.top < innerHeight
    const away = isReduced.matches ? {}
      : isPhone.matches ? { transform: 'translateY(100%)' }
        : isSeen ? { transform: `translate(${from.left - to.left}px, ${from.top - to.top}px) scale(${from.width / to.width}, ${from.height / to.height})` }
          : { transform: 'translateY(16px)' }
    const frames = [{ ...away, opacity: isPhone.matches && !isReduced.matches ? 1 : 0 }, { ...(isReduced.matches ? {} : { transform: 'none' }), opacity: 1 }]
    const timing = { duration: isReduced.matches ? FADING : isOpening ? OPENING : CLOSING, easing: EASING, fill: 'both', direction: isOpening ? 'normal' : 'reverse' }
    dialog.style.transformOrigin = '0 0'
    const motions = [dialog.animate(frames, timing), dialog.animate([{ opacity: 0 }, { opacity: 1 }], { ...timing, pseudoElement: '::backdrop' })]
    try {
      await Promise.all(motions.map((each) => each.finished))
    } catch {
      // It was closed meanwhile.
    }
    // When the sheet is closed, it must not be seen again before it is gone.
    if (isOpening) for (const each of motions) each.cancel()
    else dialog.addEventListener('close', () => motions.forEach((each) => each.cancel()), { once: true })
  }

  #leave() {
    this.#shown?.end()
    this.#shown = null
  }

  /** Shows an attribute. `place` is `{ path, card }`. */
  async #show(place, isBack = false) {
    if (!isBack) this.#trail.push(place)
    this.#leave()
    const shown = (this.#shown = new Shown({
      place, board: this.#board, client: this.#client, inspector: this.#inspector, go: (path) => this.#show({ path, card: this.#board.cardAt(path) }),
    }))
    const hadFocus = this.#dialog.contains(this.#dialog.getRootNode().activeElement)
    const head = make('header')
    const titles = make('div')
    const title = make('h2', '', shown.title)
    title.id = 'sheet-title'
    title.tabIndex = -1
    titles.append(title, make('p', 'path', place.card?.series.length > 1 ? place.card.node : place.path))
    const round = (text, label, act) => {
      const button = make('button', 'round', text)
      button.type = 'button'
      button.setAttribute('aria-label', label)
      button.addEventListener('click', act)
      return button
    }
    if (this.#trail.length > 1) {
      head.append(round('←', says.back(this.#trail.at(-2).path), () => {
        this.#trail.pop()
        this.#show(this.#trail.at(-1), true)
      }))
    }
    head.append(titles, round('✕', says.close, () => this.close()))
    this.#dialog.replaceChildren(head, shown.element)
    this.#dialog.scrollTop = 0
    // Whoever walks on hears where.
    if (hadFocus) title.focus()
    await shown.begin()
  }
}

function block(title, ...children) {
  const made = make('section', 'block')
  if (title) made.append(make('h3', '', title))
  made.append(...children)
  return made
}

/** One attribute in the sheet. */
class Shown {
  #board
  #client
  #inspector
  #go
  #card
  #path
  /** Keeps the past of the value for as long as it is shown, whatever the chart shows of it. */
  #base
  /** The chart, or what else shows the value; and the control. */
  #main = null
  #control = null
  #readers = []
  #watch = null
  #isEnded = false
  #isExplaining = false
  #isBuilt = false
  #isAgain = false
  #attribute = null
  #span
  #spans = []
  #recorded = 0
  #parts = {
    value: make('div', 'holder'), ranges: make('div'), figures: block(says.figures), table: make('details', 'block'),
    control: make('div', 'holder'), why: block(says.why), inputs: block(says.inputs), readers: block(says.readers), commands: block(says.commands),
  }

  constructor({ place: { path, card }, board, client, inspector, go }) {
    this.#board = board
    this.#client = client
    this.#inspector = inspector
    this.#go = go
    this.#path = path
    this.#card = card ?? null
    this.title = card?.title ?? words(placeAt(path).name)
    const { value, ranges, figures, table, control, why, inputs, readers, commands } = this.#parts
    const [left, right] = [make('div'), make('div')]
    left.append(value, ranges, ...(isPhone.matches ? [control] : []), figures, table, commands)
    right.append(...(isPhone.matches ? [] : [control]), why, inputs, readers)
    for (const each of [ranges, figures, table, control, why, inputs, readers]) each.hidden = true
    this.element = make('div', 'parts')
    this.element.append(left, right)
    table.append(make('summary', '', says.asTable), make('table'))
    table.addEventListener('toggle', () => this.#tell())
  }

  async begin() {
    const client = this.#client
    const { node, name } = placeAt(this.#path)
    const card = this.#card
    const pasts = (card?.pasts ?? []).map((past) => past?.copy(SEEN))
    this.#base = new Card({ client, path: this.#path, kind: 'value', panel: { ...card?.panel, kind: 'value' }, title: this.title, type: card?.type, pasts, series: card?.series, levels: card?.levels })
    this.#base.locale = card?.locale
    if (card?.rows) {
      this.#parts.commands.hidden = true
      return this.#list(card)
    }
    this.#read(this.#base)
    const isOne = this.#base.series.length === 1
    // Its values come at once if the board has them.
    const own = { paths: this.#base.paths, show: () => this.#changed(), setLive() {}, tick: () => this.#tell() }
    const isKnown = this.#read(own)
    if (!isKnown) this.#follow()
    else this.#changed()
    if (isOne) this.#explain()
    else this.#neighbours(this.#parts.inputs, says.values, this.#base.paths)
    const [described, recorded] = await Promise.allSettled([client.describe(node, { depth: 0 }), client.history(this.#path)])
    if (this.#isEnded) return
    this.#attribute = member(described.value?.attributes, name) ?? null
    this.#recorded = recorded.value?.span ?? 0
    if (this.#isBuilt) this.#complete()
  }

  /** A table of subviews, whose rows come and go with those of the card. */
  #list(card) {
    this.#main = this.#made({ kind: card.kind, rows: card.rows })
    this.#place(this.#main, this.#parts.value)
    this.#read({ paths: [], show() {}, setLive() {}, tick: () => {
      if (!this.#main.setRows(card.rows)) return
      this.#board.dismiss(this.#main)
      this.#board.admit(this.#main)
    } })
  }

  end() {
    this.#isEnded = true
    for (const each of [...this.#readers, this.#main, this.#control]) {
      if (!each) continue
      this.#board.dismiss(each)
      each.end?.()
    }
    this.#watch?.close()
  }

  /** Gives a card, or what else reads values, those of the attribute. */
  #read(reader) {
    this.#readers.push(reader)
    return this.#board.admit(reader)
  }

  #unread(card) {
    this.#readers = this.#readers.filter((each) => each !== card)
    this.#board.dismiss(card)
    card.end()
  }

  /** Attributes outside of the board have a watch of their own. */
  async #follow() {
    const watch = (this.#watch = this.#client.watch(this.#path, { css: true, reports: true, onLive: (isLive) => {
      for (const each of this.#readers) each.setLive(isLive)
    } }))
    try {
      for await (const event of watch) {
        if (!(event instanceof Update)) continue
        const change = event.details.get(this.#path)
        if (!change) continue
        this.#last = change
        for (const each of [...this.#readers]) each.show(this.#path, change)
      }
    } catch (error) {
      if (this.#isEnded) return
      this.#base.fail(error instanceof AttributeFailed ? error : { message: error.reason ?? error.message })
      this.#parts.value.replaceChildren(this.#base.element)
    }
  }

  #last = null

  /** A card of the same attribute in another form. */
  #made(options) {
    const client = this.#client
    const card = this.#card
    const made = new Card({ client, path: this.#path, title: this.title, type: this.#attribute?.type ?? this.#base.type, series: card?.series, levels: card?.levels, parts: Object.fromEntries(card?.parts ?? []), sort: card?.sort, address: card?.address, ...options, panel: { ...(['toggle', 'light'].includes(card?.kind) ? { on: says.on, off: says.off } : {}), ...card?.panel, ...options.panel } })
    made.isLarge = true
    made.locale = card?.locale
    return made
  }

  #changed() {
    if (!this.#isBuilt && this.#base.value !== undefined) this.#build()
    if (!this.#isBuilt && this.#base.failure) this.#parts.value.replaceChildren(this.#base.element)
    this.#isAgain = this.#isExplaining
    this.#explain()
    this.#tell()
    if (this.#isBuilt) this.#command()
  }

  /** The kind in which the sheet shows the value. */
  get #kind() {
    const { value, kind } = { value: this.#base.value, kind: this.#card?.kind }
    if (this.#base.series.length > 1) return kind
    if (kind === 'timeline') return kind
    if (typeof value === 'number' || (value === null && this.#base.isNumber)) return 'chart'
    if (['text', 'markdown', 'image', 'log', 'table', 'list'].includes(kind)) return kind
    if (typeof value === 'object' && value !== null) return value.parameters ? null : 'table'
    if (kind === 'color' || this.#base.type.startsWith('color')) return null
    return value === null && this.#base.type === 'dyn' ? 'value' : 'timeline'
  }

  #build() {
    this.#isBuilt = true
    const kind = this.#kind
    if (kind === 'chart' || kind === 'timeline') {
      this.#span = Number(this.#card?.panel.window ?? (kind === 'timeline' ? 3600 : 300))
      this.#chart(kind)
      for (const part of [this.#parts.figures, this.#parts.table]) part.hidden = false
    } else if (kind) {
      this.#main = this.#made({ kind, panel: { kind } })
      this.#place(this.#main, this.#parts.value)
    }
    this.#complete()
  }

  /** What also depends on the description of the attribute, which comes later. */
  #complete() {
    if (this.#span) this.#offer()
    if (!this.#control) this.#makeControl()
    this.#command()
  }

  /** The spans to choose from: as far as something is known. */
  #offer() {
    const isStates = this.#main.kind === 'timeline'
    const most = Math.max(this.#recorded, isStates && this.#recorded === 0 ? STATE_SPANS.at(-1) : SEEN)
    const known = (isStates ? STATE_SPANS : SPANS).filter((each) => each <= most)
    const spans = [...new Set([...known, this.#span])].sort((a, b) => a - b)
    if (spans.join() === this.#spans.join()) return
    this.#spans = spans
    const group = make('div', 'segments')
    group.setAttribute('role', 'radiogroup')
    group.setAttribute('aria-label', says.spans)
    for (const span of spans) {
      const label = make('label')
      const input = make('input')
      Object.assign(input, { type: 'radio', name: 'sheet-range', checked: span === this.#span })
      input.addEventListener('change', () => {
        this.#span = span
        this.#unread(this.#main)
        this.#chart(this.#main.kind)
      })
      label.append(input, make('span', '', duration(span)))
      group.append(label)
    }
    this.#parts.ranges.replaceChildren(group)
    this.#parts.ranges.hidden = spans.length < 2
  }

  #chart(kind) {
    const pasts = this.#base.pasts.map((past) => past?.copy(this.#span))
    this.#main = this.#made({ kind, panel: { kind, window: this.#span }, pasts })
    this.#place(this.#main, this.#parts.value)
  }

  /** Shows a card in the place of what is there. */
  #place(card, holder, heading = says.value) {
    card.element.querySelector('h3').textContent = heading
    holder.replaceChildren(card.element)
    holder.hidden = false
    if (!this.#read(card) && this.#last) card.show(this.#path, this.#last)
  }

  /** The control of the card, or one that suits the state. */
  #makeControl() {
    const given = this.#card && CONTROLS.includes(this.#card.kind) ? this.#card.kind : null
    const { kind, type = 'dyn' } = this.#attribute ?? {}
    const isState = (kind === 'state' || kind === 'binding') && typeof this.#base.value !== 'object'
    const wanted = given ?? (isState ? WRITTEN_BY[type.replace(/\?$/, '')] ?? null : null)
    if (!wanted || this.#base.series.length > 1) return
    this.#control = this.#made({ kind: wanted, panel: { kind: wanted } })
    this.#place(this.#control, this.#parts.control, says.change)
  }

  /** What changes with time. */
  #tell() {
    if (!this.#main || !this.#span) return
    const { now } = this.#main
    const from = now - this.#span
    const isStates = this.#main.kind === 'timeline'
    const [columns, rows] = isStates ? statesOf(this.#main, from, now) : numbersOf(this.#main, from, now)
    this.#parts.figures.replaceChildren(make('h3', '', says.figures), tableOf(columns, rows))
    if (!this.#parts.table.open) return
    const titles = this.#main.series.length > 1 ? this.#main.series.map(({ title }) => title) : [says.value]
    this.#parts.table.lastChild.replaceWith(tableOf([says.time, ...titles], rowsOfPast(this.#main, this.#span, TABLE_ROWS)))
  }

  /** Asks the daemon at most once a second. */
  async #explain() {
    if (this.#isExplaining || this.#isEnded || this.#base.series.length > 1) return
    this.#isExplaining = true
    try {
      const found = await (this.#board.then ?? this.#client).explain(this.#path)
      if (this.#isEnded) return
      const { why, inputs, readers } = this.#parts
      why.replaceChildren(make('h3', '', says.why), facts([
        ...reasonsOf(found, (path) => this.#link(path)), [says.kind, this.#attribute && `${this.#attribute.kind} ${this.#attribute.type}`], [says.rule, this.#attribute?.rule],
      ]))
      if (this.#inspector) {
        const link = make('a', '', says.showInInspector)
        link.href = this.#inspector(this.#path)
        why.append(link)
      }
      why.hidden = false
      this.#neighbours(inputs, says.inputs, found.dependencies)
      this.#neighbours(readers, says.readers, found.dependents)
    } catch (error) {
      this.#parts.why.replaceChildren(make('h3', '', says.why), make('p', 'none', error.reason ?? error.message))
      this.#parts.why.hidden = false
    }
    setTimeout(() => {
      this.#isExplaining = false
      if (!this.#isAgain) return
      this.#isAgain = false
      this.#explain()
    }, 1000)
  }

  #link(path) {
    if (isInternal(path)) return make('span', '', path.replace(/^\/\."(.*)"$/, '$1'))
    const link = make('a', '', path)
    link.href = this.#inspector?.(path) ?? '#'
    link.addEventListener('click', (event) => {
      event.preventDefault()
      this.#go(path)
    })
    return link
  }

  #neighbours(part, title, all = []) {
    // A reference to another node has the name of what it leads to.
    const paths = all.filter((path) => !isInternal(path) && (path !== this.#path || title === says.values))
    const text = paths.join('\n')
    // A list that is being operated stays.
    if (part.dataset.paths === text) return
    part.dataset.paths = text
    const list = make('ul', 'walk')
    for (const path of paths.slice(0, MOST_NEIGHBOURS)) {
      const { node: place, name, steps } = placeAt(path)
      const button = make('button')
      button.type = 'button'
      button.append(make('b', '', words(steps.length > 0 ? path.slice(place.length + 1) : name)), make('span', '', place))
      button.addEventListener('click', () => this.#go(path))
      const item = make('li')
      item.append(button)
      list.append(item)
    }
    part.replaceChildren(make('h3', '', title), list)
    if (paths.length > MOST_NEIGHBOURS) part.append(make('p', 'none', says.moreInInspector(paths.length - MOST_NEIGHBOURS)))
    part.hidden = paths.length === 0
  }

  /** The same as commands. */
  #command() {
    const path = quoted(this.#path)
    const { value } = this.#base
    const isAction = this.#attribute?.kind === 'action'
    const isState = ['state', 'binding'].includes(this.#attribute?.kind)
    const lines = this.#base.series.length > 1 ? [`agctl watch ${this.#base.paths.map(quoted).join(' ')}`] : isAction ? [`agctl do ${path}`] : [
      `agctl watch ${path}`, ...(isState && value !== undefined ? [`agctl set ${path} ${written(value)}`] : []), `agctl explain ${path}`,
      ...(this.#recorded > 0 ? [`agctl history ${path}`] : []),
    ]
    const { commands } = this.#parts
    // A button that is being operated stays.
    if (commands.childElementCount === lines.length + 1) {
      lines.forEach((line, i) => commands.children[i + 1].firstChild.textContent === line || tell(commands.children[i + 1], line))
      return
    }
    const rows = lines.map((line) => {
      const row = make('div', 'command')
      const code = make('code')
      const copy = make('button')
      copy.type = 'button'
      copy.addEventListener('click', async () => {
        for (const each of rows) each.lastChild.textContent = says.copy
        copy.textContent = (await copied(code)) ? says.copied : says.selected
      })
      row.append(code, copy)
      tell(row, line)
      return row
    })
    commands.replaceChildren(make('h3', '', says.commands), ...rows)
  }
}

/** Shows a command in its row. */
function tell(row, line) {
  const [code, copy] = row.children
  code.textContent = line
  copy.textContent = says.copy
  copy.setAttribute('aria-label', says.copyOf(line))
}

function quoted(text) {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** A value as `agctl set` takes it. */
function written(value) {
  if (typeof value !== 'string') return quoted(JSON.stringify(value))
  try {
    JSON.parse(value)
    return `--string ${quoted(value)}`
  } catch {
    return value.startsWith('-') ? `-- ${quoted(value)}` : quoted(value)
  }
}

/** Copies a text, or selects it where pages may not copy. */
async function copied(element) {
  try {
    await navigator.clipboard.writeText(element.textContent)
    return true
  } catch {
    getSelection().selectAllChildren(element)
    return false
  }
}

/** Least, mean and greatest value of each series. A value counts for as long as it held. */
function numbersOf(card, from, now) {
  const rows = card.pasts.map((past, i) => {
    const found = between(past, from, now, now)
    const length = found.reduce((sum, { time, end }) => sum + end - time, 0)
    const weighted = found.reduce((sum, { time, end, low, high }) => sum + ((low + high) / 2) * (end - time), 0)
    const known = found.length > 0
    const figures = [
      card.values[i], known ? Math.min(...found.map(({ low }) => low)) : null,
      known ? (length > 0 ? weighted / length : found.at(-1).low) : null, known ? Math.max(...found.map(({ high }) => high)) : null,
    ]
    // A mean may have more decimals than the values.
    const format = (k, each) => (k === 2 ? card.format : card.formatOf(each))
    return [card.series[i].title, ...figures.map((each, k) => plain(each instanceof AttributeFailed ? null : each, format(k, each)))]
  })
  return [['', says.atPresent, says.least, says.mean, says.greatest], rows]
}

/** How long and how often each state was there. */
function statesOf(card, from, now) {
  const rows = card.pasts.flatMap((past, i) => {
    const found = between(past, from, now, now)
    const all = found.reduce((sum, { time, end }) => sum + end - time, 0)
    return [...new Set(found.map(({ value }) => value))].map((state) => {
      const own = found.filter(({ value }) => value === state)
      const length = own.reduce((sum, { time, end }) => sum + end - time, 0)
      const name = card.series.length > 1 ? `${card.series[i].title}: ${card.wordOf(state)}` : card.wordOf(state)
      return [name, duration(length), plain(all > 0 ? length / all : 1, { format: 'percent', decimals: 0 }), String(own.length)]
    })
  })
  return [[says.state, says.time, says.share, says.times], rows]
}
