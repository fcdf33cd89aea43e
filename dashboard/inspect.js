/** The inspector: the tree, why an attribute has its value, and what happens. */

import { AttributeFailed, Update } from './gateway.js'
import { Plan } from './curves.js'
import { client as shared } from './elements.js'
import { make } from './cards.js'
import { duration, placeAt, plain, words } from './format.js'
import { says, write } from './language.js'
import { fits, parse } from './search.js'
import { tokens } from './style.js'
import { facts, isInternal, reasonsOf } from './why.js'

document.adoptedStyleSheets = [tokens]
write(document)
document.title = says.inspector

const client = shared()
const part = (id) => document.getElementById(id)
const ROW = 28
const MOST_TRANSACTIONS = 100
/** Changes of a transaction that are kept, and those that are shown before it is opened. */
const MOST_CHANGES = 100
const FIRST_CHANGES = 3
/** Larger trees are watched below the selected node. */
const MOST_WATCHED = 5000
/** Attributes whose writers are asked for, and questions in one request. */
const MOST_ASKED = 2000
const ASKED_AT_ONCE = 200
const MOST_NEIGHBOURS = 12

// MARK: The tree

/** A node or an attribute of the tree, as a row. */
class Row {
  constructor(parent, path, name, depth) {
    Object.assign(this, { parent, path, name, depth, isOpen: depth < 2, rows: null, value: undefined })
  }

  get isNode() {
    return this.rows !== null || this.isPartial
  }
}

let root = null
/** Rows by path, as far as they are loaded. */
const byPath = new Map()
/** The visible rows in their order. */
let list = []
let selected = null
/** What is searched: the answer of `parse`; null if nothing is. */
let pattern = null
/** What the stream of transactions has told of attributes: `{ value, changed, writer }` by path. */
const known = new Map()
/** What `explain` has told of them: `{ changed, writer }`. */
const learned = new Map()
/** Whether parts of the tree are being loaded for the search. */
let isLoading = false
/** The search loads no more than that. */
const MOST_ROWS = 1_000_000

function rowOf(node, parent, depth) {
  const row = new Row(parent, node.path, node.id || '/', depth)
  row.kind = node.component ?? node.kind
  row.isPartial = node.childCount !== undefined && !node.children
  row.rows = []
  // No recursion: a tree may have 500 levels.
  for (const [name, attribute] of Object.entries(node.attributes ?? {})) {
    const leaf = new Row(row, `${node.path}.${name}`, name, depth + 1)
    leaf.attribute = attribute
    leaf.value = attribute.error ? new AttributeFailed(attribute.error) : attribute.value
    const told = known.get(leaf.path)
    const asked = learned.get(leaf.path)
    Object.assign(leaf, { changed: told?.changed ?? asked?.changed, writer: told?.writer ?? asked?.writer })
    row.rows.push(leaf)
    byPath.set(leaf.path, leaf)
  }
  byPath.set(row.path, row)
  return row
}

function grow(node, parent, depth) {
  const first = rowOf(node, parent, depth)
  const waiting = [[node, first]]
  while (waiting.length > 0) {
    const [each, row] = waiting.pop()
    for (const child of each.children ?? []) {
      const made = rowOf(child, row, row.depth + 1)
      row.rows.push(made)
      waiting.push([child, made])
    }
  }
  return first
}

/** The whole tree below a node, or one level of it if the whole is too large for one answer. */
async function load(path) {
  try {
    return await client.describe(path)
  } catch (error) {
    if (error.code !== 'limit') throw error
    part('found').textContent = says.treeIsLarge
    return client.describe(path, { depth: 1 })
  }
}

async function loadTree() {
  const open = new Set([...byPath.values()].filter((row) => row.isOpen && row.isNode).map((row) => row.path))
  const isFirst = root === null
  const tree = await load('/')
  byPath.clear()
  root = grow(tree, null, 0)
  if (!isFirst) for (const row of byPath.values()) row.isOpen = open.has(row.path)
  root.isOpen = true
  if (selected) selected = byPath.get(selected.path) ?? selected
  arrange()
  loadForSearch()
}

async function toggle(row, isOpen = !row.isOpen) {
  if (!row.isNode) return
  row.isOpen = isOpen
  if (row.isPartial && isOpen) {
    try {
      await fill(row)
    } catch (error) {
      row.isOpen = false
      part('found').textContent = `${row.path}: ${error.reason ?? error.message}`
      return
    }
  }
  arrange()
}

/** Loads what is below a row. */
async function fill(row) {
  const node = await load(row.path)
  // The tree may have been loaded anew meanwhile.
  if (byPath.get(row.path) !== row) return
  const { rows } = grow(node, row.parent, row.depth)
  for (const each of rows) each.parent = row
  row.rows = rows
  row.isPartial = false
  byPath.set(row.path, row)
}

/** Loads the parts of a large tree that the search has not seen, as long as something is searched. */
async function loadForSearch() {
  if (isLoading || !pattern) return
  isLoading = true
  try {
    let drawn = performance.now()
    for (const row of byPath.values()) {
      if (!pattern || byPath.size > MOST_ROWS) break
      if (!row.isPartial) continue
      await fill(row)
      if (performance.now() < drawn + 200) continue
      arrange()
      drawn = performance.now()
    }
  } catch {
    // The connection is lost, or a node has gone.
    setTimeout(loadForSearch, 1000)
  } finally {
    isLoading = false
    arrange()
  }
}

/** Whether the number of what was found stands above the tree. */
let hasFound = false

function arrange() {
  list = []
  if (pattern) {
    const now = Date.now()
    for (const row of byPath.values()) if (fits(row, pattern, now)) list.push(row)
    const said = pattern.fault === null ? says.found(list.length, isLoading) : says.noTime(pattern.fault)
    if (part('found').textContent !== said) part('found').textContent = said
    hasFound = true
  } else if (root) {
    const waiting = [root]
    while (waiting.length > 0) {
      const row = waiting.pop()
      list.push(row)
      if (row.isOpen && row.rows) for (let i = row.rows.length - 1; i >= 0; i--) waiting.push(row.rows[i])
    }
    if (hasFound) part('found').textContent = ''
    hasFound = false
  }
  part('rows').style.height = `${list.length * ROW}px`
  draw()
}

/** Elements of the rows in sight, by path. */
let shown = new Map()

/** Makes only the rows in sight. */
function draw() {
  const tree = part('tree')
  const first = Math.max(0, Math.floor(tree.scrollTop / ROW) - 5)
  const last = Math.min(list.length, Math.ceil((tree.scrollTop + tree.clientHeight) / ROW) + 5)
  const next = new Map()
  for (let i = first; i < last; i++) {
    const row = list[i]
    const element = elementOf(row)
    element.style.top = `${i * ROW}px`
    element.style.paddingInlineStart = `${pattern ? 4 : 4 + Math.min(row.depth, 12) * 14}px`
    next.set(row.path, element)
  }
  part('rows').replaceChildren(...next.values())
  shown = next
  observe()
}

function elementOf(row) {
  const element = make('div', 'row')
  element.id = `row-${row.path}`
  element.setAttribute('role', 'treeitem')
  element.setAttribute('aria-level', String(row.depth + 1))
  element.setAttribute('aria-selected', String(selected === row))
  if (row.isNode) element.setAttribute('aria-expanded', String(row.isOpen))
  element.append(make('span', 'twist', row.isNode && row.rows.length + (row.isPartial ? 1 : 0) > 0 ? (row.isOpen ? '▾' : '▸') : ''))
  element.append(make('span', row.isNode ? '' : 'attribute', pattern ? row.path : row.isNode ? row.name : `.${row.name}`))
  element.append(make('span', 'kind', row.isNode ? row.kind : `${row.attribute.kind} ${row.attribute.type}`))
  if (!row.isNode) element.append(make('span', 'live', textOf(row.value)))
  element.addEventListener('click', () => {
    select(row)
    if (row.isNode && !pattern) toggle(row)
  })
  return element
}

function textOf(value) {
  if (value instanceof AttributeFailed) return value.reason
  const text = plain(value)
  return text.length > 80 ? `${text.slice(0, 80)} …` : text
}

/** Live values of the rows in sight. */
let watching = null
let watched = ''
let timer

function observe() {
  clearTimeout(timer)
  timer = setTimeout(() => {
    const paths = [...shown.keys()].filter((path) => !byPath.get(path)?.isNode)
    for (const path of [selected?.isNode === false ? selected.path : null, ...drawn.keys()]) if (path && !paths.includes(path)) paths.push(path)
    if (paths.join('\n') === watched) return
    watched = paths.join('\n')
    watching?.close()
    watching = null
    if (paths.length > 0) follow(paths)
  }, 150)
}

async function follow(paths) {
  const watch = (watching = client.watch(paths, { css: true, maxRate: 20, onLive: showConnection }))
  try {
    for await (const event of watch) {
      if (!(event instanceof Update)) continue
      for (const [path, change] of event.details) {
        const row = byPath.get(path)
        if (row) row.value = change.value
        const live = shown.get(path)?.querySelector('.live')
        if (live) live.textContent = textOf(change.value)
        for (const element of drawn.get(path) ?? []) element.textContent = textOf(change.value)
        if (path === selected?.path) noteChange(event, change)
      }
    }
  } catch (error) {
    if (watch !== watching) return
    watched = ''
    part('found').textContent = error.reason ?? error.message
  }
}

part('tree').addEventListener('scroll', draw, { passive: true })
new ResizeObserver(draw).observe(part('tree'))
function search() {
  const text = part('search').value.trim()
  pattern = text ? parse(text) : null
  for (const [id, term] of CHOICES) part(id).setAttribute('aria-pressed', String(text.split(/\s+/).includes(term)))
  part('tree').scrollTop = 0
  arrange()
  loadForSearch()
  if (pattern?.needsWriters) learnWriters()
}

/** Buttons that put a term into the search. */
const CHOICES = [['failing', 'error:'], ['lately', 'changed:1m']]
for (const [id, term] of CHOICES) {
  part(id).addEventListener('click', () => {
    const words = part('search').value.trim().split(/\s+/).filter(Boolean)
    part('search').value = (words.includes(term) ? words.filter((each) => each !== term) : [...words, term]).join(' ')
    search()
  })
}

let isLearning = false
let hasLearned = false

/** Asks who wrote the states before this page was opened. */
async function learnWriters() {
  if (isLearning || hasLearned) return
  isLearning = true
  const states = [...byPath.values()].filter((row) => !row.isNode && row.attribute.kind === 'state' && row.writer === undefined).slice(0, MOST_ASKED)
  try {
    for (let i = 0; i < states.length; i += ASKED_AT_ONCE) {
      const asked = states.slice(i, i + ASKED_AT_ONCE)
      const found = await Promise.allSettled(asked.map(({ path }) => client.explain(path)))
      found.forEach(({ value }, k) => noteWriter(asked[k], value?.changed))
      refresh()
    }
    hasLearned = true
  } finally {
    isLearning = false
  }
}

function noteWriter(row, changed) {
  if (!changed) return
  row.writer ??= changed.client?.as ?? changed.client?.name ?? (changed.client ? 'daemon' : undefined)
  row.changed ??= changed.time ? Date.parse(changed.time) : undefined
  learned.set(row.path, { writer: row.writer, changed: row.changed })
}

let isRefreshing = false

/** Shows what has changed: a search for values, errors, writers or times, and how many attributes fail. At most twice a second. */
function refresh() {
  if (isRefreshing || document.hidden) return
  isRefreshing = true
  setTimeout(() => {
    isRefreshing = false
    if (pattern?.isTimed) arrange()
    let count = 0
    for (const row of byPath.values()) if (row.value instanceof AttributeFailed) count += 1
    const said = count > 0 ? `${says.failingNow} ${count}` : says.failingNow
    if (part('failing').textContent !== said) part('failing').textContent = said
    part('failing').classList.toggle('is-bad', count > 0)
  }, 500)
}
setInterval(() => pattern?.isTimed && refresh(), 1000)

part('search').addEventListener('input', search)
part('tree').addEventListener('keydown', (event) => {
  const at = list.indexOf(selected)
  const go = (i) => {
    const row = list[Math.max(0, Math.min(list.length - 1, i))]
    if (!row) return
    select(row)
    const top = list.indexOf(row) * ROW
    const tree = part('tree')
    if (top < tree.scrollTop) tree.scrollTop = top
    if (top + ROW > tree.scrollTop + tree.clientHeight) tree.scrollTop = top + ROW - tree.clientHeight
    draw()
  }
  const act = {
    ArrowDown: () => go(at + 1),
    ArrowUp: () => go(at - 1),
    Home: () => go(0),
    End: () => go(list.length - 1),
    ArrowRight: () => (selected?.isNode && !selected.isOpen ? toggle(selected, true) : go(at + 1)),
    ArrowLeft: () => (selected?.isNode && selected.isOpen ? toggle(selected, false) : selected?.parent && go(list.indexOf(selected.parent))),
  }[event.key]
  if (!act) return
  event.preventDefault()
  act()
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || ['INPUT', 'SELECT'].includes(event.target.tagName)) return
  event.preventDefault()
  part('search').focus()
})

// MARK: One attribute

function svg(name, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...children)
  return element
}

function block(title, ...children) {
  const made = make('div')
  if (title) made.append(make('h3', '', title))
  made.append(...children)
  return made
}

/** Parts of the detail that follow the value. */
let live = null

function select(row) {
  if (selected === row) return
  selected = row
  part('tree').setAttribute('aria-activedescendant', `row-${row.path}`)
  for (const [path, element] of shown) element.setAttribute('aria-selected', String(path === row.path))
  history.replaceState(null, '', `?path=${encodeURIComponent(row.path)}`)
  if (row.isNode) showNode(row)
  else showAttribute(row)
  followTransactions(row)
  observe()
}

/** Goes to a path, and opens what is around it. */
async function reveal(path) {
  part('search').value = ''
  search()
  const { node, attribute } = placeAt(path)
  let at = ''
  for (const name of ['', ...node.match(/"(?:[^"\\]|\\.)*"|[^/]+/g) ?? []]) {
    at = name ? `${at}/${name}` : at
    const row = byPath.get(at || '/')
    if (row) await toggle(row, true)
  }
  const row = byPath.get(path) ?? byPath.get(attribute)
  if (!row) {
    part('detail').replaceChildren(make('p', 'hint', says.noAttribute(path)))
    return
  }
  select(row)
  const top = list.indexOf(row) * ROW
  part('tree').scrollTop = Math.max(0, top - part('tree').clientHeight / 2)
  draw()
}

function showNode(row) {
  live = null
  drawn.clear()
  const link = make('a', '', says.showAsBoard)
  link.href = `./?root=${encodeURIComponent(row.path)}`
  part('detail').replaceChildren(make('h2', '', row.path), facts([
    [says.kind, row.kind],
    [says.attributes, row.rows.filter((each) => !each.isNode).length],
    [says.children, row.rows.filter((each) => each.isNode).length],
    [says.board, link],
  ]))
}

async function showAttribute(row) {
  const { attribute, path } = row
  const card = document.createElement('agd-chart')
  const isNumber = /^(int|uint|double|angle)/.test(attribute.type)
  const value = isNumber ? card : document.createElement('agd-card')
  value.setAttribute('path', path)
  if (!isNumber) value.setAttribute('kind', /^map|^list/.test(attribute.type) ? 'table' : attribute.type === 'color' ? 'color' : 'value')
  value.setAttribute('label', says.value)
  const changes = make('ol', 'log')
  const why = block(says.why)
  const graph = block(says.graph)
  const motion = block(says.motion)
  drawn.clear()
  motion.hidden = true
  live = { path, changes, why, graph, motion, isDue: false }
  const definition = facts([
    [says.kind, attribute.transient ? says.transient(attribute.kind) : attribute.kind],
    [says.type, attribute.type],
    [says.refersTo, attribute.target && linkTo(attribute.target)],
  ])
  const parts = [make('h2', '', path), value, block(says.definition, definition)]
  if (attribute.rule) parts.push(block(says.rule, make('pre', '', attribute.rule)))
  if (attribute.kind === 'state' || attribute.kind === 'binding') parts.push(block(says.change, editor(row)))
  parts.push(motion, why, graph, block(says.changesSeen, changes))
  part('detail').replaceChildren(...parts)
  await explain()
}

function linkTo(path) {
  const link = make('a', '', path)
  link.href = `?path=${encodeURIComponent(path)}`
  link.addEventListener('click', (event) => {
    event.preventDefault()
    reveal(path)
  })
  return link
}

/** Asks the daemon at most once a second. */
async function explain() {
  const shown = live
  if (!shown || shown.isDue) return
  shown.isDue = true
  try {
    const found = await client.explain(shown.path)
    if (live === shown) {
      noteWriter(byPath.get(shown.path) ?? {}, found.changed)
      showWhy(shown, found)
      await showGraph(shown, found)
    }
  } catch (error) {
    shown.why.replaceChildren(make('h3', '', says.why), make('p', 'answer is-bad', error.reason ?? error.message))
  }
  setTimeout(() => {
    shown.isDue = false
    if (shown.isAgain) {
      shown.isAgain = false
      explain()
    }
  }, 1000)
}

function showWhy({ why }, found) {
  why.replaceChildren(make('h3', '', says.why), facts(reasonsOf(found, linkTo)))
}

/** Elements with values in the picture of inputs and readers, by path. */
const drawn = new Map()
/** The levels of inputs and readers that are shown, at most three. */
let levels = 1
const MOST_LEVELS = 3

/**
 * Inputs, the attribute and its readers as a picture to walk through: `columns` from the farthest inputs to the farthest readers, each
 * a list of paths, and the `edges` between them.
 */
async function readGraph(path, { dependencies = [], dependents = [] }) {
  const columns = [[path]]
  const edges = []
  let hidden = 0
  const grow = async (side, first) => {
    let at = [path]
    for (let level = 1; level <= levels; level++) {
      const answers = level === 1 ? [first] : (await Promise.allSettled(at.map((each) => client.explain(each))))
        .map(({ value }) => (side === 'inputs' ? value?.dependencies : value?.dependents) ?? [])
      const next = []
      answers.forEach((found, i) => {
        for (const each of found.filter((each) => each !== at[i] && !isInternal(each))) {
          const isThere = next.includes(each)
          if (!isThere && next.length >= MOST_NEIGHBOURS) {
            hidden += 1
            continue
          }
          if (!isThere) next.push(each)
          edges.push(side === 'inputs' ? [`-${level} ${each}`, `${1 - level ? `-${level - 1}` : '0'} ${at[i]}`] : [`${level - 1} ${at[i]}`, `${level} ${each}`])
        }
      })
      if (next.length === 0 && level > 1) break
      if (side === 'inputs') columns.unshift(next)
      else columns.push(next)
      at = next
    }
    return columns.length
  }
  await grow('inputs', dependencies)
  const middle = columns.length - 1
  await grow('readers', dependents)
  return { columns, edges, middle, hidden }
}

async function showGraph(shown, found) {
  const { graph, path } = shown
  const { columns, edges, middle, hidden } = await readGraph(path, found)
  if (live !== shown) return
  const said = JSON.stringify([columns, edges, hidden, levels])
  // What is being operated stays.
  if (graph.dataset.said === said) return
  graph.dataset.said = said
  const picture = make('div', 'graph')
  picture.style.setProperty('--columns', String(columns.length))
  const lines = svg('svg', { 'aria-hidden': 'true' })
  const elements = new Map()
  drawn.clear()
  picture.append(lines, ...columns.map((paths, i) => {
    const made = make('div')
    made.setAttribute('role', 'group')
    if (i !== middle) made.setAttribute('aria-label', i < middle ? says.inputs : says.readers)
    for (const each of paths) {
      const { node, name, attribute } = placeAt(each)
      const element = make(i === middle ? 'p' : 'button', i === middle ? 'node is-this' : 'node')
      const value = make('span', 'value', textOf(byPath.get(each)?.value ?? null))
      if (i === middle) element.append(make('b', '', name), value)
      else {
        element.append(make('b', '', each.slice(attribute.length) ? each.slice(node.length + 1) : name || each), make('span', '', node), value)
        element.addEventListener('click', () => reveal(each))
      }
      if (byPath.has(each)) drawn.set(each, [...drawn.get(each) ?? [], value])
      else value.remove()
      elements.set(`${i - middle} ${each}`, element)
      made.append(element)
    }
    if (paths.length === 0) made.append(make('p', 'answer', i < middle ? says.noInputs : says.noReaders))
    return made
  }))
  const choice = make('div', 'levels')
  choice.setAttribute('role', 'group')
  choice.setAttribute('aria-label', says.levels)
  choice.append(make('span', '', says.levels), ...Array.from({ length: MOST_LEVELS }, (_, i) => {
    const button = make('button', '', String(i + 1))
    button.type = 'button'
    button.setAttribute('aria-pressed', String(levels === i + 1))
    button.addEventListener('click', () => {
      levels = i + 1
      for (const [k, each] of [...choice.querySelectorAll('button')].entries()) each.setAttribute('aria-pressed', String(k === i))
      showGraph(shown, found)
    })
    return button
  }))
  const frame = make('div', 'frame')
  frame.append(picture)
  graph.replaceChildren(make('h3', '', says.graph), choice, frame, ...(hidden > 0 ? [make('p', 'answer', says.andMore(hidden))] : []))
  const connect = () => {
    const outer = picture.getBoundingClientRect()
    const box = (element) => {
      const { left, right, top, height } = element.getBoundingClientRect()
      return { left: left - outer.left, right: right - outer.left, y: top - outer.top + height / 2 }
    }
    lines.replaceChildren(...edges.map(([from, to]) => {
      const [a, b] = [box(elements.get(from)), box(elements.get(to))]
      const half = (a.right + b.left) / 2
      return svg('path', { d: `M${a.right} ${a.y}C${half} ${a.y} ${half} ${b.y} ${b.left} ${b.y}` })
    }))
  }
  connect()
  new ResizeObserver(connect).observe(picture)
  observe()
}

function noteChange(update, change) {
  if (!live || live.path !== selected?.path) return
  if (!update.initial) {
    const line = make('li')
    const label = update.label ? ` · ${update.label}` : ''
    line.append(make('time', '', new Date().toLocaleTimeString()), ` ${textOf(change.value)} `, make('span', '', `${says.revision(update.revision)}${label}`))
    live.changes.prepend(line)
    while (live.changes.childElementCount > 50) live.changes.lastChild.remove()
  }
  // Also at the beginning: the value may have changed since it was explained.
  live.isAgain = live.isDue
  explain()
  if (change.timeline && !change.timeline.isFinished(client.now())) showMotion(live, change.timeline)
}

/** The running timeline as a curve, with a mark that the browser moves along the time axis. */
function showMotion({ motion }, timeline) {
  const length = Math.min(timeline.settle, 5)
  const samples = Array.from({ length: 121 }, (_, i) => timeline.components(timeline.start + (length * i) / 120)[0])
  const [low, high] = [Math.min(...samples), Math.max(...samples)]
  const y = (value) => 1 - (value - low) / (high - low || 1)
  const mark = svg('line', { x1: '0', x2: '0', y1: '0', y2: '1', class: 'axis mark' })
  const picture = svg('svg', { class: 'motion', viewBox: '0 0 1 1', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('line', { x1: '0', x2: '1', y1: y(samples.at(-1)), y2: y(samples.at(-1)), class: 'axis' }),
    svg('path', { class: 'curve', d: `M${samples.map((each, i) => `${i / 120} ${y(each).toFixed(4)}`).join('L')}` }), mark)
  motion.hidden = false
  const ends = [plain(samples[0]), plain(timeline.components(Infinity)[0])]
  const said = Number.isFinite(timeline.settle) ? says.movesFor(...ends, timeline.settle.toFixed(2)) : says.movesOn(...ends)
  motion.replaceChildren(make('h3', '', says.motion), picture, make('p', 'answer', said))
  const animation = mark.animate([{ transform: 'translateX(0)' }, { transform: 'translateX(1px)' }], { duration: length * 1000, fill: 'both' })
  animation.currentTime = Math.max(0, (client.now() - timeline.start) * 1000)
}

/** Animations to choose from, as text and in the form of JSON. */
const ANIMATIONS = [
  [null, null],
  ['smooth', 'smooth'],
  ['snappy', 'snappy'],
  ['bouncy', 'bouncy'],
  ['spring(duration: 1.5, bounce: 0.3)', { spring: { duration: 1.5, bounce: 0.3 } }],
  ['linear(duration: 1)', { linear: { duration: 1 } }],
  ['easeIn(duration: 1)', { easeIn: { duration: 1 } }],
  ['easeOut(duration: 1)', { easeOut: { duration: 1 } }],
  ['easeInOut(duration: 1)', { easeInOut: { duration: 1 } }],
]

function editor(row) {
  const form = make('form')
  const isText = row.attribute.type.startsWith('string')
  const input = make('input')
  input.setAttribute('aria-label', isText ? says.newValue : says.newValueJSON)
  input.value = row.value instanceof AttributeFailed ? '' : isText ? row.value ?? '' : JSON.stringify(row.value)
  const send = make('button', '', says.set)
  const picker = make('select')
  picker.setAttribute('aria-label', says.animation)
  ANIMATIONS.forEach(([text], i) => picker.append(new Option([says.animations[i], text].filter(Boolean).join(': '), i)))
  picker.value = '1'
  const preview = svg('svg', { viewBox: '0 0 1 1', preserveAspectRatio: 'none', 'aria-hidden': 'true' })
  const answer = make('p', 'answer')
  answer.setAttribute('role', 'status')
  const show = () => {
    const curve = ANIMATIONS[picker.value][1]
    if (curve === null) return preview.replaceChildren()
    const plan = Plan.of({ curve, modifiers: [] })
    const length = Math.min(plan.length, 3)
    const samples = Array.from({ length: 81 }, (_, i) => plan.weights((length * i) / 80, false).f)
    const high = Math.max(1, ...samples)
    preview.replaceChildren(
      svg('line', { x1: '0', x2: '1', y1: 1 - 1 / high, y2: 1 - 1 / high, class: 'axis' }),
      svg('path', { class: 'curve', d: `M${samples.map((each, i) => `${i / 80} ${(1 - each / high).toFixed(4)}`).join('L')}` }))
  }
  show()
  picker.addEventListener('change', show)
  form.append(input, send, picker, preview, answer)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    answer.classList.remove('is-bad')
    try {
      const value = isText ? input.value : JSON.parse(input.value)
      const animation = ANIMATIONS[picker.value][0]
      const options = animation ? { animation } : { disablesAnimations: true }
      answer.textContent = says.setAt(await client.set(row.path, value, { ...options, label: 'inspector' }))
    } catch (error) {
      answer.classList.add('is-bad')
      answer.textContent = error instanceof SyntaxError ? says.notReadable(error.message) : error.hint ? `${error.reason}; ${error.hint}` : error.reason ?? error.message
    }
  })
  if (client.clock.isWritable === false) {
    for (const each of [input, send, picker]) each.disabled = true
    answer.textContent = says.readOnly
  }
  return form
}

// MARK: What happens

let transactions = null
let scope = null
/** The last transactions, newest first: `{ revision, from, label, writer, time, changes, more }`. */
let happened = []
/** While the list is paused, those that wait. */
let waiting = null
let isListing = false

/** Values are equal if their texts are. */
const isSame = (a, b) => a === b || (typeof a === 'object' && typeof b === 'object' && textOfWhole(a) === textOfWhole(b))

function textOfWhole(value) {
  return value instanceof AttributeFailed ? `error ${value.reason}` : JSON.stringify(value)
}

/** Notes what an update tells of the attributes. The result is its changes, each with the value before. */
function take(event) {
  const changes = []
  const { writer } = event
  const now = Date.now()
  for (const [path, { value, reported }] of event.details) {
    const before = known.get(path)
    const isGone = value instanceof AttributeFailed && value.code === 'removed'
    const isOther = !before || !isSame(before.value, value)
    const next = { value, changed: before?.changed, writer: before?.writer }
    // Of what has changed while nobody listened, the last report is all that is known.
    if (event.initial && isOther && reported !== null) next.changed = now - 1000 * (client.now() - reported)
    else if (!event.initial && isOther) Object.assign(next, { changed: now, writer: writer ?? next.writer })
    if (isGone) known.delete(path)
    else known.set(path, next)
    const row = byPath.get(path)
    if (row && !isGone) Object.assign(row, { value, changed: next.changed, writer: next.writer ?? row.writer })
    if (!event.initial && isOther) changes.push({ path, before: before?.value, after: isGone ? says.removed : value })
  }
  refresh()
  return changes
}

/** Transactions that change something below the selected node. */
async function followTransactions(row) {
  let place = row.isNode ? row.path : row.parent.path
  // The top-level node is a useful frame, unless the tree is large.
  if (byPath.size < MOST_WATCHED) place = '/'
  if (place === scope) return
  scope = place
  transactions?.close()
  const watch = (transactions = client.watch(place === '/' ? '/**' : `${place}/**`, {
    events: ['update', 'structure'], reports: true, writers: true, onLive: showConnection, ...(place === '/' ? {} : { maxRate: 10 }),
  }))
  let isDue = false
  try {
    for await (const event of watch) {
      if (event.method === 'structure' && !isDue) {
        isDue = true
        setTimeout(() => {
          isDue = false
          loadTree().catch(() => {})
        }, 500)
      }
      if (!(event instanceof Update)) continue
      if (event.initial) showConnection(true)
      const changes = take(event)
      if (changes.length === 0) continue
      const { revision, from, label, writer } = event
      const transaction = { revision, from, label, writer, time: new Date(), changes: changes.slice(0, MOST_CHANGES), more: changes.length - MOST_CHANGES }
      if (waiting) waiting = [transaction, ...waiting].slice(0, MOST_TRANSACTIONS)
      else happened = [transaction, ...happened].slice(0, MOST_TRANSACTIONS)
      listTransactions()
    }
  } catch (error) {
    if (watch === transactions) part('transactions').prepend(make('li', '', error.reason ?? error.message))
  }
}

/** Elements of transactions, which keep whether they are open. */
const items = new WeakMap()

/** Shows the transactions, once for all of a moment. */
function listTransactions() {
  if (isListing) return
  isListing = true
  requestAnimationFrame(() => {
    isListing = false
    const words = part('sieve').value.trim().toLowerCase()
    const shown = happened.filter((each) => words === '' || textOfTransaction(each).includes(words))
    part('transactions').replaceChildren(...shown.map((each) => items.get(each) ?? itemOf(each)))
    part('pause').textContent = waiting === null ? says.pause : [says.goOn, waiting.length > 0 && says.waiting(waiting.length)].filter(Boolean).join(' · ')
  })
}

function textOfTransaction(transaction) {
  transaction.text ??= [transaction.label, transaction.writer, ...transaction.changes.flatMap(({ path, before, after }) => [path, textOf(before), textOf(after)])].join('\n').toLowerCase()
  return transaction.text
}

function itemOf(transaction) {
  const { revision, from, label, writer, time, changes, more } = transaction
  const item = make('li')
  items.set(transaction, item)
  const head = make('p')
  head.append(make('b', '', from ? `${from}–${revision}` : String(revision)), label ? ` ${label}` : '', make('span', '', ` ${[writer, time.toLocaleTimeString()].filter(Boolean).join(' · ')}`))
  const show = ({ path, before, after }) => {
    const line = make('p', 'change')
    line.append(linkTo(path), ' ', make('s', '', before === undefined ? '' : textOf(before)), before === undefined ? '' : ' → ', make('b', '', typeof after === 'string' && after === says.removed ? after : textOf(after)))
    return line
  }
  item.append(head, ...changes.slice(0, FIRST_CHANGES).map(show))
  const rest = changes.slice(FIRST_CHANGES)
  if (rest.length > 0) {
    const others = make('details')
    others.append(make('summary', '', says.andMore(rest.length + Math.max(0, more))))
    others.addEventListener('toggle', () => others.childElementCount === 1 && others.append(...rest.map(show), ...(more > 0 ? [make('p', 'change', says.andMore(more))] : [])))
    item.append(others)
  }
  return item
}

part('sieve').addEventListener('input', listTransactions)
part('pause').addEventListener('click', () => {
  if (waiting === null) waiting = []
  else {
    happened = [...waiting, ...happened].slice(0, MOST_TRANSACTIONS)
    waiting = null
  }
  part('pause').setAttribute('aria-pressed', String(waiting !== null))
  listTransactions()
})

// MARK: Rules

/** A table of the rules that ran, while the daemon records; null otherwise. */
let recording = null

/** Records which rules run most and take longest. */
async function record() {
  const button = part('record')
  const isOn = recording === null
  button.disabled = true
  try {
    await client.call('trace', { enable: isOn })
    recording = isOn ? await rulesCard() : null
    button.textContent = isOn ? says.stop : says.record
    button.setAttribute('aria-pressed', String(isOn))
    if (isOn) showRules()
  } catch (error) {
    part('rules').replaceChildren(make('p', 'answer is-bad', error.hint ? `${error.reason}; ${error.hint}` : error.reason ?? error.message))
  }
  button.disabled = false
}

/** The card of a table, whose look stays inside of it. */
async function rulesCard() {
  const [{ Card }, { look }] = await Promise.all([import('./cards.js'), import('./style.js')])
  const card = new Card({
    client, path: '', kind: 'table', title: says.rules, sort: { column: says.ownTime, isDescending: true },
    panel: { columns: [says.path, says.runCount, says.ownTime], formats: { [says.ownTime]: { unit: 'ms', bar: true } } },
  })
  const holder = make('div')
  holder.attachShadow({ mode: 'open' }).adoptedStyleSheets = [tokens, look]
  holder.shadowRoot.append(card.element)
  part('rules').replaceChildren(holder)
  return card
}

async function showRules() {
  const card = recording
  if (card === null) return
  try {
    const { rules = [] } = await client.call('trace')
    const rows = rules.map(({ path, runs, ownTime }) => ({ [says.path]: path, [says.runCount]: runs, [says.ownTime]: 1000 * ownTime }))
    if (card === recording) card.show('', { value: rows, reported: null })
  } catch {
    // The connection is lost. It goes on when it is back.
  }
  if (card === recording) setTimeout(showRules, 2000)
}

part('record').addEventListener('click', record)
// A recording costs the daemon time, so it ends with the page.
addEventListener('pagehide', () => {
  if (recording) fetch('rpc', { method: 'POST', keepalive: true, headers: { 'Content-Type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"trace","params":{"enable":false}}' })
})

// MARK: Counters

async function showCounters() {
  if (!document.hidden) {
    try {
      const stats = await client.stats()
      const rows = Object.entries(stats).map(([name, value]) => {
        const row = make('tr')
        const seconds = name.endsWith('_seconds')
        const text = seconds ? (value < 1 ? `${(value * 1000).toFixed(1)} ms` : duration(value)) : typeof value === 'number' ? value.toLocaleString() : value
        const head = make('th', '', words(name.replace(/_seconds$/, '')))
        head.scope = 'row'
        row.append(head, make('td', '', text))
        return row
      })
      part('counters').replaceChildren(...rows)
      showConnection(true)
    } catch {
      showConnection(false)
    }
  }
  setTimeout(showCounters, 2000)
}

function showConnection(isLive) {
  const said = isLive ? says.live : says.noConnection
  if (part('connection').textContent !== said) part('connection').textContent = said
  document.body.dataset.live = String(isLive)
}

// What was typed while the page was loading.
search()
for (;;) {
  try {
    await loadTree()
    break
  } catch (error) {
    part('found').textContent = error.reason ?? error.message
    showConnection(false)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    part('found').textContent = ''
  }
}
const asked = new URLSearchParams(location.search).get('path')
if (asked) await reveal(asked)
else followTransactions(root)
showCounters()
