/** Tables and lists: of a value, or with a row for each subview. Columns may have bars, colours and an order. */

import { AttributeFailed } from './gateway.js'
import { Decimals, make, statusAt, STATUS_SHAPES } from './cards.js'
import { member, plain, readable, words } from './format.js'
import { says } from './language.js'
import { adopt, sheet } from './style.js'

const look = sheet(`
th button { all: unset; box-sizing: border-box; min-height: 44px; margin-block: -13px; vertical-align: middle; display: inline-flex; align-items: center; gap: 4px; cursor: pointer; position: relative; z-index: 1; white-space: nowrap; }
th button:hover { color: var(--ink); }
th button:focus-visible { outline: 2px solid var(--accent); outline-offset: -8px; border-radius: 12px; }
th[aria-sort="ascending"] button::after { content: "↑"; }
th[aria-sort="descending"] button::after { content: "↓"; }
th.figure button { flex-direction: row-reverse; }
td.in-bar { --side: to right; background: linear-gradient(var(--side), color-mix(in oklab, var(--fill, var(--accent)) 30%, transparent) calc(100% * var(--part)), var(--track) 0) 100% 50% / calc(100% - 12px) 20px no-repeat; padding-inline-end: 4px; }
td:first-child.in-bar { background-size: 100% 20px; }
:dir(rtl) > td.in-bar { --side: to left; background-position-x: 0; }
thead th { vertical-align: middle; }
td.is-warn { --fill: var(--warn); }
td.is-critical { --fill: var(--critical); }
td.is-stale { --fill: var(--stale); }
/* On a bar of its colour, a text would have too little contrast. */
td:is(.is-warn, .is-critical, .is-stale):not(.in-bar) { color: var(--fill); }
td.is-tinted::before { content: ""; display: inline-block; width: 8px; height: 8px; border-radius: 50%; margin-inline-end: 6px; background: var(--fill); }
:dir(rtl) > td.is-tinted::before { margin-inline: 6px; }
`)

const MOST_ROWS = 100
const MOST_COLUMNS = 6
const FIGURE = /^(?:[▲◆◌●] )?[−-]?[\d.,\s]+( ?\S{1,4})?$/
/** Nothing comes last in every order. */
const isNothing = (value) => value === null || value === undefined || value instanceof AttributeFailed

/** A new table. Cells are texts, or `{ text, value, status, tint, part }`. */
export function tableOf(columns, rows) {
  const table = make('table')
  fill(table, columns, rows)
  return table
}

/** Shows rows. Elements that are there already stay, so that a header keeps its focus. With `choose`, headers are buttons. */
function fill(table, columns, rows, { order = null, choose = null } = {}) {
  const cells = rows.map((row) => row.map((each) => (typeof each === 'string' ? { text: each } : each)))
  const isFigure = (i) => i > 0 && cells.length > 0 && cells.every((row) => FIGURE.test(row[i].text))
  if (columns) {
    if (table.tHead?.dataset.columns !== columns.join('\n')) makeHead(table, columns, choose)
    ;[...table.tHead.rows[0].cells].forEach((cell, i) => {
      cell.classList.toggle('figure', isFigure(i))
      if (order?.at === i) cell.setAttribute('aria-sort', order.isDescending ? 'descending' : 'ascending')
      else cell.removeAttribute('aria-sort')
    })
  } else {
    table.tHead?.remove()
  }
  const body = table.tBodies[0] ?? table.appendChild(make('tbody'))
  while (body.rows.length > cells.length) body.lastChild.remove()
  cells.forEach((row, y) => {
    const line = body.rows[y] ?? body.appendChild(make('tr'))
    while (line.cells.length > row.length) line.lastChild.remove()
    row.forEach((cell, x) => {
      const isHead = x === 0 && row.length > 1
      let element = line.cells[x]
      if (element?.localName !== (isHead ? 'th' : 'td')) {
        const made = make(isHead ? 'th' : 'td')
        if (isHead) made.scope = 'row'
        if (element) element.replaceWith(made)
        else line.append(made)
        element = made
      }
      show(element, cell)
    })
  })
}

function makeHead(table, columns, choose) {
  const row = make('tr')
  row.append(...columns.map((title, i) => {
    const cell = make('th')
    cell.scope = 'col'
    if (!choose || !title) {
      cell.textContent = title
      return cell
    }
    const button = make('button', '', title)
    button.type = 'button'
    button.title = says.sortBy(title)
    button.addEventListener('click', () => choose(i))
    cell.append(button)
    return cell
  }))
  table.tHead?.remove()
  const head = table.createTHead()
  head.dataset.columns = columns.join('\n')
  head.append(row)
}

function show(element, { text, status, tint, part }) {
  const isNotable = status && status !== 'ok'
  const said = isNotable ? `${STATUS_SHAPES[status]} ${text}` : text
  const names = [FIGURE.test(text) && 'figure', isNotable && `is-${status}`, tint && part === undefined && 'is-tinted', part !== undefined && 'in-bar'].filter(Boolean).join(' ')
  if (element.textContent !== said) element.textContent = said
  if (element.className !== names) element.className = names
  if (part !== undefined) element.style.setProperty('--part', part.toFixed(4))
  if (tint) element.style.setProperty('--fill', tint)
  else if (element.style.length > 0 && part === undefined) element.removeAttribute('style')
}

/** How the values of a column are written. A column with a unit of its own does not have the conversion of the card. */
function formatOf(card, column) {
  const own = member(card.panel.formats, column)
  return { ...card.format, ...(own?.unit === undefined ? {} : { conversion: undefined }), ...own }
}

/** A cell without its bar. */
function cellOf(card, column, value, decimals) {
  if (value instanceof AttributeFailed) return { text: readable(value.reason, card.locale), value, column }
  const format = formatOf(card, column)
  const number = typeof value === 'number'
  const colour = typeof value === 'string' || typeof value === 'boolean' ? member(format.colours, String(value)) : undefined
  const isStatus = colour in STATUS_SHAPES
  return {
    text: plain(value, number ? decimals?.of(value, format) ?? format : format), value, column,
    status: number && format.levels ? statusAt(format.levels, [value]) : isStatus ? colour : undefined,
    tint: isStatus ? undefined : colour ?? (format.bar ? format.tint : undefined),
  }
}

/** The rows in their order, with the bars of their columns. */
function arranged(card, rows, order) {
  const width = rows[0]?.length ?? 0
  for (let i = 0; i < width; i++) {
    const { bar, min = 0, max } = formatOf(card, rows[0][i].column)
    if (bar !== true) continue
    const numbers = rows.map((row) => row[i].value).filter(Number.isFinite)
    const end = max ?? Math.max(min, ...numbers)
    for (const row of rows) {
      if (Number.isFinite(row[i].value)) row[i].part = Math.min(1, Math.max(0, (row[i].value - min) / (end - min || 1)))
    }
  }
  if (order === null || order.at < 0) return rows
  const compare = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : plain(a).localeCompare(plain(b), undefined, { numeric: true }))
  const sign = order.isDescending ? -1 : 1
  return rows.toSorted(({ [order.at]: { value: a } }, { [order.at]: { value: b } }) => (
    isNothing(a) || isNothing(b) ? isNothing(a) - isNothing(b) : sign * compare(a, b)))
}

/** The order of a table: that of its panel, until a person chooses another column. */
function orderOf(card, draw) {
  let chosen = null
  return {
    of: (columns) => chosen ?? (card.sort && { at: columns.indexOf(card.sort.column), isDescending: card.sort.isDescending }),
    choose: (rows, order) => (i) => {
      const isNumber = rows().some((row) => typeof row[i].value === 'number')
      // The greatest numbers and the first texts are what people look for.
      chosen = { at: i, isDescending: order()?.at === i ? !order().isDescending : isNumber }
      draw()
    },
  }
}

/** A table in its card. */
function framed(card) {
  const table = make('table')
  const scroller = make('div', 'rows')
  scroller.append(table)
  card.add(scroller)
  return table
}

/** Rows of a list, or the entries of a map. */
function ofValue(card) {
  const table = framed(card)
  let [names, rows] = [[], []]
  const order = orderOf(card, () => draw())
  const now = () => order.of(names)
  const choose = order.choose(() => rows, now)
  const draw = () => {
    adopt(table, look)
    const { value } = card
    const isList = Array.isArray(value)
    const all = isList ? value : Object.entries(value ?? {})
    const isOfMaps = isList && all.length > 0 && all.every((each) => each !== null && typeof each === 'object' && !Array.isArray(each))
    const known = isOfMaps ? [...new Set(all.flatMap((each) => Object.keys(each)))] : []
    names = isOfMaps ? card.panel.columns ?? known.slice(0, MOST_COLUMNS) : []
    rows = all.map((each) => {
      if (isOfMaps) return names.map((column) => cellOf(card, column, member(each, column)))
      return isList ? [cellOf(card, '', each)] : [{ text: words(each[0]) }, cellOf(card, each[0], each[1])]
    })
    const shown = arranged(card, rows, now()).slice(0, MOST_ROWS)
    fill(table, isOfMaps ? names.map(words) : null, shown, { order: now(), choose })
    const more = [[all.length - MOST_ROWS, says.moreRows], [card.panel.columns ? 0 : known.length - MOST_COLUMNS, says.moreColumns]]
      .filter(([count]) => count > 0).map(([count, write]) => write(count))
    card.say(all.length === 0 ? says.empty : more.join(', '))
  }
  return { show: draw }
}

/** A row for each subview of a container. */
function ofRows(card, isTable) {
  /** Values by path. */
  const known = new Map()
  const decimals = new Map()
  const table = framed(card)
  let [names, rows, isDue] = [[], [], false]
  const order = orderOf(card, () => draw())
  const now = () => order.of(names)
  const choose = order.choose(() => rows, now)
  const draw = () => {
    isDue = false
    adopt(table, look)
    const { columns, ids, cells } = card.rows
    for (const each of [known, decimals]) for (const path of each.keys()) if (!cells.has(path)) each.delete(path)
    const all = [...cells].map(([path, column]) => (known.has(path) ? cellOf(card, column, known.get(path), decimals.get(path)) : { text: '', column }))
    const hasId = !columns.includes('name')
    names = hasId ? ['', ...columns] : columns
    rows = ids.map((id, i) => [...(hasId ? [{ text: words(id), value: id }] : []), ...all.slice(i * columns.length, (i + 1) * columns.length)])
    const shown = arranged(card, rows, now())
    fill(table, isTable ? names.map(words) : null, isTable ? shown : shown.map(([first, ...rest]) => [first, rest.map(({ text }) => text).join(' · ')]), { order: now(), choose })
    const { more } = card.rows
    card.say(rows.length === 0 ? says.empty : more > 0 ? says.moreRows(more) : '')
  }
  draw()
  return {
    draw,
    show({ value }, path) {
      if (!decimals.has(path)) decimals.set(path, new Decimals())
      known.set(path, value)
      if (isDue) return
      isDue = true
      queueMicrotask(draw)
    },
  }
}

export const kinds = {
  list: (card) => (card.rows ? ofRows(card, false) : ofValue(card)),
  table: (card) => (card.rows ? ofRows(card, true) : ofValue(card)),
}
