/** Tiles of several attributes: a light with its switch and its level, and a thermostat. */

import { ARC, asFace, figures, make, mover, scaleOf, slideOf, stepButton, svg, switchOf } from './cards.js'
import { converted, plain } from './format.js'
import { says } from './language.js'
import { adopt, sheet } from './style.js'

const look = sheet(`
.head { display: flex; align-items: center; gap: 8px; justify-content: space-between; }
.kind-light .head { min-height: 48px; }
.kind-light:not(.is-on) :is(.value, .icon) { color: var(--muted); }
.kind-light.is-on .icon { color: var(--accent); }
.kind-thermostat { min-height: 236px; }
.kind-thermostat .switch { position: absolute; inset-block-start: 4px; inset-inline-end: 12px; }
.kind-thermostat:has(.switch) h3 { padding-inline-end: 64px; }
.kind-thermostat .face { width: min(100%, 144px); margin-block: auto; }
.kind-thermostat .face .now-at { position: absolute; inset: 66% 0 auto; text-align: center; color: var(--muted); font-size: 13px; line-height: 18px; font-variant-numeric: tabular-nums; display: block; stroke: none; }
.kind-thermostat .face .value { padding: 0 0 14px; }
.kind-thermostat .aim { stroke: var(--control); stroke-dasharray: 100; stroke-linecap: round; }
.kind-thermostat.is-active .aim { stroke: var(--accent); }
.kind-thermostat.is-off .aim { stroke: none; }
.kind-thermostat .mark { stroke: var(--ink); stroke-width: 2.5; stroke-linecap: round; }
.kind-thermostat .steps { margin: 0; }
.kind-thermostat .context { text-align: center; }
.compact .head { display: contents; }
.compact .kind-light .value { display: none; }
.compact .kind-light input[type="range"] { grid-area: 3 / 1 / auto / -1; }
.compact .kind-thermostat { padding-inline-start: 60px; min-height: 56px; }
.compact .kind-thermostat h3 { grid-area: 1 / 1; padding: 0 !important; }
.compact .kind-thermostat .face .value { position: static; padding: 0; font-size: 17px; grid-area: 2 / 1; text-align: start !important; justify-self: start; }
.compact .kind-thermostat .face .now-at { position: static; grid-area: 3 / 1; text-align: start; font-size: 12px; line-height: 16px; }
.compact .kind-thermostat .context { display: none; }
.compact .kind-thermostat.is-refused .context { display: block; grid-area: 4 / 1 / auto / -1; text-align: start; }
.compact .kind-thermostat .steps { grid-area: 1 / 2 / 4 / auto; }
.compact .kind-thermostat .switch { position: relative; inset: 0; grid-area: 1 / 3 / 4 / auto; }
`)


function light(card) {
  const level = card.parts.get('level') ?? null
  const head = make('div', 'head')
  const write = level ? figures(asFace(card, head)) : null
  const button = switchOf(card)
  head.append(button.element)
  card.add(head)
  // A level that is chosen switches a light on.
  const turn = (value) => card.mutate([...(card.value === true ? [] : [{ op: 'set', path: card.path, value: true }]), { op: 'set', path: level.path, value }])
  const slide = level && slideOf(card, {
    scale: scaleOf(card), type: level.type, label: says.levelOf(card.title), write: turn,
    said: (value) => {
      write(value)
      tell(value)
    },
  })
  if (slide) card.add(slide.element)
  const tell = (value) => {
    const said = button.show(card.value ?? null)
    card.say(level && card.value === true && card.element.closest('.compact') ? `${said} · ${plain(value, card.formatOf(value))}` : said)
  }
  const draw = () => {
    adopt(card.body, look)
    card.element.classList.toggle('is-on', card.value === true)
    tell(card.part('level'))
    slide?.show(card.part('level'), level.isWritable)
  }
  return { show: draw, part: draw, tick: draw }
}

function thermostat(card) {
  const scale = scaleOf(card, [5, 30])
  const { min, max, part } = scale
  const { conversion } = card.panel
  const step = Number(card.panel.step ?? 0.5)
  const face = make('div', 'face')
  const aim = svg('path', { d: ARC, class: 'aim', pathLength: 100 })
  const mark = svg('path', { class: 'mark' })
  face.append(svg('svg', { viewBox: '0 0 100 90', class: 'dial', 'aria-hidden': 'true' }, svg('path', { d: ARC, class: 'track' }), aim, mark))
  const write = figures(asFace(card, face))
  const now = make('p', 'now-at')
  face.append(now)
  const row = make('div', 'steps')
  const moved = mover(card, [aim], (value) => ({ strokeDashoffset: String(100 - 100 * Math.min(1, Math.max(0, part(value)))) }))
  /** The next target. In other units than the thermostat's, targets are whole numbers. */
  const next = (sign) => {
    if (!conversion) return Math.min(max, Math.max(min, card.value + sign * step))
    const shown = Math.round(converted(card.value, conversion)) + sign
    return Math.min(max, Math.max(min, (shown - (conversion.offset ?? 0)) / (conversion.factor ?? 1)))
  }
  // The daemon adds, so that nothing is lost if two pages press at once.
  const buttons = [['−', -1, says.less], ['+', 1, says.more]].map(([text, sign, word]) => {
    const button = stepButton(card, text, word, () => card.mutate([{ op: 'add', path: card.path, value: next(sign) - card.value }]))
    row.append(button)
    return [button, sign]
  })
  const power = card.parts.get('switch') ?? null
  const button = power && switchOf(card, { get: () => card.part('switch'), write: (value, { undo }) => card.mutate([{ op: 'set', path: power.path, value }], undo), changed: () => {} })
  card.add(face, row, ...(button ? [button.element] : []))
  const draw = () => {
    adopt(card.body, look)
    const isOff = card.part('switch') === false
    const isActive = !isOff && card.part('active') === true
    card.element.classList.toggle('is-active', isActive)
    card.element.classList.toggle('is-off', isOff)
    const current = card.part('current')
    // In a tile, this line has no room below it.
    const text = [current !== null && says.current(plain(current, card.format)), isActive && card.element.closest('.compact') && says.active].filter(Boolean).join(' · ')
    if (now.textContent !== text) now.textContent = text
    mark.toggleAttribute('hidden', typeof current !== 'number')
    mark.style.display = typeof current === 'number' ? '' : 'none'
    if (typeof current === 'number') {
      const angle = ((135 + 270 * Math.min(1, Math.max(0, part(current)))) * Math.PI) / 180
      const point = (r) => `${(50 + r * Math.cos(angle)).toFixed(2)} ${(50 + r * Math.sin(angle)).toFixed(2)}`
      mark.setAttribute('d', `M ${point(34)} L ${point(46)}`)
    }
    const said = button?.show(card.part('switch')) ?? ''
    if (power && !power.isWritable) button.element.disabled = true
    card.say(isOff ? said : isActive ? says.active : '')
    for (const [each, sign] of buttons) each.disabled = !card.isWritable || typeof card.value !== 'number' || Math.abs(next(sign) - card.value) < 1e-9
  }
  return {
    show(change) {
      write(change.value)
      moved(change)
      draw()
    },
    part: draw,
  }
}

export const kinds = { light, thermostat }
