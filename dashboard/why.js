/** Why an attribute has its value, in words, for the inspector and for sheets of cards. */

import { make } from './cards.js'

export function facts(entries) {
  const made = make('dl', 'facts')
  for (const [name, value] of entries) {
    if (value === undefined || value === null || value === '') continue
    made.append(make('dt', '', name))
    const given = make('dd')
    given.append(value instanceof Node ? value : String(value))
    made.append(given)
  }
  return made
}

/** Names and values of what `explain` has found. `linkTo` makes a link to an attribute. */
export function reasonsOf({ changed, chain = [], evaluations, error }, linkTo) {
  const path = make('span')
  chain.forEach((each, i) => path.append(i > 0 ? ' ← ' : '', linkTo(each)))
  const { name, pid, uid } = changed?.client ?? {}
  const process = [pid !== undefined && `process ${pid}`, uid !== undefined && `user ${uid}`].filter(Boolean).join(', ')
  const who = changed?.client && [name ?? (process ? 'a client' : 'the daemon'), process && `(${process})`].filter(Boolean).join(' ')
  return [
    ['Changed', changed?.reason],
    ['Changed by', who],
    ['At', changed?.time && `${new Date(changed.time).toLocaleString()}, revision ${changed.revision}`],
    ['Label', changed?.label],
    ['Path of rules', chain.length > 0 ? path : undefined],
    ['Rule has run', evaluations ? `${evaluations} ${evaluations === 1 ? 'time' : 'times'}` : undefined],
    ['Error', error?.message],
  ]
}
