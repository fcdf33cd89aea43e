/** The page around one board: title, what is wrong, other boards, connection, clock, search and help. */

import { client } from './elements.js'
import { SHAPES } from './cards.js'
import { duration, moment, timeOfDay } from './format.js'
import { language, says, write as writeWords } from './language.js'
import { tokens } from './style.js'

document.adoptedStyleSheets = [tokens]
writeWords(document)

const part = (id) => document.getElementById(id)
const query = new URLSearchParams(location.search)
/** The moment of the past that the address asks for, until the page shows it. */
let asked = Date.parse(query.get('t')) / 1000 || null
const askedTime = query.get('t')
query.delete('t')
/** The address of this page with another board. */
const address = (root) => `?${new URLSearchParams({ ...Object.fromEntries(query), root })}`
const board = document.createElement('agd-board')
board.className = 'fills'
for (const name of ['root', 'density']) if (query.get(name)) board.setAttribute(name, query.get(name))
board.inspector = (path) => `inspect?path=${encodeURIComponent(path)}`
board.address = address
board.seek = (wall) => look(wall)

let locale
/** The axis of time, once somebody has looked back. */
let axis = null
/** What the board has told last. */
let state = { wrong: [], statuses: [], boards: [] }
/** Since when nothing is wrong, if that began while the page was open. */
let wellSince = null
const RTL = /^(ar|fa|he|ur|ps|sd|yi|dv|ug)\b/
/** The worst comes first. */
const RANKS = ['critical', 'error', 'warn', 'stale']

function make(name, text, options = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...options })
}

/** Equal texts would make the browser draw, and screen readers speak. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text
}

/** How many cards have the worst status: `2 critical`. */
function summary(wrong) {
  const worst = RANKS.find((rank) => wrong.some(({ status }) => status === rank)) ?? 'ok'
  const count = wrong.filter(({ status }) => status === worst).length
  return { worst, text: worst === 'ok' ? says.allIsWell : `${count} ${says.counted[worst](count)}` }
}

board.addEventListener('agd-state', ({ detail }) => {
  if (state.wrong.length > 0 && detail.wrong.length === 0 && !state.moment && !detail.moment) wellSince = Date.now()
  const isEnded = state.isEditing && !detail.isEditing
  state = detail
  const { title, isLive, refusal, colorScheme, boards, root } = detail
  const host = client().clock.host
  const machine = host && host.toLowerCase() !== title.toLowerCase() ? host : ''
  if (part('title').textContent !== (machine ? `${title} ${machine}` : title)) part('title').replaceChildren(title, ...(machine ? [' ', make('small', machine)] : []))
  document.documentElement.style.colorScheme = colorScheme === 'dark' ? 'dark' : ''
  locale = detail.locale?.replace('_', '-')
  if (document.documentElement.lang !== language) writeWords(document)
  document.documentElement.dir = query.get('dir') ?? (RTL.test(locale ?? '') ? 'rtl' : 'ltr')
  const said = isLive === null ? says.connecting : isLive ? says.live : refusal ?? says.noConnection
  if (!isPast()) write(part('connection'), said)
  document.body.dataset.live = String(isLive)
  part('clock').disabled = !client().clock.hasPast || state.isEditing
  if (asked !== null && root) {
    look(asked, askedTime)
    asked = null
  }
  showStatus(title)
  showBoards(boards, root)
  if (part('wrong').open) showWrong()
  part('edit').hidden = !detail.isEditable || detail.isEditing || !isLive || isPast()
  if (isEnded) part('edit').focus()
})

/** True if the page shows a moment of the past. */
function isPast() {
  return Boolean(axis?.moment)
}

function showStatus(title) {
  // Old values say nothing about the present.
  const isKnown = state.isLive === true && state.statuses.length + state.wrong.length + state.judged > 0
  const { worst, text } = summary(state.wrong)
  const button = part('status')
  button.hidden = !isKnown
  button.dataset.status = isKnown ? worst : ''
  if (button.dataset.said !== text) {
    button.dataset.said = text
    const shape = make('span', SHAPES[worst], { className: 'shape' })
    shape.setAttribute('aria-hidden', 'true')
    button.replaceChildren(shape, text)
  }
  const name = isPast() ? `${momentText(axis.moment.wall)} – ${title}` : document.hidden || !isKnown || worst === 'ok' ? title : `${SHAPES[worst]} ${text} – ${title}`
  if (document.title !== name) document.title = name
  showIcon(isKnown && !document.hidden && !isPast() ? worst : 'none')
}

/** The icon has the shape and the colour of the worst status. */
function showIcon(worst) {
  const icon = document.querySelector('link[rel=icon]')
  if (icon.dataset.status === worst) return
  icon.dataset.status = worst
  const shapes = { critical: '<path d="M16 3 29 16 16 29 3 16Z" fill="#b3246b"/>', warn: '<path d="M16 4 30 28H2Z" fill="#e69f00"/>' }
  shapes.error = shapes.critical
  icon.href = shapes[worst]
    ? `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${shapes[worst]}</svg>`)}` : 'icon.svg'
}

function showBoards(boards, root) {
  const nav = part('boards')
  nav.hidden = boards.length < 2
  if (nav.hidden) return
  const shown = [...boards, { path: '/', title: says.all }]
  const said = JSON.stringify([shown, root])
  if (nav.dataset.said === said) return
  nav.dataset.said = said
  nav.replaceChildren(...shown.map(({ path, title }) => {
    const link = make('a', title, { href: address(path) })
    if (path === root) link.setAttribute('aria-current', 'page')
    return link
  }))
}

// MARK: What is wrong

/** Since when attributes are as they are, by path: a time, or null if nobody knows. */
const known = new Map()

/** Asks for the last changes of attributes that became what they are before the page was opened. */
async function learn(paths) {
  const unknown = paths.filter((path) => !known.has(path))
  for (const path of unknown) known.set(path, null)
  await Promise.all(unknown.map(async (path) => {
    try {
      const { changed } = await client().explain(path)
      known.set(path, changed?.time ? Date.parse(changed.time) : null)
    } catch {
      // Without the right to know, or without a connection, nothing is told.
      known.delete(path)
    }
  }))
}

async function openWrong() {
  if (!part('wrong').open) part('wrong').showModal()
  showWrong()
  if (isPast()) return
  await learn(state.wrong.length > 0 ? state.wrong.filter(({ since, statusPath }) => !since && statusPath).map(({ statusPath }) => statusPath) : wellSince ? [] : state.statuses)
  if (part('wrong').open) showWrong()
}

const since = (time) => (time ? says.since(timeOfDay(time, locale)) : '')

function showWrong() {
  const { wrong, statuses } = state
  const times = isPast() ? [] : statuses.map((path) => known.get(path))
  const last = isPast() ? null : wellSince ?? (times.length > 0 && times.every(Boolean) ? Math.max(...times) : null)
  part('wrong-title').textContent = wrong.length > 0 ? says.whatIsWrong : `${says.allIsWell} ${since(last)}`.trim()
  const sorted = wrong.map((each) => ({ ...each, time: isPast() ? null : each.since ?? known.get(each.statusPath) }))
    .sort((a, b) => RANKS.indexOf(a.status) - RANKS.indexOf(b.status) || (b.time ?? 0) - (a.time ?? 0))
  part('wrong').querySelector('ul').replaceChildren(...sorted.map(({ id, title, section, status, time, reason }) => {
    const item = make('li', '')
    const button = make('button', '', { type: 'button' })
    const shape = make('span', SHAPES[status], { className: `shape ${status}` })
    shape.setAttribute('aria-hidden', 'true')
    button.append(shape, make('b', title), make('span', [says.counted[status](1), section, since(time) || (isPast() ? '' : says.sinceBefore)].filter(Boolean).join(' · ')))
    if (reason) button.append(make('span', reason))
    button.addEventListener('click', () => {
      part('wrong').close()
      board.show(id)
    })
    item.append(button)
    return item
  }))
}

part('status').addEventListener('click', openWrong)

// MARK: The past

/** Opens the axis, and goes to a moment if one is given. The result is false if there is no past. */
function look(wall = null, time, isByKey = false) {
  if (!client().clock.hasPast) return false
  if (axis) return show()
  import('./axis.js').then(({ Axis }) => {
    axis ??= new Axis({ client: client(), board, root: () => state.root ?? '/', locale: () => locale, onMoment: showMoment })
    show()
  }, () => {})
  function show() {
    axis.open()
    if (wall !== null) axis.go(wall, time)
    if (isByKey) axis.focus()
  }
}

function momentText(wall) {
  const isToday = new Date(wall * 1000).toDateString() === new Date().toDateString()
  return [isToday ? '' : moment(wall, 86_400, locale ?? language), moment(wall, 1, locale ?? language)].filter(Boolean).join(', ')
}

/** The header tells the moment, and how long ago it was. */
function showMoment(wall) {
  document.body.toggleAttribute('data-past', wall !== null)
  part('connection').setAttribute('aria-live', wall === null ? 'polite' : 'off')
  write(part('connection'), wall === null ? says.live : `${momentText(wall)} · ${says.ago(duration(Date.now() / 1000 - wall))}`)
  showStatus(state.title ?? 'agd')
}

part('clock').addEventListener('click', () => {
  if (axis?.isOpen) return axis.close()
  look()
})

// MARK: Clock, search and help

function showClock() {
  // Even an equal text would make the browser draw.
  if (isPast()) showMoment(axis.moment.wall)
  part('clock').disabled = !client().clock.hasPast || state.isEditing
  write(part('clock'), new Date().toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' }))
}
showClock()
setInterval(showClock, 1000)
document.addEventListener('visibilitychange', () => showStatus(state.title ?? 'agd'))

const search = part('search')

function beginSearch() {
  search.hidden = false
  search.focus()
}

function endSearch() {
  search.value = ''
  search.hidden = true
  board.filter('')
}

part('find').addEventListener('click', () => (search.hidden ? beginSearch() : endSearch()))
part('edit').addEventListener('click', () => board.edit())
part('help').addEventListener('click', () => part('keys').showModal())
search.addEventListener('input', () => board.filter(search.value))
search.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  endSearch()
  part('find').focus()
})

document.addEventListener('keydown', (event) => {
  const target = event.composedPath()[0]
  if (event.ctrlKey || event.metaKey || event.altKey || ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName)) return
  if (event.key === '/') {
    event.preventDefault()
    beginSearch()
  } else if (event.key === '?') {
    part('keys').showModal()
  } else if (event.key === '!') {
    openWrong()
  } else if (event.key === '[' && !part('clock').disabled) {
    look(null, null, true)
  } else if (event.key === 'Escape' && isPast() && !document.querySelector('dialog[open]') && !board.shadowRoot.querySelector('dialog[open]')) {
    axis?.go(null)
  } else if (event.key === 'e' && !part('edit').hidden) {
    board.edit()
  } else if (event.key === 'i') {
    location.href = 'inspect'
  }
})

part('main').append(board)
