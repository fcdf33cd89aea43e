/** What is searched in the inspector: words of a path, and terms as `value:>80`, `error:zero`, `type:bool`, `writer:test`, `changed:1m`. */

import { AttributeFailed } from './gateway.js'
import { plain } from './format.js'

const TERMS = ['value', 'error', 'type', 'writer', 'changed']
const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 }

/**
 * Reads a text. The result has `tests` of rows, `isPlain` (only words of paths, which nodes have, too), `isTimed` (the answer may
 * change without a change of the tree), `needsWriters`, and the `fault` of a time that cannot be read.
 */
export function parse(text) {
  const tests = []
  const found = { tests, isPlain: true, isTimed: false, needsWriters: false, fault: null }
  for (const [all, name, quoted, bare] of text.matchAll(/(?:([a-z]+):)?(?:"([^"]*)"|(\S+)|(?<=:))/g)) {
    const given = (quoted ?? bare ?? '').toLowerCase()
    if (!TERMS.includes(name)) {
      const word = all.replace(/^"|"$/g, '').toLowerCase()
      tests.push((row) => row.path.toLowerCase().includes(word))
      continue
    }
    found.isPlain = false
    if (name === 'value') tests.push(valueTest(given))
    if (name === 'error') tests.push(({ value }) => value instanceof AttributeFailed && `${value.code} ${value.reason}`.toLowerCase().includes(given))
    if (name === 'type') tests.push(({ attribute: { kind, type } }) => `${kind} ${type}`.toLowerCase().includes(given))
    if (name === 'writer') {
      found.needsWriters = true
      tests.push(({ writer }) => writer?.toLowerCase().includes(given))
    }
    if (name === 'changed') {
      const [, count, unit] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(given || '1m') ?? []
      if (!unit) found.fault = given
      const span = 1000 * count * UNITS[unit]
      tests.push(({ changed }, now) => changed !== undefined && now - changed <= span)
    }
    // Values, errors and writers change, too.
    if (name !== 'type') found.isTimed = true
  }
  return found
}

/** A part of the text of a value, or a comparison of a number: `>80`, `<=0.5`, `=3`. */
function valueTest(given) {
  const [, sign, number] = /^([<>]=?|=)(-?\d+(?:\.\d+)?)$/.exec(given) ?? []
  const limit = Number(number)
  const compare = { '>': (x) => x > limit, '>=': (x) => x >= limit, '<': (x) => x < limit, '<=': (x) => x <= limit, '=': (x) => x === limit }[sign]
  return ({ value }) => {
    if (value instanceof AttributeFailed || value === undefined) return false
    if (compare) return typeof value === 'number' && compare(value)
    return String(value).toLowerCase() === given || plain(value).toLowerCase().includes(given) || (JSON.stringify(value) ?? '').toLowerCase().includes(given)
  }
}

/** Whether a row of the tree is what is searched. */
export function fits(row, { tests, isPlain }, now) {
  return (isPlain || !row.isNode) && tests.every((test) => test(row, now))
}
