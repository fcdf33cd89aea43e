/** Values in a form for people, and the paths that lead to them. */

import { says } from './language.js'

const known = new Map()

/** A formatter of numbers, or of dates; making one is slow, so they are kept. */
function formatter(locale, options, Format = Intl.NumberFormat) {
  const key = `${locale} ${JSON.stringify(options)}`
  if (!known.has(key)) {
    let made
    try {
      made = new Format(locale?.replace('_', '-'), options)
    } catch {
      made = new Format(undefined, options)
    }
    known.set(key, made)
  }
  return known.get(key)
}

/** What is written in capitals also inside a sentence. */
const ABBREVIATION = /\b(cpu|dns|gpu|http|id|io|ip|ok|ram|tcp|udp|url)(?=\d*\b)/g

/**
 * An id in words: `busiestCore` is "Busiest core", `cpu0` is "CPU0". An id with other characters than letters, digits,
 * `_` and `-` stays as it is.
 */
export function words(id) {
  const plain = String(id)
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(plain)) return plain
  const text = plain.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[-_]/g, ' ').toLowerCase()
  return text.replace(ABBREVIATION, (found) => found.toUpperCase()).replace(/^./, (first) => first.toUpperCase())
}

/** Decimals that show two or three significant digits, but not more than the value has. */
export function decimalsOf(value) {
  if (!Number.isFinite(value) || Number.isInteger(value)) return 0
  const size = Math.abs(value)
  const most = [100, 10, 0.1, 0.01].findIndex((limit) => size >= limit)
  const [, shown = ''] = /\.(\d*?)0*$/.exec(size.toFixed(most < 0 ? 4 : most)) ?? []
  return most === 0 ? 0 : Math.max(1, shown.length)
}

/** Whether a number has neither so many nor so few digits that it is written with a power of ten. */
export function isWrittenOut(value) {
  return value === 0 || (Math.abs(value) >= 0.001 && Math.abs(value) < 1e6)
}

const BYTES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** A number in the unit that is shown. */
export function converted(value, conversion) {
  return conversion ? value * (conversion.factor ?? 1) + (conversion.offset ?? 0) : value
}

/**
 * A number as `[text, unit]`.
 * @param options `format` (`number`, `percent`, `bytes`, `duration`), `decimals`, `unit`, `conversion` (to this unit), `locale`.
 */
export function number(given, { format = 'number', decimals, unit = '', conversion, locale } = {}) {
  const value = converted(given, conversion)
  if (!Number.isFinite(value)) return [Number.isNaN(value) ? says.notANumber : value < 0 ? '−∞' : '∞', unit]
  if (format === 'duration') return [duration(value), unit]
  if (format === 'percent') return [fixed(value * 100, decimals ?? decimalsOf(value * 100), locale), unit || '%']
  if (format === 'bytes') {
    const power = Math.min(BYTES.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, Math.abs(value))) / 3)))
    const scaled = value / 1000 ** power
    return [fixed(scaled, decimals ?? (power === 0 ? 0 : decimalsOf(scaled)), locale), BYTES[power] + unit]
  }
  if (!isWrittenOut(value) && decimals === undefined) {
    const isCompact = Math.abs(value) >= 1e6 && Math.abs(value) < 1e15
    const options = isCompact ? { notation: 'compact', maximumSignificantDigits: 4 } : { notation: 'scientific', maximumSignificantDigits: 3 }
    return [formatter(locale, options).format(value), unit]
  }
  return [fixed(value, decimals ?? decimalsOf(value), locale), unit]
}

function fixed(value, decimals, locale) {
  return formatter(locale, { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format(value)
}

/** Seconds as their two largest units: 2 h 5 min. */
export function duration(seconds) {
  const parts = []
  let rest = Math.round(Math.abs(seconds))
  for (const [unit, size] of [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]]) {
    if (rest >= size || (unit === 's' && parts.length === 0)) parts.push(`${Math.floor(rest / size)} ${unit}`)
    rest %= size
  }
  return (seconds < 0 ? '−' : '') + parts.slice(0, 2).join(' ')
}

/** A moment, in seconds since 1970, as exactly as moments in this distance of seconds need it; if it is short, without a.m. and p.m. */
export function moment(time, step, locale, isShort = false) {
  const options = step < 86_400
    ? { hour: '2-digit', minute: '2-digit', ...(step < 60 ? { second: '2-digit' } : {}) } : { day: 'numeric', month: 'short' }
  const parts = formatter(locale, options, Intl.DateTimeFormat).formatToParts(time * 1000)
  return parts.filter(({ type }) => !isShort || type !== 'dayPeriod').map(({ value }) => value).join('').trim()
}

/** Any value as one line of text. */
export function plain(value, options = {}) {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'number') {
    const [text, unit] = number(value, options)
    return unit ? `${text} ${unit}` : text
  }
  if (typeof value === 'boolean') return value ? says.yes : says.no
  if (typeof value === 'string') return written(value, options)
  if (Array.isArray(value)) return value.map((each) => plain(each, options)).join(', ')
  return Object.entries(value).map(([name, each]) => `${words(name)} ${plain(each, options)}`).join(' · ')
}

function written(value, { locale }) {
  if (/^-?\d+(\.\d+)?s$/.test(value)) return duration(parseFloat(value))
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return value
  const date = new Date(value)
  try {
    return date.toLocaleString(locale?.replace('_', '-'), { dateStyle: 'medium', timeStyle: 'medium' })
  } catch {
    return date.toLocaleString()
  }
}

/** A member of a map of a user, who may have chosen any name. JavaScript's own names, as `constructor`, are none. */
export function member(map, name) {
  return map !== null && map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined
}

/** A message of the daemon, with its times as people write them. */
export function readable(text, locale) {
  return String(text).replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => timeOfDay(time, locale))
}

/** A time today as 06:12, another one with its date. */
export function timeOfDay(time, locale) {
  const date = new Date(time)
  const options = { hour: '2-digit', minute: '2-digit' }
  if (date.toDateString() !== new Date().toDateString()) Object.assign(options, { day: 'numeric', month: 'short' })
  return date.toLocaleString(locale, options)
}

const NAME = String.raw`(?:"(?:[^"\\]|\\.)*"|[^\s"./[\]]+)`
const PATH = new RegExp(String.raw`^(/|(?:/${NAME})+)\.(${NAME})(.*)$`)
const STEP = new RegExp(String.raw`\.(${NAME})|\[(?:(${NAME}(?:\.${NAME})*)=)?("(?:[^"\\]|\\.)*"|[^\]]*)\]`, 'g')

/** A name in a path without its quotes. */
function unquoted(name) {
  try {
    return name.startsWith('"') ? JSON.parse(name) : name
  } catch {
    return name
  }
}

/**
 * What a path leads to: the `node`, the `name` of the attribute, the path of the `attribute`, and the `steps` into its value.
 * A step is a key or an index, or a field and the value that it has in an element. Ids with dots are quoted.
 */
export function placeAt(path) {
  const [, node, name, rest] = PATH.exec(path) ?? []
  if (!node) return { node: path, name: '', attribute: path, steps: [] }
  const steps = [...rest.matchAll(STEP)].map(([, key, field, value]) => (
    key !== undefined ? unquoted(key) : field === undefined ? unquoted(value) : { field: unquoted(field), value: parsed(value) }))
  return { node, name: unquoted(name), attribute: `${node}.${name}`, steps }
}

/** The ids of the path of a node. */
export function idsOf(path) {
  return [...path.matchAll(new RegExp(`/(${NAME})`, 'g'))].map(([, id]) => unquoted(id))
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The part of a value at the end of steps; undefined if there is none. */
export function partOf(value, steps) {
  return steps.reduce((at, step) => {
    if (typeof step === 'object') return Array.isArray(at) ? at.find((each) => (member(each, step.field) ?? step.field.split('.').reduce(member, each)) === step.value) : undefined
    return Array.isArray(at) && !/^\d+$/.test(step) ? undefined : member(at, step)
  }, value)
}
