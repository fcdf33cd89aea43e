/** Timelines: the motion of a displayed value to the new one. */

import { Plan } from './curves.js'

/**
 * The complete motion of one value: a pure function of time. Times are seconds on the daemon's
 * monotonic clock; `Client.now()` reads it. Nothing is integrated.
 */
export class Timeline {
  #keys
  #from
  #to
  #velocity
  #plan

  /** @param event the member `timeline` of a change in an `update` event. */
  constructor(event) {
    const { id, replaces, start, space, mode } = event
    Object.assign(this, { id, replaces, start, space, mode })
    this.#keys = space === 'map' ? Object.keys(event.to) : null
    const components = (value) => (this.#keys ? this.#keys.map((key) => value[key]) : [value].flat())
    this.#from = components(event.from)
    this.#to = components(event.to)
    this.#velocity = components(event.velocity)
    this.#plan = planOf(event)
    /** Seconds from `start` to logical completion; infinite if never. */
    this.logical = event.logical ?? Infinity
    /** Seconds from `start` until it no longer moves; infinite if never. */
    this.settle = event.settle ?? Infinity
    this.under = event.under ? new Timeline(event.under) : null
  }

  /** The moment from which the value is the target. */
  get end() {
    return this.start + this.settle
  }

  isFinished(at) {
    return at >= this.end
  }

  /** The displayed value as numbers. Colours are Oklab's L, a and b, each times alpha, and alpha. */
  components(at) {
    return at >= this.end ? [...this.#to] : this.#state(at).map(([value]) => value)
  }

  /** Units per second. Zero from the end on, and where a curve is vertical. */
  velocities(at) {
    const found = at >= this.end ? [] : this.#state(at).map(([, velocity]) => velocity)
    return this.#to.map((_, i) => (found.every(Number.isFinite) ? found[i] ?? 0 : 0))
  }

  #state(at) {
    const w = this.#plan.weights(at - this.start, this.mode === 'c1')
    if (!this.under || (this.mode !== 'add' && this.mode !== 'chain')) {
      return this.#to.map((to, i) => {
        const [distance, velocity] = [to - this.#from[i], this.#velocity[i]]
        return [this.#from[i] + (distance * w.f + velocity * w.g), distance * w.df + velocity * w.dg]
      })
    }
    return this.under.#state(at).map(([value, velocity], i) => {
      if (this.mode === 'add') {
        const distance = this.#to[i] - this.under.#to[i]
        return [value + distance * w.f, velocity + distance * w.df]
      }
      const distance = this.#to[i] - value
      return [value + distance * w.f, velocity * (1 - w.f) + distance * w.df]
    })
  }

  /**
   * The displayed value: a number, a list of numbers, an object of numbers, or a colour as CSS `oklab()`, in
   * which browsers mix as the daemon does. Times are nanoseconds, as `from` and `to` are.
   *
   * @param [like] the target value, which is returned unchanged from the end on.
   */
  value(at, like) {
    if (like !== undefined && at >= this.end) return like
    const parts = this.components(at)
    if (this.space === 'oklab') return oklab(parts)
    if (this.space === 'vector') return parts
    if (this.#keys) return Object.fromEntries(this.#keys.map((key, i) => [key, parts[i]]))
    return parts[0]
  }
}

function planOf(event) {
  let modifiers = event.modifiers ?? []
  if (modifiers.length === 0) {
    // In the order in which they are written: a curve at a speed, then repeated, then delayed.
    const { speed, repeat, delay } = event
    modifiers = []
    if (speed !== 1) modifiers.push({ speed })
    if (repeat) {
      const given = { autoreverses: repeat.autoreverse, every: repeat.pass }
      modifiers.push(repeat.count === null ? { repeatForever: given } : { repeatCount: { count: repeat.count, ...given } })
    }
    if (delay !== 0) modifiers.push({ delay })
  }
  return Plan.of({ curve: event.curve, modifiers })
}

function oklab([l, a, b, alpha]) {
  const straight = [l, a, b].map((x) => (alpha > 0 ? x / alpha : 0).toFixed(7)).join(' ')
  return alpha === 1 ? `oklab(${straight})` : `oklab(${straight} / ${Math.min(Math.max(alpha, 0), 1).toFixed(7)})`
}
