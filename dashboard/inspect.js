/** The inspector: the tree, why an attribute has its value, and what happens. */

import { AttributeFailed, Update } from './gateway.js'
import { Plan } from './curves.js'
import { client as shared } from './elements.js'
import { make } from './cards.js'
import { duration, plain, words } from './format.js'
import { tokens } from './style.js'
import { facts, reasonsOf } from './why.js'

document.adoptedStyleSheets = [tokens]

const client = shared()
const part = (id) => document.getElementById(id)
const ROW = 28
const MOST_TRANSACTIONS = 100
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
let pattern = ''
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
    part('found').textContent = 'The tree is large. Parts of it are loaded when they are opened or searched.'
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

function arrange() {
  list = []
  if (pattern) {
    for (const row of byPath.values()) if (row.path.toLowerCase().includes(pattern)) list.push(row)
    part('found').textContent = `${list.length} found${isLoading ? ', searching …' : ''}`
  } else if (root) {
    const waiting = [root]
    while (waiting.length > 0) {
      const row = waiting.pop()
      list.push(row)
      if (row.isOpen && row.rows) for (let i = row.rows.length - 1; i >= 0; i--) waiting.push(row.rows[i])
    }
    if (/found(, searching …)?$/.test(part('found').textContent)) part('found').textContent = ''
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
    if (selected && !selected.isNode && !paths.includes(selected.path)) paths.push(selected.path)
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
  pattern = part('search').value.trim().toLowerCase()
  part('tree').scrollTop = 0
  arrange()
  loadForSearch()
}

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
  pattern = part('search').value = ''
  const node = path.replace(/\.[^/]*$/, '') || '/'
  const names = node.split('/').filter(Boolean)
  let at = ''
  for (const name of ['', ...names]) {
    at = name ? `${at}/${name}` : at
    const row = byPath.get(at || '/')
    if (row) await toggle(row, true)
  }
  const row = byPath.get(path) ?? byPath.get(path.replace(/^([^.]*\.[^.[]+).*$/, '$1'))
  if (!row) {
    part('detail').replaceChildren(make('p', 'hint', `There is no attribute ${path}.`))
    return
  }
  select(row)
  const top = list.indexOf(row) * ROW
  part('tree').scrollTop = Math.max(0, top - part('tree').clientHeight / 2)
  draw()
}

function showNode(row) {
  live = null
  const link = make('a', '', 'Show as a board')
  link.href = `./?root=${encodeURIComponent(row.path)}`
  part('detail').replaceChildren(make('h2', '', row.path), facts([
    ['Kind', row.kind],
    ['Attributes', row.rows.filter((each) => !each.isNode).length],
    ['Children', row.rows.filter((each) => each.isNode).length],
    ['Board', link],
  ]))
}

async function showAttribute(row) {
  const { attribute, path } = row
  const card = document.createElement('agd-chart')
  const isNumber = /^(int|uint|double|angle)/.test(attribute.type)
  const value = isNumber ? card : document.createElement('agd-card')
  value.setAttribute('path', path)
  if (!isNumber) value.setAttribute('kind', /^map|^list/.test(attribute.type) ? 'table' : attribute.type === 'color' ? 'color' : 'value')
  value.setAttribute('label', 'Value')
  const changes = make('ol', 'log')
  const why = block('Why it is so')
  const graph = block('Inputs and readers')
  const motion = block('Motion')
  motion.hidden = true
  live = { path, changes, why, graph, motion, isDue: false }
  const definition = facts([
    ['Kind', `${attribute.kind}${attribute.transient ? ', transient' : ''}`],
    ['Type', attribute.type],
    ['Refers to', attribute.target && linkTo(attribute.target)],
  ])
  const parts = [make('h2', '', path), value, block('Definition', definition)]
  if (attribute.rule) parts.push(block('Rule', make('pre', '', attribute.rule)))
  if (attribute.kind === 'state' || attribute.kind === 'binding') parts.push(block('Change', editor(row)))
  parts.push(motion, why, graph, block('Changes since the page was opened', changes))
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
      showWhy(shown, found)
      showGraph(shown, found)
    }
  } catch (error) {
    shown.why.replaceChildren(make('h3', '', 'Why it is so'), make('p', 'answer is-bad', error.reason ?? error.message))
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
  why.replaceChildren(make('h3', '', 'Why it is so'), facts(reasonsOf(found, linkTo)))
}

/** Inputs, the attribute and its readers as a picture to walk through. */
function showGraph({ graph, path }, { dependencies = [], dependents = [] }) {
  const picture = make('div', 'graph')
  const lines = svg('svg', { 'aria-hidden': 'true' })
  const column = (paths, label) => {
    const made = make('div')
    made.setAttribute('role', 'group')
    made.setAttribute('aria-label', label)
    for (const each of paths.slice(0, MOST_NEIGHBOURS)) {
      const [, place, name] = /^(.*)\.([^./]+)$/.exec(each) ?? [null, '', each]
      const button = make('button', 'node')
      button.append(make('b', '', name), make('span', '', place || '/'))
      button.addEventListener('click', () => reveal(each))
      made.append(button)
    }
    if (paths.length > MOST_NEIGHBOURS) made.append(make('p', 'answer', `${paths.length - MOST_NEIGHBOURS} more`))
    if (paths.length === 0) made.append(make('p', 'answer', label === 'Inputs' ? 'no inputs' : 'no readers'))
    return made
  }
  const middle = make('div')
  const self = make('p', 'node is-this')
  self.append(make('b', '', path.split('.').at(-1)))
  middle.append(self)
  const [inputs, readers] = [column(dependencies, 'Inputs'), column(dependents, 'Readers')]
  picture.append(lines, inputs, middle, readers)
  graph.replaceChildren(make('h3', '', 'Inputs and readers'), picture)
  const connect = () => {
    const frame = picture.getBoundingClientRect()
    const box = (element) => {
      const { left, right, top, height } = element.getBoundingClientRect()
      return { left: left - frame.left, right: right - frame.left, y: top - frame.top + height / 2 }
    }
    const line = (from, to) => {
      const [a, b] = [box(from), box(to)]
      const half = (a.right + b.left) / 2
      return svg('path', { d: `M${a.right} ${a.y}C${half} ${a.y} ${half} ${b.y} ${b.left} ${b.y}` })
    }
    lines.replaceChildren(
      ...[...inputs.querySelectorAll('button')].map((each) => line(each, self)),
      ...[...readers.querySelectorAll('button')].map((each) => line(self, each)),
    )
  }
  connect()
  new ResizeObserver(connect).observe(picture)
}

function noteChange(update, change) {
  if (!live || live.path !== selected?.path) return
  if (!update.initial) {
    const line = make('li')
    const label = update.label ? ` · ${update.label}` : ''
    line.append(make('time', '', new Date().toLocaleTimeString()), ` ${textOf(change.value)} `, make('span', '', `revision ${update.revision}${label}`))
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
  const until = Number.isFinite(timeline.settle) ? `moves for ${timeline.settle.toFixed(2)} s` : 'moves without end'
  motion.replaceChildren(make('h3', '', 'Motion'), picture, make('p', 'answer', `From ${plain(samples[0])} to ${plain(timeline.components(Infinity)[0])}; ${until}.`))
  const animation = mark.animate([{ transform: 'translateX(0)' }, { transform: 'translateX(1px)' }], { duration: length * 1000, fill: 'both' })
  animation.currentTime = Math.max(0, (client.now() - timeline.start) * 1000)
}

/** Animations to choose from, as text and in the form of JSON. */
const ANIMATIONS = [
  ['No animation', null, null],
  ['Smooth', 'smooth', 'smooth'],
  ['Snappy', 'snappy', 'snappy'],
  ['Bouncy', 'bouncy', 'bouncy'],
  ['Slow spring', 'spring(duration: 1.5, bounce: 0.3)', { spring: { duration: 1.5, bounce: 0.3 } }],
  ['Linear', 'linear(duration: 1)', { linear: { duration: 1 } }],
  ['Ease in', 'easeIn(duration: 1)', { easeIn: { duration: 1 } }],
  ['Ease out', 'easeOut(duration: 1)', { easeOut: { duration: 1 } }],
  ['Ease in and out', 'easeInOut(duration: 1)', { easeInOut: { duration: 1 } }],
]

function editor(row) {
  const form = make('form')
  const isText = row.attribute.type.startsWith('string')
  const input = make('input')
  input.setAttribute('aria-label', isText ? 'New value' : 'New value, as JSON')
  input.value = row.value instanceof AttributeFailed ? '' : isText ? row.value ?? '' : JSON.stringify(row.value)
  const send = make('button', '', 'Set')
  const picker = make('select')
  picker.setAttribute('aria-label', 'Animation')
  ANIMATIONS.forEach(([title, text], i) => picker.append(new Option(text ? `${title}: ${text}` : title, i)))
  picker.value = '1'
  const preview = svg('svg', { viewBox: '0 0 1 1', preserveAspectRatio: 'none', 'aria-hidden': 'true' })
  const answer = make('p', 'answer')
  answer.setAttribute('role', 'status')
  const show = () => {
    const curve = ANIMATIONS[picker.value][2]
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
      const animation = ANIMATIONS[picker.value][1]
      const options = animation ? { animation } : { disablesAnimations: true }
      answer.textContent = `Set at revision ${await client.set(row.path, value, { ...options, label: 'inspector' })}.`
    } catch (error) {
      answer.classList.add('is-bad')
      answer.textContent = error instanceof SyntaxError ? `This is not JSON: ${error.message}. Texts need quotes here.` : error.hint ? `${error.reason}; ${error.hint}` : error.reason ?? error.message
    }
  })
  if (client.clock.isWritable === false) {
    for (const each of [input, send, picker]) each.disabled = true
    answer.textContent = 'The gateway lets pages only read. Start it with --writable.'
  }
  return form
}

// MARK: What happens

let transactions = null
let scope = null

/** Transactions that change something below the selected node. */
async function followTransactions(row) {
  let place = row.isNode ? row.path : row.parent.path
  // The top-level node is a useful frame, unless the tree is large.
  if (byPath.size < 5000) place = '/'
  if (place === scope) return
  scope = place
  transactions?.close()
  const watch = (transactions = client.watch(place === '/' ? '/**' : `${place}/**`, { events: ['update', 'structure'], maxRate: 10, onLive: showConnection }))
  const items = part('transactions')
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
      if (event instanceof Update && event.initial) showConnection(true)
      if (!(event instanceof Update) || event.initial) continue
      const line = make('li')
      const [first] = event.details.keys()
      const rest = event.details.size - 1
      line.append(make('b', '', event.from ? `${event.from}–${event.revision} ` : `${event.revision} `), event.label ? `${event.label} ` : '')
      line.append(make('span', '', first ? `${first}${rest > 0 ? ` and ${rest} more` : ''}` : ''))
      items.prepend(line)
      while (items.childElementCount > MOST_TRANSACTIONS) items.lastChild.remove()
    }
  } catch (error) {
    if (watch === transactions) items.prepend(make('li', '', error.reason ?? error.message))
  }
}

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
  const said = isLive ? 'live' : 'no connection'
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
