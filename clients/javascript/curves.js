/**
 * Curves of animations in closed form: springs, Bézier curves, keyframes and phases. The daemon evaluates
 * the same formulas (Documentation/Animation.md). Nothing is integrated.
 *
 * A sample is a pair: the value (or progress) and its slope per second.
 */

const SETTLING_TOLERANCE = 1e-3
/** Past this exponent e^(-x) is zero in a double. */
const UNDERFLOW = 746

/** a·b as an unevaluated sum of two doubles (Dekker). */
function product(a, b) {
  const split = (x) => {
    const c = 134217729 * x
    const high = c - (c - x)
    return [high, x - high]
  }
  const [ah, al] = split(a)
  const [bh, bl] = split(b)
  const p = a * b
  return [p, ((ah * bh - p) + ah * bl + al * bh) + al * bl]
}

/** A damped oscillator m x'' + c x' + k (x - to) = 0. */
export class Spring {
  /** `discriminant` is omega² - decay²: positive under-damped, zero critically, negative over-damped. */
  constructor(response, omega, stiffness, decay, discriminant) {
    this.response = response
    this.omega = omega
    /** For a mass of 1. */
    this.stiffness = stiffness
    this.decay = decay
    this.discriminant = discriminant
    this.frequency = Math.sqrt(Math.abs(discriminant))
  }

  static ofDuration(duration, bounce) {
    const omega = (2 * Math.PI) / duration
    const square = omega * omega
    if (bounce >= 0) {
      return new Spring(duration, omega, square, omega * (1 - bounce), square * bounce * (2 - bounce))
    }
    const rest = 1 + bounce
    return new Spring(duration, omega, square, omega / rest, (square * bounce * (2 + bounce)) / (rest * rest))
  }

  static ofResponse(response, fraction) {
    const omega = (2 * Math.PI) / response
    const square = omega * omega
    return new Spring(response, omega, square, fraction * omega, square * (1 - fraction) * (1 + fraction))
  }

  static physical(mass, stiffness, damping) {
    // 4mk - c² would cancel near critical damping: the rounding errors of the products are kept.
    const [restoring, restoringRest] = product(4 * mass, stiffness)
    const [square, squareRest] = product(damping, damping)
    const difference = restoring - square + (restoringRest - squareRest)
    const omega = Math.sqrt(stiffness / mass)
    const decay = damping / (2 * mass)
    return new Spring((2 * Math.PI) / omega, omega, stiffness / mass, decay, difference / (4 * mass * mass))
  }

  /**
   * The two fundamental solutions: displacement = y0 p + v0 q, velocity = y0 dp + v0 dq. Accurate to a few
   * units of the last place at any time.
   */
  basis(time) {
    if (!(time > 0)) return { p: 1, q: 0, dp: 0, dq: 1 }
    const { decay, discriminant, frequency, stiffness } = this
    const rest = { p: 0, q: 0, dp: 0, dq: 0 }
    const q = discriminant * time * time
    let cosine
    let sine
    if (Math.abs(q) < 0.01) {
      if (decay * time >= UNDERFLOW) return rest
      const envelope = Math.exp(-decay * time)
      cosine = envelope * (1 - (q / 2) * (1 - (q / 12) * (1 - (q / 30) * (1 - (q / 56) * (1 - q / 90)))))
      sine = envelope * time * (1 - (q / 6) * (1 - (q / 20) * (1 - (q / 42) * (1 - (q / 72) * (1 - q / 110)))))
    } else if (discriminant > 0) {
      if (decay * time >= UNDERFLOW || time === Infinity) return rest
      const envelope = Math.exp(-decay * time)
      // Without damping every period is the first one again.
      const angle = frequency * (decay === 0 ? time % this.response : time)
      cosine = envelope * Math.cos(angle)
      sine = (envelope * Math.sin(angle)) / frequency
    } else {
      const slow = stiffness / (decay + frequency)
      if (slow * time >= UNDERFLOW) return rest
      const envelope = Math.exp(-slow * time)
      const fast = Math.expm1(-2 * frequency * time)
      cosine = envelope * (1 + fast / 2)
      sine = (-envelope * fast) / (2 * frequency)
    }
    return { p: cosine + decay * sine, q: sine, dp: -stiffness * sine, dq: cosine - decay * sine }
  }

  state(from, to, velocity, time) {
    const b = this.basis(time)
    return [to + ((from - to) * b.p + velocity * b.q), (from - to) * b.dp + velocity * b.dq]
  }

  /** The last moment at which the spring is farther than `tolerance` from its target. */
  settlingTime(displacement, velocity, tolerance) {
    const y = (time) => {
      const b = this.basis(time)
      return displacement * b.p + velocity * b.q
    }
    const { decay, frequency } = this
    if (decay === 0) return Math.hypot(displacement, velocity / this.omega) > tolerance ? Infinity : 0
    const slope = this.stiffness * displacement + decay * velocity
    let first = 0
    let limit = Infinity
    if (this.discriminant > 0) {
      let angle = Math.atan2(velocity * frequency, slope)
      if (angle < 0) angle += Math.PI
      if (angle >= Math.PI) angle -= Math.PI
      const extremum = angle / frequency
      const half = Math.PI / frequency
      const peak = Math.abs(y(extremum))
      if (peak > tolerance) {
        // |y| shrinks by the same factor from one extremum to the next.
        let passed = Math.max(0, Math.ceil(Math.log(peak / tolerance) / (decay * half)) - 1)
        while (passed > 0 && Math.abs(y(extremum + passed * half)) <= tolerance) passed -= 1
        first = extremum + passed * half
        limit = first + half
      } else if (Math.abs(displacement) > tolerance) {
        limit = extremum
      } else {
        return 0
      }
    } else {
      // At most one extremum, where tanh(wt)/w (or t, when critical) equals this ratio.
      const ratio = velocity / slope
      let extremum = 0
      if (ratio > 0 && ratio < Infinity) {
        if (frequency === 0) extremum = ratio
        else if (ratio * frequency < 1) extremum = Math.atanh(ratio * frequency) / frequency
      }
      if (extremum > 0 && Math.abs(y(extremum)) > tolerance) first = extremum
      else if (Math.abs(displacement) > tolerance) limit = extremum > 0 ? extremum : Infinity
      else return 0
    }
    // From `first` on |y| falls through the tolerance once before `limit`.
    let step = 1 / Math.max(decay, this.omega)
    let low = first
    let high = Math.min(limit, first + step)
    while (high < limit && Math.abs(y(high)) > tolerance) {
      low = high
      step *= 2
      high = Math.min(limit, high + step)
    }
    for (;;) {
      const middle = (low + high) / 2
      if (middle === low || middle === high) return middle
      if (Math.abs(y(middle)) > tolerance) low = middle
      else high = middle
    }
  }
}

/** A thousandth of the distance, so that units do not matter. */
function settlingTolerance(distance, from, to, velocity, spring) {
  const reach = Math.abs(velocity) / spring.omega
  const resolution = Math.max(Math.abs(from), Math.abs(to)) * 2 ** -48
  return Math.max(SETTLING_TOLERANCE * Math.max(distance, reach / 100), resolution, 2.2250738585072014e-308)
}

/** CSS `cubic-bezier(x1, y1, x2, y2)`. */
export class Bezier {
  constructor(x1, y1, x2, y2) {
    this.points = [x1, y1, x2, y2]
  }

  sample(u) {
    if (u < 0) return [0, 0]
    if (u > 1) return [1, 0]
    const [x1, y1, x2, y2] = this.points
    if (u <= 0.5) return firstHalf(x1, y1, x2, y2, u)
    // From the nearer end: differences to 1 do not cancel there.
    const [value, slope] = firstHalf(1 - x2, 1 - y2, 1 - x1, 1 - y1, 1 - u)
    return [1 - value, slope]
  }
}

function firstHalf(x1, y1, x2, y2, u) {
  if (u === 0) {
    for (const [dx, dy] of [[x1, y1], [x2, y2]]) {
      if (dx !== 0) return [0, dy / dx]
      if (dy !== 0) return [0, dy < 0 ? -Infinity : Infinity]
    }
    return [0, 1]
  }
  const [ax, bx, cx] = [1 - 3 * (x2 - x1), 3 * (x2 - 2 * x1), 3 * x1]
  const [ay, by, cy] = [1 - 3 * (y2 - y1), 3 * (y2 - 2 * y1), 3 * y1]
  const s = parameter(ax, bx, cx, u)
  let dx = (3 * ax * s + 2 * bx) * s + cx
  let dy = (3 * ay * s + 2 * by) * s + cy
  if (dx === 0 && dy === 0) [dx, dy] = [6 * ax * s + 2 * bx, 6 * ay * s + 2 * by]
  return [((ay * s + by) * s + cy) * s, dx === 0 ? (dy < 0 ? -Infinity : Infinity) : dy / dx]
}

/** s with x(s) = u: Newton's method inside a bracket that only shrinks. */
function parameter(a, b, c, u) {
  let low = 0
  let high = 1
  let s = u
  for (let round = 0; round < 128; round++) {
    const error = ((a * s + b) * s + c) * s - u
    if (error === 0) return s
    if (error < 0) low = s
    else high = s
    const next = s - error / ((3 * a * s + 2 * b) * s + c)
    if (!(next > low && next < high)) {
      const middle = low + (high - low) / 2
      if (middle === low || middle === high) return middle
      s = middle
    } else if (next === s) {
      return s
    } else {
      s = next
    }
  }
  return s
}

/** 1 - sqrt(1 - u²) without cancellation near 0. */
function arc(u) {
  const root = Math.sqrt(Math.max(0, (1 - u) * (1 + u)))
  return [(u * u) / (1 + root), root === 0 ? Infinity : u / root]
}

/** A function of the part of the time that has passed, held at its ends. */
function held(sample) {
  return { sample: (u) => (u < 0 ? [0, 0] : u > 1 ? [1, 0] : sample(u)) }
}

/** Timing functions by name. */
export const TIMINGS = {
  __proto__: null,
  linear: new Bezier(0, 0, 1, 1),
  easeIn: new Bezier(0.42, 0, 1, 1),
  easeOut: new Bezier(0, 0, 0.58, 1),
  easeInOut: new Bezier(0.42, 0, 0.58, 1),
  circularEaseIn: held(arc),
  circularEaseOut: held((u) => {
    const [value, slope] = arc(1 - u)
    return [1 - value, slope]
  }),
  circularEaseInOut: held((u) => {
    const [value, slope] = arc(u < 0.5 ? 2 * u : 2 - 2 * u)
    return [u < 0.5 ? value / 2 : 1 - value / 2, slope]
  }),
}

const DEFAULT_DURATION = 0.35

/** A timing function over `length` seconds. */
class Eased {
  constructor(timing, length) {
    this.timing = timing
    this.length = this.logical = length
  }

  sample(time) {
    if (time >= this.length) {
      const isAtEnd = time === this.length && this.length > 0
      return [1, isAtEnd ? this.timing.sample(1)[1] / this.length : 0]
    }
    const [value, slope] = this.timing.sample(time / this.length)
    return [value, slope / this.length]
  }
}

/** A spring from rest, or with a velocity in distances per second. */
class Sprung {
  constructor(spring, velocity) {
    this.spring = spring
    this.velocity = velocity
    this.logical = spring.response
  }

  get length() {
    return this.spring.settlingTime(-1, this.velocity, SETTLING_TOLERANCE)
  }

  sample(time) {
    const b = this.spring.basis(time)
    return [1 - b.p + this.velocity * b.q, this.velocity * b.dq - b.dp]
  }
}

/** Keyframes on a time axis. */
export class Keyframes {
  #value
  #velocity = 0
  #initial

  constructor(frames, initial = 0) {
    this.segments = []
    this.length = 0
    this.#value = this.#initial = initial
    const parsed = frames.map((frame) => {
      const [kind, given] = call(frame)
      if (!['linear', 'cubic', 'spring', 'move'].includes(kind)) throw new RangeError(`unknown keyframe '${kind}'`)
      return [kind, named(kind, given)]
    })
    parsed.forEach(([kind, given], index) => this.#add(kind, given, parsed[index + 1]))
    this.logical = this.length
  }

  #add(kind, given, following) {
    const to = given.to
    const segment = { kind, start: this.length, length: 0, from: this.#value, to, startVelocity: 0, endVelocity: 0 }
    if (kind === 'linear') {
      segment.length = given.duration ?? DEFAULT_DURATION
      segment.timing = timingOf(given.timingCurve ?? 'linear')
      const ends = endVelocities(segment.timing, this.#value, to, segment.length)
      ;[segment.startVelocity, segment.endVelocity] = ends
    } else if (kind === 'spring') {
      segment.spring = springOf(given.spring ?? 'default')[0]
      segment.startVelocity = given.startVelocity ?? this.#velocity
      segment.length = given.duration ?? this.#settling(segment.spring, to, segment.startVelocity)
      segment.endVelocity = segment.spring.state(this.#value, to, segment.startVelocity, segment.length)[1]
    } else if (kind === 'cubic') {
      segment.length = given.duration ?? DEFAULT_DURATION
      segment.startVelocity = given.startVelocity ?? this.#velocity
      segment.endVelocity = given.endVelocity ?? this.#tangent(to, segment.length, following)
    }
    this.segments.push(segment)
    this.length += segment.length
    this.#value = to
    this.#velocity = segment.endVelocity
  }

  #settling(spring, to, velocity) {
    const distance = Math.max(Math.abs(to - this.#value), Math.abs(velocity) / spring.omega)
    if (distance === 0) return 0
    const time = spring.settlingTime(this.#value - to, velocity, SETTLING_TOLERANCE * distance)
    return time < Infinity ? time : spring.response
  }

  /** The velocity at the end of a cubic keyframe that names none. */
  #tangent(to, length, following) {
    if (!following || following[0] === 'move') return 0
    const [kind, given] = following
    if (kind === 'linear') {
      const timing = timingOf(given.timingCurve ?? 'linear')
      return endVelocities(timing, to, given.to, given.duration ?? DEFAULT_DURATION)[0]
    }
    if (given.startVelocity !== undefined) return given.startVelocity
    const next = given.duration ?? (kind === 'spring'
      ? springOf(given.spring ?? 'default')[0].settlingTime(-1, 0, SETTLING_TOLERANCE)
      : DEFAULT_DURATION)
    return length + next > 0 ? (given.to - this.#value) / (length + next) : 0
  }

  sample(time) {
    if (time < 0 || this.segments.length === 0) return [this.#initial, 0]
    const last = this.segments[this.segments.length - 1]
    if (time > this.length) return [last.spring ? sampleSegment(last, last.length)[0] : last.to, 0]
    const segment = this.segments.findLast((each) => each.start <= time)
    return sampleSegment(segment, time - segment.start)
  }
}

function sampleSegment(segment, time) {
  const { kind, length, from, to, startVelocity, endVelocity } = segment
  const rise = to - from
  if (kind === 'spring') return segment.spring.state(from, to, startVelocity, time)
  if (kind === 'move' || length <= 0) return [to, 0]
  const u = time / length
  if (kind === 'linear') {
    const [progress, slope] = segment.timing.sample(u)
    return [progress === 1 ? to : from + rise * progress, (rise * slope) / length]
  }
  if (u >= 1) return [to, endVelocity]
  const [m0, m1] = [startVelocity * length, endVelocity * length]
  const [c2, c3] = [3 * rise - 2 * m0 - m1, m0 + m1 - 2 * rise]
  return [from + u * (m0 + u * (c2 + u * c3)), (m0 + u * (2 * c2 + 3 * c3 * u)) / length]
}

function endVelocities(timing, from, to, length) {
  if (length <= 0 || from === to) return [0, 0]
  return [0, 1].map((u) => {
    const slope = timing.sample(u)[1]
    return Number.isFinite(slope) ? (slope * (to - from)) / length : 0
  })
}

/** Phases on a time axis. Each takes over value and velocity of the one before. */
class Phases {
  constructor(phases) {
    this.legs = []
    let clock = 0
    let end = 0
    let value = 0
    let velocity = 0
    for (const phase of phases) {
      const given = named('phase', call(phase)[1])
      const plan = Plan.of(given.animation ?? 'default')
      const leg = { start: clock, from: value, to: given.to, velocity, isJoined: this.legs.length > 0, plan }
      this.legs.push(leg)
      end = clock + settlingOf(leg)
      clock += plan.logical
      ;[value, velocity] = sampleLeg(leg, plan.logical)
    }
    this.logical = clock
    this.length = Math.max(end, clock)
  }

  sample(time) {
    if (time < 0 || this.legs.length === 0) return [0, 0]
    const leg = this.legs.findLast((each) => each.start <= time)
    if (leg === this.legs[this.legs.length - 1] && time >= this.length) return [leg.to, 0]
    return sampleLeg(leg, time - leg.start)
  }
}

function sampleLeg({ from, to, velocity, isJoined, plan }, time) {
  const w = plan.weights(time, isJoined)
  return [from + ((to - from) * w.f + velocity * w.g), (to - from) * w.df + velocity * w.dg]
}

function settlingOf({ from, to, velocity, plan }) {
  const spring = plan.freeSpring
  if (!spring) return plan.length
  const own = velocity / plan.speed
  return spring.settlingTime(from - to, own, settlingTolerance(Math.abs(to - from), from, to, own, spring)) / plan.speed
}

/** A curve with its modifiers, ready to be sampled. */
export class Plan {
  /** Outermost, which is the last written, first. */
  #steps = []
  #base
  #initialSlope = 0

  /** @param modifiers pairs of name and arguments, in the order of writing. */
  constructor(curve, modifiers) {
    const isFree = modifiers.every(
      ([name, given]) => ['speed', 'logicallyComplete', 'retarget'].includes(name) || (name === 'delay' && given.seconds === 0),
    )
    this.#base = baseOf(curve, !isFree)
    this.speed = 1
    this.length = this.#base.length
    this.logical = this.#base.logical
    /** Over this time an inherited velocity fades where the curve cannot carry one. */
    this.fade = this.length
    for (const [name, given] of modifiers) this.#modify(name, given)
    this.#steps.reverse()
    this.freeSpring = isFree && this.#base instanceof Sprung ? this.#base.spring : null
    if (!this.freeSpring) this.#initialSlope = this.progress(0)[1]
  }

  /** The plan of an animation in JSON form. */
  static of(animation) {
    if (typeof animation !== 'object' || !('curve' in animation)) return new Plan(animation, [])
    const modifiers = (animation.modifiers ?? []).map((modifier) => {
      const [name, given] = call(modifier)
      return [name, named(name, given)]
    })
    return new Plan(animation.curve, modifiers)
  }

  #modify(name, given) {
    if (name === 'delay') {
      if (given.seconds === 0) return
      this.length += given.seconds
      this.logical += given.seconds
      this.fade = given.seconds
      this.#steps.push({ delay: given.seconds })
    } else if (name === 'speed') {
      this.speed *= given.factor
      this.length /= given.factor
      this.logical /= given.factor
      this.fade /= given.factor
      this.#steps.push({ speed: given.factor })
    } else if (name === 'repeatCount' || name === 'repeatForever') {
      const pass = given.every ?? this.length
      const count = name === 'repeatCount' ? given.count : Infinity
      const every = given.autoreverses ?? true
      this.#steps.push({ count, pass, autoreverse: { true: 'mirror', false: 'none' }[every] ?? every })
      this.logical = count < Infinity ? (count - 1) * pass + Math.min(this.logical, pass) : Infinity
      this.length = count * pass
      this.fade = Math.min(this.fade, pass)
    } else if (name === 'logicallyComplete') {
      this.logical = given.after
    }
  }

  progress(time) {
    if (time < 0) return [0, 0]
    let scale = 1
    let isMirrored = false
    for (const step of this.#steps) {
      if (step.delay !== undefined) {
        time -= step.delay
        if (time < 0) return [isMirrored ? 1 : 0, 0]
      } else if (step.speed !== undefined) {
        time *= step.speed
        scale *= step.speed
      } else {
        if (!(time < step.count * step.pass)) return [isMirrored ? 0 : 1, 0]
        if (step.pass === Infinity) continue
        const rest = time % step.pass
        const isOdd = Math.round((time - rest) / step.pass) % 2 === 1
        time = rest
        if (isOdd && step.autoreverse === 'mirror') isMirrored = !isMirrored
        if (isOdd && step.autoreverse === 'reverse') {
          time = step.pass - time
          scale = -scale
        }
      }
    }
    const [value, slope] = this.#base.sample(time)
    return isMirrored ? [1 - value, -slope * scale] : [value, slope * scale]
  }

  /** value = from + (to - from) f + velocity g, with their slopes. */
  weights(time, isJoined) {
    if (this.freeSpring) {
      const b = this.freeSpring.basis(time * this.speed)
      return { f: 1 - b.p, df: -b.dp * this.speed, g: b.q / this.speed, dg: b.dq }
    }
    const [f, df] = this.progress(time)
    if (!isJoined || time >= this.fade) return { f, df, g: 0, dg: 0 }
    if (time <= 0) return { f: 0, df: 0, g: 0, dg: 1 }
    const left = 1 - time / this.fade
    const g = time * left * left
    const dg = left * (1 - (3 * time) / this.fade)
    if (Number.isFinite(this.#initialSlope)) {
      return { f: f - this.#initialSlope * g, df: df - this.#initialSlope * dg, g, dg }
    }
    // No finite correction undoes a vertical start: the curve is eased in.
    const ramp = 1 - left * left
    return { f: f * ramp, df: df * ramp + (f * 2 * left) / this.fade, g, dg }
  }
}

/** The argument that may stand without its name. */
const UNNAMED = { __proto__: null, delay: 'seconds', speed: 'factor', repeatCount: 'count', retarget: 'mode' }

/** A curve or modifier is its name, or an object with its name as the only key. */
function call(value) {
  if (typeof value === 'string') return [value, {}]
  const entries = Object.entries(value ?? {})
  if (entries.length !== 1) throw new RangeError(`not a curve or modifier: ${JSON.stringify(value)}`)
  const [name, given] = entries[0]
  return [name, given === null || given === true ? {} : given]
}

function named(name, given) {
  return typeof given === 'object' ? given : { [UNNAMED[name] ?? 'to']: given }
}

function timingOf(value) {
  const [name, given] = call(value)
  if (name === 'timingCurve') return new Bezier(given.x1, given.y1, given.x2, given.y2)
  if (name in TIMINGS) return TIMINGS[name]
  throw new RangeError(`unknown timing curve '${name}'`)
}

/** Usual duration and bounce of the springs with a name. */
const PRESETS = {
  __proto__: null,
  default: [0.5, 0],
  smooth: [0.5, 0],
  snappy: [0.5, 0.15],
  bouncy: [0.5, 0.3],
  spring: [0.5, 0],
  interactiveSpring: [0.15, 0.15],
  interpolatingSpring: [0.5, 0],
}

/** A spring, and the velocity with which it starts from rest. */
function springOf(value) {
  const [name, given] = call(value)
  if (!(name in PRESETS)) throw new RangeError(`unknown spring '${name}'`)
  const velocity = given.initialVelocity ?? 0
  if ('stiffness' in given) return [Spring.physical(given.mass ?? 1, given.stiffness, given.damping), velocity]
  const isInteractive = name === 'interactiveSpring'
  const hasDuration = 'duration' in given || 'bounce' in given || 'extraBounce' in given
  if ('response' in given || 'dampingFraction' in given || ((isInteractive || name === 'spring') && !hasDuration)) {
    const [response, fraction] = isInteractive ? [0.15, 0.86] : [0.5, 0.825]
    return [Spring.ofResponse(given.response ?? response, given.dampingFraction ?? fraction), velocity]
  }
  const [duration, bounce] = PRESETS[name]
  return [Spring.ofDuration(given.duration ?? duration, bounce + (given.extraBounce ?? given.bounce ?? 0)), velocity]
}

function baseOf(curve, keepsVelocity) {
  const [name, given] = call(curve)
  if (name === 'keyframes') return new Keyframes(given)
  if (name === 'phases') return new Phases(given)
  if (name === 'timingCurve' || name in TIMINGS) {
    return new Eased(timingOf(curve), named(name, given).duration ?? DEFAULT_DURATION)
  }
  const [spring, velocity] = springOf(curve)
  return new Sprung(spring, keepsVelocity ? velocity : 0)
}
