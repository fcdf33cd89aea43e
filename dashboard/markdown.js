/**
 * A text in Markdown, with values of attributes in it: `{name}`. There are headings, paragraphs, lists, quotes, code, rules, tables,
 * bold, slanted and struck words, code in lines, and links. HTML is text. `agctl dash` has the same in `Markdown.swift`.
 */

import { AttributeFailed } from './gateway.js'
import { linkOf, make } from './cards.js'
import { member, plain } from './format.js'
import { adopt, sheet } from './style.js'

const look = sheet(`
.md { display: flex; flex-direction: column; gap: 8px; overflow: auto; overflow-wrap: anywhere; scrollbar-width: thin; max-width: 72ch; }
.md > * { flex: none; }
.md h4 { font-size: 17px; line-height: 24px; font-weight: 600; }
.md :is(h5, h6) { font-size: 15px; font-weight: 600; }
.md :is(ul, ol) { padding-inline-start: 20px; display: flex; flex-direction: column; gap: 2px; }
.md code { font: 13px ui-monospace, "DejaVu Sans Mono", monospace; background: var(--track); border-radius: 4px; padding: 1px 4px; }
.md pre { background: var(--track); border-radius: 8px; padding: 8px 12px; overflow-x: auto; }
.md pre code { padding: 0; background: none; }
.md blockquote { border-inline-start: 3px solid var(--line); padding-inline-start: 12px; color: var(--muted); display: flex; flex-direction: column; gap: 8px; }
.md hr { border: 0; border-block-start: 1px solid var(--line); width: 100%; }
.md a { color: var(--accent); }
.md data { font-variant-numeric: tabular-nums; }
.md data.failed { color: var(--critical); }
.md table { width: auto; min-width: 50%; }
.compact .md { grid-area: 2 / 1 / auto / -1; max-height: 176px; font-size: 13px; }
`)

/** Quotes and lists inside of each other. */
const MOST_DEPTH = 6
/** As `Placeholders` of the daemon finds names. */
const INLINE = /\\([\\`*_{}[\]()#+\-.!~|>])|\{([\p{L}_][\p{L}\p{N}_.[\]"-]*)\}|`([^`]+)`|\*\*(\S(?:.*?\S)?)\*\*|\*(\S(?:.*?\S)?)\*|~~(\S(?:.*?\S)?)~~|(?<![\p{L}\p{N}])_(\S(?:.*?\S)?)_(?![\p{L}\p{N}])|\[([^\]]+)\]\(([^)\s]+)\)/gu

/** Draws a text. `slot(name)` makes the element of a value, `link(address)` an address or null. */
export function render(text, { slot, link }) {
  return blocks(String(text).split(/\r?\n/), { slot, link }, 0)
}

function blocks(lines, on, depth) {
  const made = []
  let at = 0
  const take = (test) => {
    const from = at
    while (at < lines.length && test(lines[at], at - from)) at += 1
    return lines.slice(from, at)
  }
  while (at < lines.length) {
    const line = lines[at]
    const [, marks, heading] = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(line) ?? []
    const item = depth < MOST_DEPTH && /^( {0,3})([-*+]|\d{1,9}[.)])\s+/.exec(line)
    if (line.trim() === '') {
      at += 1
    } else if (heading !== undefined) {
      at += 1
      made.push(put(make(`h${Math.min(6, marks.length + 3)}`), heading, on))
    } else if (/^ {0,3}```/.test(line)) {
      at += 1
      const code = make('code', '', take((each) => !/^ {0,3}```/.test(each)).join('\n'))
      at += 1
      const pre = make('pre')
      pre.append(code)
      made.push(pre)
    } else if (/^ {0,3}([-*_])\s*(\1\s*){2,}$/.test(line)) {
      at += 1
      made.push(make('hr'))
    } else if (depth < MOST_DEPTH && /^ {0,3}>/.test(line)) {
      const inner = take((each) => /^ {0,3}>/.test(each)).map((each) => each.replace(/^ {0,3}> ?/, ''))
      const quote = make('blockquote')
      quote.append(...blocks(inner, on, depth + 1))
      made.push(quote)
    } else if (item) {
      made.push(listOf(take, item, on, depth))
    } else if (line.includes('|') && /^ {0,3}\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/.test(lines[at + 1] ?? '')) {
      made.push(tableOf(take((each) => each.includes('|')), on))
    } else {
      const text = take((each, i) => each.trim() !== '' && (i === 0 || !/^ {0,3}(#{1,6}\s|```|>|[-*+]\s)/.test(each)))
      const paragraph = make('p')
      text.forEach((each, i) => {
        if (i > 0) paragraph.append(/( {2}|\\)$/.test(text[i - 1]) ? make('br') : ' ')
        put(paragraph, each.trim().replace(/\\$/, ''), on)
      })
      made.push(paragraph)
    }
  }
  return made
}

function listOf(take, [, , mark], on, depth) {
  const isOrdered = /\d/.test(mark)
  const list = make(isOrdered ? 'ol' : 'ul')
  if (isOrdered && parseInt(mark, 10) !== 1) list.start = parseInt(mark, 10)
  const bullet = isOrdered ? /^ {0,3}\d{1,9}[.)]\s+/ : /^ {0,3}[-*+]\s+/
  const items = []
  for (const line of take((each) => bullet.test(each) || (/^\s{2,}\S/.test(each)))) {
    if (bullet.test(line)) items.push([line.replace(bullet, '')])
    else items.at(-1)?.push(line.replace(/^\s{2,4}/, ''))
  }
  for (const [first, ...rest] of items) {
    const item = put(make('li'), first, on)
    if (rest.length > 0) item.append(...blocks(rest, on, depth + 1))
    list.append(item)
  }
  return list
}

function tableOf([head, , ...rows], on) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, '').split('|').map((each) => each.trim())
  const table = make('table')
  const row = (line, name) => {
    const made = make('tr')
    made.append(...cells(line).map((each) => put(make(name), each, on)))
    return made
  }
  table.createTHead().append(row(head, 'th'))
  table.appendChild(make('tbody')).append(...rows.map((each) => row(each, 'td')))
  return table
}

/** Puts the text of a line into an element. */
function put(element, text, on, depth = 0) {
  let last = 0
  const wrap = (name, inner) => element.append(put(make(name), inner, on, depth + 1))
  for (const found of text.matchAll(INLINE)) {
    if (depth > MOST_DEPTH) break
    const [all, escaped, name, code, bold, slanted, struck, slantedToo, shown, address] = found
    element.append(text.slice(last, found.index))
    last = found.index + all.length
    if (escaped !== undefined) element.append(escaped)
    else if (name !== undefined) element.append(on.slot(name) ?? all)
    else if (code !== undefined) element.append(codeOf(code, on))
    else if (bold !== undefined) wrap('strong', bold)
    else if (slanted !== undefined || slantedToo !== undefined) wrap('em', slanted ?? slantedToo)
    else if (struck !== undefined) wrap('s', struck)
    else {
      const target = on.link(address)
      const link = put(make(target ? 'a' : 'span'), shown, on, depth + 1)
      if (target) link.href = target
      if (target && !address.startsWith('/')) Object.assign(link, { target: '_blank', rel: 'noopener' })
      element.append(link)
    }
  }
  element.append(text.slice(last))
  return element
}

/** Code in a line, with its values. */
function codeOf(text, { slot }) {
  const code = make('code')
  for (const [i, each] of text.split(/\{([\p{L}_][\p{L}\p{N}_.[\]"-]*)\}/u).entries()) code.append(i % 2 === 0 ? each : slot(each) ?? `{${each}}`)
  return code
}

/** An address that a text may lead to; null for any other, as `javascript:`. */
function addressOf(card, text) {
  return /^(https?:\/\/|\/(?!\/))/.test(text) ? linkOf(text, card.address) : null
}

export const kinds = {
  markdown(card) {
    const prose = make('div', 'md')
    card.add(prose)
    let drawn = null
    /** Elements of values, by name. */
    let slots = new Map()
    const fill = () => {
      for (const [name, elements] of slots) {
        const { value } = card.parts.get(name)
        const isFailed = value instanceof AttributeFailed
        const text = isFailed ? value.reason : plain(value, { ...card.format, unit: undefined, ...member(card.panel.formats, name) })
        for (const each of elements) {
          if (each.textContent !== text) each.textContent = text
          each.classList.toggle('failed', isFailed)
        }
      }
    }
    const draw = () => {
      adopt(prose, look)
      const text = card.panel.text ?? card.value
      if (text !== drawn) {
        drawn = text
        slots = new Map()
        const slot = (name) => {
          if (!card.parts.has(name)) return null
          const element = make('data')
          slots.set(name, [...slots.get(name) ?? [], element])
          return element
        }
        prose.replaceChildren(...render(text ?? '', { slot, link: (address) => addressOf(card, address) }))
      }
      fill()
    }
    if (card.panel.text !== undefined) draw()
    return { show: draw, part: draw, tick: () => adopt(prose, look) }
  },
}
