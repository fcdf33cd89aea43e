/** What is told of a transaction of the past: who made it, what it changed, and how it is taken back. */

import { authorOf } from './axis.js'
import { make } from './cards.js'
import { plain, words } from './format.js'
import { AttributeFailed } from './gateway.js'
import { says } from './language.js'
import { sheet } from './style.js'

document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet(`
.deed ul { list-style: none; padding: 0; margin-block: 8px; }
.deed li { display: flex; flex-wrap: wrap; gap: 0 8px; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.deed li > span { color: var(--muted); }
.deed li > b { font-weight: 500; margin-inline-start: auto; text-align: end; font-variant-numeric: tabular-nums; }
.deed .buttons { display: flex; flex-wrap: wrap; gap: 8px; }
.deed button { font: inherit; color: inherit; min-height: 44px; padding-inline: 14px; border: 0; border-radius: 8px; background: var(--track); cursor: pointer; }
.deed [role="alert"] { color: var(--critical); margin-block-start: 8px; }
`)]

/** Changes that are told at once. */
const FEW = 5
/** Letters of a value. */
const SHORT = 60

function short(value, locale) {
  const text = value instanceof AttributeFailed ? value.reason : plain(value, { locale })
  return text.length > SHORT ? `${text.slice(0, SHORT)} …` : text
}

const isMap = (value) => value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof AttributeFailed)

/** From what to what, in words. Of two maps, only the members that differ. */
function change(before, after, locale) {
  if (before === undefined) return `→ ${short(after, locale)}`
  if (isMap(before) && isMap(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => short(before[name], locale) !== short(after[name], locale))
    const told = names.slice(0, 3).map((name) => `${words(name)} ${change(before[name], after[name], locale)}`)
    return [...told, ...(names.length > 3 ? [says.andMore(names.length - 3)] : [])].join(' · ')
  }
  const texts = [short(before, locale), short(after, locale)]
  // Of long texts and lists, the ends would look the same.
  return texts.every((text) => text.endsWith(' …')) ? says.changed : texts.join(' → ')
}

/**
 * The parts of a tag.
 * @param options `past`, `client`, `root`, `locale`, `title` (the moment in words), `undone` (called when it has been taken back).
 */
export function tell(deed, { past, client, root, locale, title, undone }) {
  const head = make('p')
  head.append(make('b', '', deed.label ?? says.changes(deed.changes)), make('span', '', ` · ${authorOf(deed)}`))
  const time = make('p')
  time.append(make('span', '', says.atRevision(title, deed.revision)))
  const list = make('ul')
  const buttons = make('p', 'buttons')
  const problem = make('p')
  problem.setAttribute('role', 'alert')
  const name = (path) => (path.startsWith(`${root}/`) || path.startsWith(`${root}.`) ? path.slice(root.length + 1) : path)
  const row = ({ path, before, after, reaction, count, row: key, gone }) => {
    const item = make('li', '', key === undefined ? name(path) : key)
    const text = key !== undefined ? (gone ? says.removed : says.changed) : count ? says.writes(count, short(after, locale))
      : change(before, after, locale)
    if (reaction) item.append(make('span', '', says.reaction))
    item.append(make('b', '', text))
    return item
  }
  const fail = (error) => (problem.textContent = error.reason ?? error.message)
  const button = (text, act) => {
    const made = make('button', '', text)
    made.type = 'button'
    made.addEventListener('click', async () => {
      made.disabled = true
      problem.textContent = ''
      try {
        await act(made)
      } catch (error) {
        fail(error)
      }
      made.disabled = false
    })
    buttons.append(made)
  }
  const at = (revision) => ({ epoch: deed.epoch, revision })
  const read = async () => {
    const [{ transactions: [found] }] = await past.ask(['log', { from: at(deed.revision), to: at(deed.revision), count: 1 }])
    if (!found) throw new Error(says.notInArchive)
    return found
  }
  const first = read()
  first.then((found) => {
    const all = [...found.writes, ...(found.structure ?? [])]
    list.replaceChildren(...all.slice(0, FEW).map(row))
    if (all.length > FEW) list.append(make('li', '', says.andMore(all.length - FEW)))
  }, fail)
  button(says.showAll, async (made) => {
    const found = await first
    const [before] = await past.valuesAt(at(deed.revision - 1), root)
    const [after] = await past.valuesAt(at(deed.revision), root)
    const written = new Set(found.writes.map(({ path }) => path))
    const followed = [...after].filter(([path, value]) => !written.has(path) && JSON.stringify(value) !== JSON.stringify(before.get(path)))
    const all = [...found.writes, ...(found.structure ?? []), ...followed.map(([path, value]) => ({ path, before: before.get(path), after: value }))]
    list.replaceChildren(...all.map(row))
    made.remove()
  })
  if (client.clock.isWritable) {
    button(says.undo, async () => {
      await takeBack(await first, { past, client, at })
      undone()
    })
  }
  return [head, time, list, buttons, problem]
}

/** Writes what was before a transaction, if nobody has written the same states since: what `agctl undo` does. */
async function takeBack(found, { past, client, at }) {
  const { revision, structure = [] } = found
  if (structure.length > 0) throw new Error(says.undoTree(revision))
  const own = found.writes.filter(({ reaction }) => !reaction)
  const paths = own.map(({ path }) => path)
  if (own.length === 0 || found.more || own.some(({ count }) => count)) throw new Error(says.undoNothing(revision))
  const typed = ['get', { paths, typed: true }]
  const [, after, , before] = await past.ask(['seek', { time: at(revision) }], typed, ['seek', { time: at(revision - 1) }], typed)
  const missing = paths.find((path) => !('value' in (before.values[path] ?? {})) || !('value' in (after.values[path] ?? {})))
  if (missing) throw new Error(says.undoMissing(missing))
  const mutations = ['test', 'set'].flatMap((op) => paths.map((path) => ({ op, path, value: (op === 'test' ? after : before).values[path].value })))
  try {
    await client.transact(mutations, { label: `undo ${revision}`, typed: true })
  } catch (error) {
    if (error.code !== 'conflict') throw error
    const [{ transactions: [last] }] = await past.ask(['log', { paths, from: at(revision + 1), count: 1 }])
    throw new Error(last ? says.writtenSince(authorOf(last), last.revision) : error.reason)
  }
}
