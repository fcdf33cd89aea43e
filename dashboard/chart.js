/** The recent past of a number, and a line that shows it. */

const SVG = 'http://www.w3.org/2000/svg'
/** Where lines of different status have the same gradient, they need different names for it. */
let gradients = 0

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
    const limit = this.#phase + (Math.floor((time - this.#phase) / this.#width) + 1) * this.#width
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

  /** Smallest and largest value, or null. */
  range(now) {
    this.#hold(now)
    const shown = this.#stretches.filter((each) => each.end >= now - this.span)
    const [low, high] = [Math.min(...shown.map((each) => each.low)), Math.max(...shown.map((each) => each.high))]
    return shown.length > 0 ? [low, high] : null
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

function svg(name, attributes = {}) {
  const element = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  return element
}

/** A line over its time, with three grid lines if it is large. */
export class Line {
  #history
  #band
  #path
  #isLarge
  #ends
  #clock
  #levels
  #stops = []
  #now = svg('line', { class: 'now' })

  /**
   * @param options `span` in seconds, `isLarge`, `normal` (the usual range), `min`, `max` (ends of the axis), `levels`
   *   (`[threshold, status]` in the order in which values get worse), `clock` (reads seconds).
   */
  constructor({ span = 60, isLarge = false, normal, min, max, levels = [], clock = () => performance.now() / 1000 } = {}) {
    this.#clock = clock
    this.#levels = levels
    this.#history = new History(span)
    this.#isLarge = isLarge
    this.#ends = [min, max]
    this.normal = normal
    this.element = svg('svg', {
      class: isLarge ? 'chart' : 'spark', viewBox: '0 0 1 1', preserveAspectRatio: 'none', 'aria-hidden': 'true',
    })
    this.#band = svg('rect', { class: 'band', x: '0', width: '1', y: '0', height: '0' })
    this.element.append(this.#band)
    if (isLarge) {
      for (const y of [0, 0.5, 1]) this.element.append(svg('line', { class: 'grid', x1: '0', x2: '1', y1: y, y2: y }))
    }
    this.#path = svg('path')
    this.element.append(this.#path, this.#now)
    if (levels.length > 0) this.#colour()
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
    this.#path.style.stroke = `url(#${gradient.id})`
  }

  get #isFalling() {
    return this.#levels.length > 1 && this.#levels[1][0] < this.#levels[0][0]
  }

  range(now = this.#clock()) {
    return this.#history.range(now)
  }

  /** False in a gap. */
  get isKnown() {
    return this.#history.value !== null
  }

  add(value, time = this.#clock()) {
    this.#history.add(value, time)
  }

  interrupt(time = this.#clock()) {
    this.#history.interrupt(time)
  }

  /**
   * @param past the result of the method `history`.
   * @param shift seconds since 1970 at the clock's zero.
   */
  fill({ step, times, least, greatest }, shift, now = this.#clock()) {
    this.#history.fill(times.map((time, i) => ({ time: Date.parse(time) / 1000 - shift, low: least[i], high: greatest[i] })), step, now)
  }

  /** The ends of the axis: at most those wished for, at least the values. */
  axis(now = this.#clock()) {
    const [low, high] = this.#history.range(now) ?? [0, 1]
    const [min, max] = this.#ends
    const margin = this.#isLarge ? 0 : (high - low) * 0.08
    const [bottom, top] = [Math.min(min ?? low - margin, low), Math.max(max ?? high + margin, high)]
    if (bottom < top) return [bottom, top]
    // Zero stands at the bottom, and so does the least possible value. Any other constant stands in the middle.
    const half = Math.abs(low) / 2 || 0.5
    if (min === bottom || (low === 0 && max !== top)) return [bottom, bottom + 2 * half]
    return max === top ? [top - 2 * half, top] : [low - half, low + half]
  }

  draw(now = this.#clock()) {
    const [bottom, top] = this.axis(now)
    this.#path.setAttribute('d', this.#history.path(now, [bottom, top]))
    const { value } = this.#history
    const at = value === null ? null : 1 - (value - bottom) / (top - bottom)
    this.#now.toggleAttribute('hidden', at === null)
    for (const [name, place] of [['x1', 1], ['x2', 1], ['y1', at], ['y2', at]]) this.#now.setAttribute(name, place ?? 0)
    const limits = this.#levels.map(([limit]) => Math.min(1, Math.max(0, (limit - bottom) / (top - bottom))))
    if (this.#isFalling) limits.reverse()
    const ends = [0, ...limits.flatMap((limit) => [limit, limit]), 1]
    this.#stops.forEach((stop, i) => stop.setAttribute('offset', ends[i]))
    if (!this.normal) return
    const y = (value) => Math.min(1, Math.max(0, 1 - (value - bottom) / (top - bottom)))
    this.#band.setAttribute('y', y(this.normal[1]))
    this.#band.setAttribute('height', Math.max(0, y(this.normal[0]) - y(this.normal[1])))
  }
}
