/** Why an attribute has its value, in words, for the inspector and for sheets of cards. */

import { make } from './cards.js'
import { says } from './language.js'

/** Clocks, records, times of reports and the like, which no path leads to. */
export function isInternal(path) {
  return path.startsWith('/."')
}

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
  const process = [pid !== undefined && says.process(pid), uid !== undefined && says.user(uid)].filter(Boolean).join(', ')
  const who = changed?.client && [name ?? (process ? says.aClient : says.theDaemon), process && `(${process})`].filter(Boolean).join(' ')
  return [
    [says.changed, changed?.reason],
    [says.changedBy, who],
    [says.at, changed?.time && says.atRevision(new Date(changed.time).toLocaleString(), changed.revision)],
    [says.label, changed?.label],
    [says.pathOfRules, chain.length > 0 ? path : undefined],
    [says.ruleHasRun, evaluations ? says.runs(evaluations) : undefined],
    [says.error, error?.message],
  ]
}
