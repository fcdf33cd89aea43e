/**
 * The board: one card for each value of a part of the tree. A node's container value `panel` describes its card. A
 * node without one gets a card that suits its attributes.
 */

import { AttributeFailed, connect, Update } from './gateway.js'
import { Cards, make, ORDER, words } from './cards.js'

const client = connect()
const board = document.getElementById('board')
const wanted = new URLSearchParams(location.search).get('root')
const cards = new Cards(client)

/** A container with a single card has no section of its own. */
const TRANSPARENT = ['group', 'forEach', 'section']

/** Container values of a container's subviews, by id. They describe the cards. */
async function panelsOf(path) {
  try {
    const subviews = await client.eval('subviews', { at: path })
    return new Map(subviews.map((each) => [each.id, each.containerValues ?? {}]))
  } catch {
    // A root whose children are views has none.
    return new Map()
  }
}

async function findRoot() {
  if (wanted) return wanted
  const { children = [] } = await client.describe('/', { depth: 1 })
  return children.length === 1 ? children[0].path : '/'
}

/** The views below a node that are shown in one section, with their titles and panels. */
async function viewsOf(node, title, panel) {
  const found = [{ node, title, panel }]
  if (!node.children || panel?.hidden) return found
  const panels = TRANSPARENT.includes(node.kind) ? new Map() : await panelsOf(node.path)
  for (const child of node.children) {
    const own = child.id === 'gauge' ? title : words(child.id)
    found.push(...(await viewsOf(child, own, panels.get(child.id)?.panel)))
  }
  return found
}

async function build(root) {
  const tree = await client.describe(root)
  const panels = await panelsOf(root)
  const sections = [{ title: null, views: [{ node: tree, title: words(tree.id || 'agd') }] }]
  for (const child of tree.children ?? []) {
    const values = panels.get(child.id) ?? {}
    const title = values.panel?.title || values.title || words(child.id)
    sections.push({ title, views: await viewsOf(child, title, values.panel) })
  }
  const old = new Map([...board.querySelectorAll('section')].map((each) => [each.dataset.title, each]))
  const made = sections.map(({ title, views }) => {
    const section = old.get(title ?? '') ?? make('section')
    section.dataset.title = title ?? ''
    const grid = section.querySelector('.cards') ?? make('div', 'cards')
    const shown = views.flatMap(({ node, title, panel }) => cards.forNode(node, title, panel))
    shown.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
    grid.replaceChildren(...shown.map((each) => each.element))
    if (title && !section.querySelector('h2')) section.append(make('h2', '', title))
    if (!grid.parentNode) section.append(grid)
    section.hidden = shown.length === 0
    return section
  })
  board.replaceChildren(...made)
  if (made.every((section) => section.hidden)) {
    board.replaceChildren(make('p', 'empty', `Nothing stands at ${root} yet. agctl apply -f FILE adds a scene.`))
  }
  board.setAttribute('aria-busy', 'false')
  document.getElementById('title').textContent = root === '/' ? 'agd' : words(tree.id)
  document.title = document.getElementById('title').textContent
}

function showConnection(isLive) {
  document.body.dataset.live = String(isLive)
  document.getElementById('connection').textContent = isLive ? 'live' : 'no connection'
  cards.setLive(isLive)
}

setInterval(() => {
  document.getElementById('clock').textContent = new Date().toLocaleTimeString()
  cards.showAges()
}, 1000)

/** Watches until the page is closed. Waits for a part of the tree that does not exist yet. */
async function follow(root) {
  const pattern = root === '/' ? '/**' : `${root}/**`
  let isStale = true
  const watch = client.watch(pattern, { css: true, events: ['update', 'structure'], onLive: showConnection })
  for await (const event of watch) {
    if (event instanceof Update) {
      if (event.initial) isStale = true
      if (isStale) {
        await build(root)
        isStale = false
      }
      for (const [path, change] of event.details) {
        if (change.value instanceof AttributeFailed && change.value.code === 'removed') continue
        cards.show(path, change)
      }
      if (event.initial) showConnection(true)
    } else if (event.method === 'structure') {
      await build(root)
    }
  }
}

for (;;) {
  try {
    await follow(await findRoot())
  } catch (error) {
    showConnection(false)
    if (board.childElementCount === 0) {
      board.replaceChildren(make('p', 'empty', error.message))
    }
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
}
