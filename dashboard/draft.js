/** The document of the layer in which a page writes what people change of a board: cards by the panels of their nodes. */

import { idsOf, placeAt, words } from './format.js'

/** The node of a path, in a document at a root; null if the document says nothing of it. */
export function find(document, root, path) {
  let node = { children: document.nodes }
  for (const id of idsOf(path).slice(idsOf(root).length)) {
    node = childrenOf(node).find((each) => each.id === id)
    if (!node) return null
  }
  return node
}

function childrenOf({ children = [], header = [], footer = [], slots = {} }) {
  return [...header, ...children, ...footer, ...Object.values(slots).flat()]
}

/** The same, and made with the nodes around it if there is none. */
function demand(document, root, path) {
  let node = { children: (document.nodes ??= []) }
  for (const id of idsOf(path).slice(idsOf(root).length)) {
    let next = childrenOf(node).find((each) => each.id === id)
    if (!next) (node.children ??= []).push((next = { id }))
    node = next
  }
  return node
}

/** The panel of a node that the document itself makes; null if it completes a panel below it. */
function ownPanel(node) {
  const panel = node?.containerValues?.panel
  return panel && typeof panel === 'object' ? panel : null
}

/** True if the card is of a node that the document makes. */
export function isAdded(document, root, card) {
  return ownPanel(find(document, root, card.node)) !== null
}

/** The key of a member of a card's panel among the container values of its node. */
function keyOf({ node, path, isAutomatic }, member) {
  return isAutomatic ? `panel.cards.${path.slice(node.length + 1)}.${member}` : `panel.${member}`
}

/**
 * Says a member of a card's panel. A value that is undefined is not said any more, and null takes away what the scenes say.
 * @param card `{ node, path, isAutomatic }` of the method `board`, or the `{ node }` of a row.
 */
export function say(document, root, card, member, value) {
  const node = demand(document, root, card.node)
  const panel = card.isAutomatic ? null : ownPanel(node)
  const [place, key] = panel ? [panel, member] : [(node.containerValues ??= {}), keyOf(card, member)]
  if (value === undefined || (panel && value === null)) delete place[key]
  else place[key] = value
  prune(document)
}

/** What the document says of a card, by member. */
export function said(document, root, card) {
  const node = find(document, root, card.node)
  const panel = card.isAutomatic ? null : ownPanel(node)
  if (panel) return panel
  const start = keyOf(card, '')
  const found = Object.entries(node?.containerValues ?? {}).filter(([key]) => key.startsWith(start))
  return Object.fromEntries(found.map(([key, value]) => [key.slice(start.length), value]).filter(([member]) => !member.startsWith('cards.')))
}

/** Says nothing of a card any more. */
export function forget(document, root, card) {
  for (const member of Object.keys(said(document, root, card))) say(document, root, card, member, undefined)
}

/** Takes a card away: a node that the document makes goes, other cards are hidden. */
export function hide(document, root, card) {
  if (!isAdded(document, root, card)) return say(document, root, card, 'hidden', true)
  const remove = (node) => {
    for (const list of [node.children, node.header, node.footer, ...Object.values(node.slots ?? {})]) {
      const at = list?.indexOf(target) ?? -1
      if (at >= 0) list.splice(at, 1)
      list?.forEach(remove)
    }
  }
  const target = find(document, root, card.node)
  remove({ children: document.nodes })
  prune(document)
}

/** The cards that the document hides, each `{ node, path, isAutomatic, title }`. */
export function hidden(document, root) {
  const found = []
  const visit = (node, path) => {
    for (const [key, value] of Object.entries(node.containerValues ?? {})) {
      const [, name] = /^panel\.cards\.(.+)\.hidden$/.exec(key) ?? []
      if (value === true && (name || key === 'panel.hidden')) {
        found.push({ node: path, path: name ? `${path}.${name}` : path, isAutomatic: Boolean(name), title: words(name ?? node.id) })
      }
    }
    for (const each of childrenOf(node)) visit(each, `${path === '/' ? '' : path}/${quoted(each.id)}`)
  }
  for (const node of document.nodes ?? []) visit(node, `${root === '/' ? '' : root}/${quoted(node.id)}`)
  return found
}

/**
 * Moves one of several cards, or rows, to another place. Those that were never moved keep their order, so only the others
 * have a position.
 * @param all what `board` answers, in its order; each has a `position` if it was moved before.
 */
export function move(document, root, all, from, to) {
  const order = [...all]
  const [moved] = order.splice(from, 1)
  order.splice(to, 0, moved)
  settle(document, root, order, moved)
}

/** Says the positions of an order, of those that have one and of one that was moved. */
function settle(document, root, order, moved = null) {
  order.forEach((each, i) => {
    const before = positionOf(each)
    if (each === moved || (before !== undefined && before !== i + 1)) say(document, root, each, 'position', i + 1)
  })
}

/**
 * Moves a card into another section.
 * @param rows all rows of the board, as `board` answers them. `from` and `into` are two of them.
 */
export function moveInto(document, root, rows, card, from, into, to) {
  // The section of a card is that of the nearest container around its node, unless the card says another one.
  const around = rows.map(({ key }) => key).filter((key) => key !== '' && card.node.startsWith(`${key}/`)).sort((a, b) => b.length - a.length)
  const isOwn = into.key === (around[0] ?? '')
  say(document, root, card, 'section', isOwn ? undefined : into.key || root)
  settle(document, root, from.cards.filter((each) => each !== card))
  const order = [...into.cards]
  order.splice(to, 0, card)
  settle(document, root, order, card)
}

const positionOf = ({ position, panel }) => position ?? panel?.position

/**
 * Adds a card of an attribute: a node that reads it, or that writes it, too.
 * @param options `section` is the path of the container, `attribute` is `{ path, isWritable }`, `panel` says how it looks,
 *   `taken` has the ids that are there.
 * @returns the path of the node.
 */
export function add(document, root, { section, attribute: { path, isWritable }, panel, taken }) {
  const { name } = placeAt(path)
  const own = /^[A-Za-z_]\w*$/.test(name) ? name : 'value'
  const base = `${placeAt(path).node.split('/').pop().replace(/\W+/g, '')}-${own}`.replace(/^-/, '')
  let id = base
  for (let i = 2; taken.includes(id); i++) id = `${base}-${i}`
  const node = demand(document, root, section)
  const list = section === root ? document.nodes : (node.children ??= [])
  list.push({ id, [isWritable ? 'binding' : 'let']: { [own]: `$${path}` }, containerValues: { panel: { value: own, ...panel } } })
  return `${section === '/' ? '' : section}/${quoted(id)}`
}

/** The ids of the nodes that a document has in a container. */
export function idsIn(document, root, path) {
  const node = path === root ? { children: document.nodes } : find(document, root, path)
  return node ? childrenOf(node).map(({ id }) => id) : []
}

/** An id in a path, with quotes if it needs them. */
function quoted(id) {
  return /^[^\s"./[\]]+$/.test(id) ? id : JSON.stringify(id)
}

/** Removes nodes of which the document says nothing. */
function prune(document) {
  const isSaying = (node) => {
    if (node.containerValues && Object.keys(node.containerValues).length === 0) delete node.containerValues
    if (node.children) {
      node.children = node.children.filter(isSaying)
      if (node.children.length === 0) delete node.children
    }
    return Object.keys(node).length > 1
  }
  document.nodes = (document.nodes ?? []).filter(isSaying)
}

export const isEmpty = (document) => (document.nodes ?? []).length === 0
