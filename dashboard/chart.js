/** The recent past of a number, and a line that shows it. */

const SVG = 'http://www.w3.org/2000/svg'
/** A sample that stays longer than this is drawn as a step, because the value did not move in between. */
const STEP = 2.5
/** Intervals of the time axis. Each keeps its extremes, so that no peak is lost. */
const BUCKETS = 240

export class History {
  /** Each is `{ time, first, low, high, last }`; `last` is NaN where a gap begins. */
  #buckets = []

  /** @param span seconds that are kept. */
  constructor(span) {
    this.span = span
  }

  add(value, time) {
    const last = this.#buckets.at(-1)
    const width = this.span / BUCKETS
    if (last && !Number.isNaN(last.last) && Math.floor(time / width) === Math.floor(last.time / width)) {
      last.low = Math.min(last.low, value)
      last.high = Math.max(last.high, value)
      last.last = value
    } else {
      this.#buckets.push({ time, first: value, low: value, high: value, last: value })
    }
    // One sample before the span is needed for the line's beginning.
    while (this.#buckets.length > 2 && this.#buckets[1].time < time - this.span) this.#buckets.shift()
  }

  /** Nothing is known from here to the next sample. */
  interrupt(time) {
    const last = this.#buckets.at(-1)
    if (last && !Number.isNaN(last.last)) {
      this.#buckets.push({ time, first: last.last, low: last.last, high: last.last, last: NaN })
    }
  }

  /**
   * Adds what the daemon has recorded, where nothing is known: before the first sample, and in gaps.
   * @param stretches `{ time, low, high }` in order, each `step` seconds long.
   */
  fill(stretches, step, now) {
    const known = this.#buckets
    const first = known[0]?.time ?? Infinity
    const samples = []
    const gaps = []
    known.forEach((each, i) => {
      if (!Number.isNaN(each.last)) return samples.push({ ...each, limit: Infinity })
      gaps.push([each.time, known[i + 1]?.time ?? Infinity])
      // The stretch in which the gap begins is known in part.
      Object.assign(samples.at(-1), { end: each.time, limit: each.time + step })
    })
    const isUnknown = (time) => time < first || gaps.some(([begin, end]) => time >= begin && time < end)
    for (const { time, low, high } of stretches) {
      if (time + step > now - this.span && isUnknown(time)) samples.push({ time, low, high, end: time + step, limit: time + 1.1 * step })
    }
    this.#buckets = []
    let before = null
    for (const { end, limit, ...each } of samples.sort((a, b) => a.time - b.time)) {
      if (before && each.time > before.limit) this.interrupt(before.end)
      if (each.last === undefined) {
        // A stretch has no direction. The line takes the shorter way.
        const isFalling = before && before.last > (each.low + each.high) / 2
        Object.assign(each, isFalling ? { first: each.high, last: each.low } : { first: each.low, last: each.high })
      }
      this.#buckets.push(each)
      before = { end, limit, last: each.last }
    }
    if (Number.isNaN(known.at(-1)?.last) && before.limit <= now) this.interrupt(before.end)
  }

  /** Smallest and largest value, or null. */
  get range() {
    let [low, high] = [Infinity, -Infinity]
    for (const each of this.#buckets) {
      low = Math.min(low, each.low)
      high = Math.max(high, each.high)
    }
    return low <= high ? [low, high] : null
  }

  /** The line in a box of 1 by 1, as an SVG path. Its right edge is `now`. */
  path(now, [bottom, top]) {
    const height = top - bottom || 1
    const x = (time) => Math.max(0, 1 - (now - time) / this.span).toFixed(4)
    const y = (value) => (1 - (value - bottom) / height).toFixed(4)
    let text = ''
    let before = null
    for (const each of this.#buckets) {
      const at = x(each.time)
      if (!before) text += `M${at} ${y(each.first)}`
      else if (each.time - before.time > STEP || Number.isNaN(each.last)) text += `H${at}V${y(each.first)}`
      else text += `L${at} ${y(each.first)}`
      if (each.low < Math.min(each.first, each.last)) text += `V${y(each.low)}`
      if (each.high > Math.max(each.first, each.last)) text += `V${y(each.high)}`
      if (!Number.isNaN(each.last) && each.last !== each.first) text += `V${y(each.last)}`
      before = Number.isNaN(each.last) ? null : each
    }
    return before ? `${text}H1` : text
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

  /** @param options `span` in seconds, `isLarge`, `normal` (the usual range), `min`, `max` (ends of the axis). */
  constructor({ span = 60, isLarge = false, normal, min, max } = {}) {
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
    this.element.append(this.#path)
  }

  get range() {
    return this.#history.range
  }

  add(value, time = performance.now() / 1000) {
    this.#history.add(value, time)
  }

  interrupt(time = performance.now() / 1000) {
    this.#history.interrupt(time)
  }

  /**
   * @param past the result of the method `history`.
   * @param shift seconds since 1970 at the page's `performance.now() === 0`.
   */
  fill({ step, times, least, greatest }, shift, now = performance.now() / 1000) {
    this.#history.fill(times.map((time, i) => ({ time: Date.parse(time) / 1000 - shift, low: least[i], high: greatest[i] })), step, now)
  }

  /** The ends of the axis: at most those wished for, at least the values. */
  get axis() {
    const [low, high] = this.#history.range ?? [0, 1]
    const [min, max] = this.#ends
    const margin = this.#isLarge ? 0 : (high - low) * 0.08
    const [bottom, top] = [Math.min(min ?? low - margin, low), Math.max(max ?? high + margin, high)]
    if (bottom < top) return [bottom, top]
    // Zero stands at the bottom, and so does the least possible value. Any other constant stands in the middle.
    const half = Math.abs(low) / 2 || 0.5
    if (min === bottom || (low === 0 && max !== top)) return [bottom, bottom + 2 * half]
    return max === top ? [top - 2 * half, top] : [low - half, low + half]
  }

  draw(now = performance.now() / 1000) {
    const [bottom, top] = this.axis
    this.#path.setAttribute('d', this.#history.path(now, [bottom, top]))
    if (!this.normal) return
    const y = (value) => Math.min(1, Math.max(0, 1 - (value - bottom) / (top - bottom)))
    this.#band.setAttribute('y', y(this.normal[1]))
    this.#band.setAttribute('height', Math.max(0, y(this.normal[0]) - y(this.normal[1])))
  }
}
