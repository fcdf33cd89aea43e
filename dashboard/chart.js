/** The recent past of a value, and lines and areas that show that of numbers. */

const SVG = 'http://www.w3.org/2000/svg'
/** Where lines of different status have the same gradient, they need different names for it. */
let gradients = 0
/** Changes of a bool or a text that are kept. */
const MOST_STATES = 200

/**
 * What is known of a number's past: stretches of time, each with the least and the greatest value in it. A value holds
 * until the next one, so that a stretch also has the value with which it begins. The daemon records the same, so a line
 * looks the same whether the page or the daemon has kept its past. Time without a stretch is a gap.
 */
export class History {
  /**
   * Each is `{ time, end, limit, low, high, slack }`: it lasts from `time` to `end`, at most until `limit`, where the next
   * one begins. If the next one begins more than `slack` seconds after `end`, there is a gap.
   */
  #stretches = []
  /** The present value; null while it is not known. */
  #value = null
  /** The time of the last sample. */
  #last = -Infinity
  #width
  /** A time at which a stretch begins. */
  #phase = 0

  /** @param span seconds that are kept. */
  constructor(span) {
    this.span = span
    this.#width = Math.max(span / 240, Math.min(1, span / 60))
  }

  #begin(time, value) {
    let limit = this.#phase + (Math.floor((time - this.#phase) / this.#width) + 1) * this.#width
    // Rounded, the beginning of a stretch may be in the stretch before.
    if (limit <= time) limit += this.#width
    this.#stretches.push({ time, end: time, limit, low: value, high: value, slack: 0 })
  }

  /** The present value has held until now. */
  #hold(now) {
    if (this.#value === null) return
    if (now - this.#stretches.at(-1).end > this.span) {
      this.#stretches = []
      this.#begin(now - this.span, this.#value)
    }
    for (let last = this.#stretches.at(-1); now > last.end; last = this.#stretches.at(-1)) {
      last.end = Math.min(now, last.limit)
      if (now > last.limit) this.#begin(last.limit, this.#value)
    }
    while (this.#stretches[0].end < now - this.span) this.#stretches.shift()
  }

  add(value, time) {
    this.#hold(time)
    if (this.#value === null) this.#begin(time, value)
    const last = this.#stretches.at(-1)
    last.low = Math.min(last.low, value)
    last.high = Math.max(last.high, value)
    this.#value = value
    this.#last = time
  }

  /** Nothing is known from here, or from the last sample if that is later, to the next sample. */
  interrupt(time) {
    if (this.#value === null) return
    const end = Math.max(time, this.#last)
    this.#hold(end)
    this.#value = null
    this.#stretches = this.#stretches.filter((each) => each.time <= end)
    this.#stretches.at(-1).end = Math.min(this.#stretches.at(-1).end, end)
  }

  /**
   * Adds what the daemon has recorded, where nothing is known: before the first sample, and in gaps.
   * @param recorded `{ time, low, high }` in order, each `step` seconds long.
   */
  fill(recorded, step, now) {
    this.#hold(now)
    const known = this.#stretches
    if (recorded.length > 0 && step >= this.span / 600 && step <= this.span / 30) {
      // New stretches begin where the daemon's do.
      Object.assign(known.at(-1) ?? {}, { limit: Math.max(known.at(-1)?.end, recorded.at(-1).time + step) })
      this.#width = step
      this.#phase = recorded.at(-1).time
    }
    // A gap begins within a stretch of the record, which is known in part.
    known.forEach((each, i) => (each.slack = Math.max(each.slack, known[i + 1]?.time === each.end ? 0 : step)))
    const added = []
    let at = 0
    for (const { time, low, high } of recorded) {
      while (at < known.length && known[at].end <= time) at += 1
      const next = known[at]
      if (time + step <= now - this.span || next?.time <= time) continue
      const end = Math.min(time + step, next?.time ?? now)
      if (end > time) added.push({ time, end, limit: end, low, high, slack: step / 10 })
    }
    this.#stretches = [...known, ...added].sort((a, b) => a.time - b.time)
  }

  /** The same past, with as much of it as a chart of this many seconds shows. */
  copy(span) {
    const made = new History(span)
    made.#stretches = this.#stretches.map((each) => ({ ...each }))
    made.#value = this.#value
    made.#last = this.#last
    return made
  }

  /** Smallest and largest value, or null. */
  range(now) {
    this.#hold(now)
    const shown = this.#stretches.filter((each) => each.end >= now - this.span)
    const [low, high] = [Math.min(...shown.map((each) => each.low)), Math.max(...shown.map((each) => each.high))]
    return shown.length > 0 ? [low, high] : null
  }

  /** `{ time, end, low, high, slack }` in order: if the next one begins more than `slack` seconds after `end`, there is a gap. */
  stretches(now) {
    this.#hold(now)
    return this.#stretches
  }

  /** The present value; null while it is not known. */
  get value() {
    return this.#value
  }

  /** The line in a box of 1 by 1, as an SVG path. Its right edge is `now`. */
  path(now, [bottom, top]) {
    this.#hold(now)
    const height = top - bottom || 1
    const x = (time) => Math.max(0, 1 - (now - time) / this.span).toFixed(4)
    const y = (value) => (1 - (value - bottom) / height).toFixed(4)
    let text = ''
    /** The value with which the stretch before has ended. */
    let value = null
    let before = null
    for (const each of this.#stretches) {
      const isGap = !before || each.time > before.end + before.slack
      const { time, end, low, high } = each
      before = each
      if (isGap) value = low
      else if (end === time) continue
      // A stretch has no direction. The line takes the shorter way through both ends.
      const [near, far] = Math.abs(value - low) <= Math.abs(value - high) ? [low, high] : [high, low]
      if (end >= now - this.span) {
        if (isGap || text === '') text += `M${x(time)} ${y(value)}`
        if (near !== value && near !== far) text += `L${x((time + end) / 2)} ${y(near)}`
        text += far === value ? `H${x(end)}` : `L${x(end)} ${y(far)}`
      }
      value = far
    }
    return this.#value === null || this.#value === value ? text : `${text}V${y(this.#value)}`
  }
}

/** What is known of the past of a bool or a text. */
export class States {
  /** `{ time, end, value }` in order; `end` is null while the value holds. */
  known = []

  /** The present value; null while it is not known. */
  get value() {
    const last = this.known.at(-1)
    return last && last.end === null ? last.value : null
  }

  add(value, time) {
    if (value === this.value) return
    this.interrupt(time)
    this.known.push({ time, end: null, value })
    if (this.known.length > MOST_STATES) this.known.shift()
  }

  interrupt(time) {
    const last = this.known.at(-1)
    if (last && last.end === null) last.end = Math.max(time, last.time)
  }

  /** Adds what the daemon has recorded of a number, before the first sample: stretches with a single value. */
  fill(recorded, step, now) {
    const first = this.known[0]?.time ?? now
    const added = []
    for (const { time, low, high } of recorded) {
      if (time >= first || low !== high) continue
      const [last, end] = [added.at(-1), Math.min(time + step, first)]
      if (last?.value === low && time <= last.end + step / 10) last.end = end
      else added.push({ time, end, value: low })
    }
    const [last, next] = [added.at(-1), this.known[0]]
    if (next && last?.value === next.value && last.end === next.time) next.time = added.pop().time
    this.known.unshift(...added.slice(-MOST_STATES))
  }

  copy() {
    return Object.assign(new States(), { known: this.known.map((each) => ({ ...each })) })
  }
}

function svg(name, attributes = {}) {
  const element = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  return element
}

/** Charts on this page, which all show the moment at which a person points at one of them (crosshair.js). */
export const charts = new Set()

/** Lines over their time, or areas that stand on each other; with three grid lines if they are large. */
export class Line {
  #band
  #paths
  #isLarge
  #ends
  #clock
  #levels
  #limits
  #stops = []
  #now = svg('line', { class: 'now' })

  /**
   * @param options `span` in seconds, `histories` (the past of each series), `tints` (colours of some of them), `isLarge`, `isStacked`, `normal` (the usual range),
   *   `min`, `max` (ends of the axis), `levels` (`[threshold, status]` in the order in which values get worse), `clock` (reads seconds).
   */
  constructor({ span = 60, histories = [new History(span)], tints = [], isLarge = false, isStacked = false, normal, min, max, levels = [], clock = () => performance.now() / 1000 } = {}) {
    Object.assign(this, { span, histories, isStacked, normal })
    /** Makes areas of the series, which stand on each other (plot.js). */
    this.stack = null
    this.#clock = clock
    this.#levels = levels
    this.#isLarge = isLarge
    this.#ends = [min, max]
    this.element = svg('svg', {
      class: isLarge ? 'chart' : 'spark', viewBox: '0 0 1 1', preserveAspectRatio: 'none', 'aria-hidden': 'true',
    })
    this.#band = svg('rect', { class: 'band', x: '0', width: '1', y: '0', height: '0' })
    this.element.append(this.#band)
    if (isLarge) {
      for (const y of [0, 0.5, 1]) this.element.append(svg('line', { class: 'grid', x1: '0', x2: '1', y1: y, y2: y }))
    }
    this.#limits = isLarge ? levels.map(([, status]) => svg('line', { class: `limit ${status}`, x1: '0', x2: '1' })) : []
    this.#paths = histories.map(() => svg('path'))
    tints.forEach((tint, i) => tint && this.#paths[i].style.setProperty('--series', tint))
    this.element.append(...this.#paths, ...this.#limits, this.#now)
    // Where several series have colours of their own, thresholds are lines alone.
    if (levels.length > 0 && histories.length === 1) this.#colour()
  }

  /** Each part of the line has the colour of its own values. */
  #colour() {
    const gradient = svg('linearGradient', { id: `levels-${++gradients}`, gradientUnits: 'userSpaceOnUse', x1: 0, x2: 0, y1: 1, y2: 0 })
    const names = ['ok', ...this.#levels.map(([, status]) => status)]
    if (this.#isFalling) names.reverse()
    // At each threshold, one colour ends and another one begins.
    this.#stops = names.flatMap((name) => [name, name]).map((name) => svg('stop', { class: `level ${name}` }))
    gradient.append(...this.#stops)
    this.element.prepend(gradient)
    this.#paths[0].style.stroke = `url(#${gradient.id})`
  }

  get #isFalling() {
    return this.#levels.length > 1 && this.#levels[1][0] < this.#levels[0][0]
  }

  get now() {
    return this.#clock()
  }

  /** The least and greatest value of all series, or null. */
  range(now = this.now) {
    if (this.stack) return this.stack.range(now)
    const found = this.histories.map((each) => each.range(now)).filter(Boolean)
    return found.length > 0 ? [Math.min(...found.map(([low]) => low)), Math.max(...found.map(([, high]) => high))] : null
  }

  /** The ends of the axis: at most those wished for, at least the values. */
  axis(now = this.now) {
    const [low, high] = this.range(now) ?? [0, 1]
    const [min, max] = this.#ends
    const margin = this.#isLarge ? 0 : (high - low) * 0.08
    const [bottom, top] = [Math.min(min ?? low - margin, low), Math.max(max ?? high + margin, high)]
    if (bottom < top) return [bottom, top]
    // Zero stands at the bottom, and so does the least possible value. Any other constant stands in the middle.
    const half = Math.abs(low) / 2 || 0.5
    if (min === bottom || (low === 0 && max !== top)) return [bottom, bottom + 2 * half]
    return max === top ? [top - 2 * half, top] : [low - half, low + half]
  }

  draw(now = this.now) {
    const [bottom, top] = this.axis(now)
    const y = (value) => 1 - (value - bottom) / (top - bottom)
    const paths = this.stack ? this.stack.paths(now, y) : this.histories.map((each) => each.path(now, [bottom, top]))
    if (!this.isStacked || this.stack) this.#paths.forEach((path, i) => path.setAttribute('d', paths[i]))
    const value = this.histories.length > 1 ? null : this.histories[0].value
    this.#now.toggleAttribute('hidden', value === null)
    for (const [name, place] of [['x1', 1], ['x2', 1], ['y1', y(value)], ['y2', y(value)]]) this.#now.setAttribute(name, value === null ? 0 : place)
    const inside = (value) => Math.min(1, Math.max(0, y(value)))
    this.#limits.forEach((line, i) => {
      const at = y(this.#levels[i][0])
      line.toggleAttribute('hidden', at < 0 || at > 1)
      for (const name of ['y1', 'y2']) line.setAttribute(name, at)
    })
    const limits = this.#levels.map(([limit]) => 1 - inside(limit))
    if (this.#isFalling) limits.reverse()
    const ends = [0, ...limits.flatMap((limit) => [limit, limit]), 1]
    this.#stops.forEach((stop, i) => stop.setAttribute('offset', ends[i]))
    if (!this.normal) return
    this.#band.setAttribute('y', inside(this.normal[1]))
    this.#band.setAttribute('height', Math.max(0, inside(this.normal[0]) - inside(this.normal[1])))
  }
}
