/** The page around one board: title, connection, clock, search and keys. */

import './elements.js'
import { tokens } from './style.js'

document.adoptedStyleSheets = [tokens]

const part = (id) => document.getElementById(id)
const query = new URLSearchParams(location.search)
const board = document.createElement('agd-board')
if (query.get('root')) board.setAttribute('root', query.get('root'))
board.inspector = (path) => `inspect?path=${encodeURIComponent(path)}`

let locale
const RTL = /^(ar|fa|he|ur|ps|sd|yi|dv|ug)\b/

board.addEventListener('agd-state', ({ detail: { title, isLive, refusal, colorScheme, locale: given } }) => {
  document.title = part('title').textContent = title
  document.documentElement.style.colorScheme = colorScheme === 'dark' ? 'dark' : ''
  locale = given?.replace('_', '-')
  document.documentElement.dir = query.get('dir') ?? (RTL.test(locale ?? '') ? 'rtl' : 'ltr')
  const said = isLive === null ? 'connecting' : isLive ? 'live' : refusal ?? 'no connection'
  // Only a change is announced.
  if (part('connection').textContent !== said) part('connection').textContent = said
  document.body.dataset.live = String(isLive)
})

function showClock() {
  const text = new Date().toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' })
  // Even an equal text would make the browser draw.
  if (part('clock').textContent !== text) part('clock').textContent = text
}
showClock()
setInterval(showClock, 1000)

const search = part('search')

function endSearch() {
  search.value = ''
  search.hidden = true
  board.filter('')
}

search.addEventListener('input', () => board.filter(search.value))
search.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') endSearch()
})

document.addEventListener('keydown', (event) => {
  const target = event.composedPath()[0]
  if (event.ctrlKey || event.metaKey || event.altKey || ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName)) return
  if (event.key === '/') {
    event.preventDefault()
    search.hidden = false
    search.focus()
  } else if (event.key === '?') {
    part('keys').showModal()
  } else if (event.key === 'i') {
    location.href = 'inspect'
  }
})

part('main').append(board)
