/** Plays the daemon's timelines with the browser's own animations. */

const reduced = matchMedia('(prefers-reduced-motion: reduce)')
/** Seconds of a motion without an easing that are sampled at once, and the least and greatest distance of two samples. */
const LONGEST = 60
const CLOSEST = 1 / 4000
const FARTHEST = 1 / 4
/** The part of a motion's range by which the line between two samples may differ from the closed form. */
const TOLERANCE = 2e-4

/** `1.5s` or `20ms` in milliseconds. */
function milliseconds(text) {
  if (!text) return 0
  const size = parseFloat(text)
  return String(text).endsWith('ms') ? size : size * 1000
}

/**
 * Starts the motion at its present position. The element must already have the style of the target.
 *
 * @param change a change of an update.
 * @param frame makes a keyframe from the components of a value. It must be linear in them, but a frame of one component
 *   may bend at the values `bends`.
 * @param clock reads the seconds of the daemon's monotonic clock.
 * @returns the running animation, or null if nothing moves.
 */
export function play(element, { timeline, css }, frame, clock, bends = []) {
  const now = clock()
  if (!timeline || reduced.matches || timeline.isFinished(now)) return null
  const isPlain = css && !css.velocityEasing && (timeline.mode === 'replace' || timeline.mode === 'c1')
  const keyframes = isPlain && keyframesOf(timeline, css, frame, bends)
  if (keyframes && isStill(keyframes)) return null
  return keyframes ? eased(element, timeline, css, keyframes, clock) : sampled(element, timeline, frame, clock, bends)
}

/** Browsers compute animations without an effect in each frame. */
function isStill([{ easing, offset, ...first }, ...others]) {
  return others.every((each) => Object.keys(first).every((name) => each[name] === first[name]))
}

/** For people who look at animations in the browser's tools. */
function named(animation, { id }) {
  animation.id = `agd ${id}`
  return animation
}

/** Null if an easing cannot play the frames. */
function keyframesOf(timeline, css, frame, bends) {
  const from = timeline.components(timeline.start)
  const to = timeline.components(Infinity)
  const at = (part) => frame(from.map((each, i) => each + (to[i] - each) * part))
  if (bends.length === 0) return (css.keyframes ?? [0, 1]).map((part) => ({ ...at(part), easing: css.easing }))
  if (css.keyframes) return null
  const parts = bends.map((bend) => (bend - from[0]) / (to[0] - from[0])).sort((a, b) => a - b)
  // Where a motion exceeds its ends, the outermost frames continue in their direction.
  if (parts.some((part) => isExceeded(css.easing, part))) return null
  return [0, ...parts.filter((part) => part > 0 && part < 1), 1].map((part) => ({ ...at(part), offset: part }))
}

/** Whether an easing may reach a part of the way that is not between its ends. */
function isExceeded(easing, part) {
  if (part >= 0 && part <= 1) return false
  const [, name, list] = /^([\w-]+)\((.*)\)$/.exec(easing) ?? []
  const values = name === 'linear' ? list.split(',').map(parseFloat) : name === 'cubic-bezier' ? [1, 3].map((i) => Number(list.split(',')[i])) : []
  return values.some((value) => (part < 0 ? value <= part : value >= part))
}

function eased(element, timeline, css, keyframes, clock) {
  const endless = css.iterations === 'infinite' || css.iterations === null
  const animation = named(element.animate(keyframes, {
    duration: milliseconds(css.duration),
    delay: milliseconds(css.delay),
    iterations: endless ? Infinity : Number(css.iterations ?? 1),
    direction: css.direction ?? 'normal',
    easing: keyframes[0].easing ? 'linear' : css.easing,
    fill: 'both',
  }), timeline)
  animation.startTime = startOf(timeline, clock)
  animation.onfinish = () => animation.cancel()
  return animation
}

/** The start on the browser's clock. An animation without a start begins a frame late. */
function startOf(timeline, clock) {
  return performance.now() + (timeline.start - clock()) * 1000
}

/** Combined motions have no single easing. Their closed form is sampled once, closely where it is curved. */
function sampled(element, timeline, frame, clock, bends) {
  const now = clock()
  const length = Math.min(timeline.end - now, LONGEST)
  const count = Math.ceil(length / FARTHEST)
  const points = Array.from({ length: count + 1 }, (_, i) => pointOf(timeline, now + (length * i) / count))
  const reach = (i) => Math.max(...points.map(({ values }) => values[i])) - Math.min(...points.map(({ values }) => values[i]))
  const tolerance = TOLERANCE * Math.max(...points[0].values.map((_, i) => reach(i)))
  const found = points.slice(1).flatMap((point, i) => between(timeline, points[i], point, tolerance, bends))
  const keyframes = [points[0], ...found].map(({ time, values }) => ({ ...frame(values), offset: Math.min(1, (time - now) / length) }))
  if (isStill(keyframes) && (now + length >= timeline.end || timeline.end === Infinity)) return null
  const timing = { duration: length * 1000, delay: (now - timeline.start) * 1000, fill: 'both' }
  const animation = named(element.animate(keyframes, timing), timeline)
  animation.startTime = startOf(timeline, clock)
  animation.onfinish = () => {
    animation.cancel()
    // A motion that lasts longer continues with its next part.
    animation.next = element.isConnected && !timeline.isFinished(clock()) ? sampled(element, timeline, frame, clock, bends) : null
  }
  return animation
}

function pointOf(timeline, time) {
  return { time, values: timeline.components(time) }
}

/** The points after the first one that are needed up to the last one, which is included. */
function between(timeline, first, last, tolerance, bends) {
  const length = last.time - first.time
  if (length <= CLOSEST) return [last]
  const at = (part) => pointOf(timeline, first.time + length * part)
  const isNear = ({ time, values }) => values.every((value, i) => {
    const line = first.values[i] + (last.values[i] - first.values[i]) * ((time - first.time) / length)
    return Math.abs(value - line) <= tolerance
  })
  const [from, to] = [first.values[0], last.values[0]]
  const hasBend = Math.abs(to - from) > tolerance && bends.some((bend) => (from - bend) * (to - bend) < 0)
  const middle = at(0.5)
  if (!hasBend && isNear(middle) && isNear(at(0.25)) && isNear(at(0.75))) return [last]
  return [...between(timeline, first, middle, tolerance, bends), ...between(timeline, middle, last, tolerance, bends)]
}

/** Ends a motion, also if it has continued. */
export function stop(animation) {
  for (let each = animation; each; each = each.next) {
    each.onfinish = null
    each.cancel()
  }
}

const QUICK = { duration: 180, easing: 'cubic-bezier(0.2, 0, 0, 1)', fill: 'both' }
const FADE = { duration: 100, fill: 'both' }
/** Moving more elements than this costs more than it shows. */
const MOST_MOVING = 200
/** An element that goes for longer than this many seconds is in the way. */
const LONGEST_GOING = 30

/** A keyframe of a transition at a part of the way: 0 is away, 1 is in place. `effects` are those of `structure` events. */
function transitionFrame(effects, element) {
  const isMirrored = getComputedStyle(element).direction === 'rtl'
  const edges = { top: [0, -100], bottom: [0, 100], leading: [isMirrored ? 100 : -100, 0], trailing: [isMirrored ? -100 : 100, 0] }
  return (part) => {
    const frame = {}
    const transforms = []
    const away = 1 - part
    for (const { opacity, scale, move, offset } of effects) {
      if (opacity) frame.opacity = String(Math.min(1, Math.max(0, part)))
      if (offset) transforms.push(`translate(${offset.x * away}px, ${offset.y * away}px)`)
      if (move) transforms.push(`translate(${edges[move.edge].map((each) => `${each * away}%`).join()})`)
      if (scale) transforms.push(`scale(${1 - (1 - scale.factor) * away})`)
    }
    if (transforms.length > 0) frame.transform = transforms.join(' ')
    return frame
  }
}

/**
 * The places of elements on a stage. When they change, elements move from where they were. Others come and go with
 * their transitions, and those that go stay in a layer of the stage meanwhile.
 */
export class Stage {
  #clock
  #layer
  /** By element: its holder in the layer, and how it goes. */
  #going = new Map()
  #coming = new WeakMap()
  #moving = new WeakMap()

  /** @param clock reads the seconds of the daemon's monotonic clock. */
  constructor(clock) {
    this.#clock = clock
    this.#layer = document.createElement('div')
    this.#layer.className = 'going'
    this.#layer.inert = true
  }

  /** It must be a child of the positioned element in which the elements are. */
  get layer() {
    return this.#layer
  }

  /**
   * @param elements finds the elements that are there, before and after the change.
   * @param options `change` changes their places. `motion` is the `{ timeline, css }` of a `structure` event, if there is one.
   *   `effects(element, isComing)` are those of an element's transition. `onGone(element)` is called when it can be freed.
   */
  rearrange(elements, { change, motion, effects, onGone = () => {} }) {
    const found = elements()
    if (document.hidden || found.length + this.#going.size > MOST_MOVING) {
      change()
      const kept = new Set(elements())
      for (const element of found) if (!kept.has(element)) onGone(element)
      for (const element of [...this.#going.keys()]) this.#end(element)
      return
    }
    const before = new Map([...found, ...this.#going.keys()].map((each) => [each, this.#placeOf(each)]))
    change()
    const after = new Set(elements())
    // First all places are read, so that the browser lays the page out once.
    const places = new Map([...after].map((each) => [each, this.#placeOf(each)]))
    for (const element of found) {
      if (!after.has(element)) this.#go(element, before.get(element), motion, effects(element, false), () => onGone(element))
    }
    for (const [element, place] of places) {
      const old = before.get(element)
      if (old) this.#move(element, old.x - place.x, old.y - place.y, motion)
      if (!old || this.#going.has(element)) this.#come(element, motion, effects(element, true))
    }
  }

  /** Without the motions that run. */
  #placeOf(element) {
    const holder = this.#going.get(element)?.holder
    if (holder) return { x: holder.offsetLeft, y: holder.offsetTop }
    // A heading that sticks to the edge has its place at the beginning of its section.
    const { offsetLeft: x, offsetTop: y } = element.localName === 'h2' ? element.parentElement : element
    const { width, height } = getComputedStyle(element)
    const { className, style } = element.closest('section') ?? this.#layer
    return { x, y, width, height, className, style: style.cssText }
  }

  #play(element, frame, motion) {
    const timeline = motion?.timeline
    if (reduced.matches || !timeline) return element.animate([frame([0]), frame([1])], reduced.matches ? FADE : QUICK)
    return play(element, motion, frame, this.#clock)
  }

  #move(element, x, y, motion) {
    if (reduced.matches || Math.abs(x) + Math.abs(y) < 1) return
    if (this.#moving.has(element)) {
      const [left, top = 0] = getComputedStyle(element).translate.split(' ').map(parseFloat)
      if (left) x += left
      if (top) y += top
      stop(this.#moving.get(element))
    }
    this.#moving.set(element, this.#run(element, ([part]) => ({ translate: `${x * (1 - part)}px ${y * (1 - part)}px` }), motion))
  }

  /** Plays a motion and forgets it at its end. */
  #run(element, frame, motion) {
    const animation = this.#play(element, frame, motion)
    if (animation && !animation.onfinish) animation.onfinish = () => animation.cancel()
    return animation
  }

  #come(element, motion, effects) {
    const gone = this.#going.get(element)
    // An element that was going returns on its way.
    const begin = gone?.part() ?? 0
    const shown = reduced.matches ? [{ opacity: {} }] : gone?.effects ?? effects
    if (gone) this.#leave(element)
    if (shown.length === 0) return
    const frame = transitionFrame(shown, element)
    this.#coming.set(element, this.#run(element, ([part]) => frame(begin + (1 - begin) * part), motion))
  }

  #go(element, place, motion, effects, onGone) {
    stop(this.#coming.get(element))
    const shown = reduced.matches ? [{ opacity: {} }] : effects
    const isEndless = motion?.timeline?.settle > LONGEST_GOING
    const given = isEndless ? null : motion
    if (shown.length === 0 || given?.timeline?.isFinished(this.#clock())) return onGone()
    const holder = document.createElement('div')
    holder.className = place.className
    holder.style.cssText = `${place.style}; left: ${place.x}px; top: ${place.y}px; width: ${place.width}; height: ${place.height}`
    holder.append(element)
    this.#layer.append(holder)
    const frame = transitionFrame(shown, element)
    const animation = this.#play(element, ([part]) => frame(1 - part), given)
    const part = () => (given?.timeline && !reduced.matches
      ? 1 - given.timeline.components(this.#clock())[0] : 1 - (animation.effect.getComputedTiming().progress ?? 1))
    this.#going.set(element, { holder, effects: shown, animation, part, onGone })
    animation.onfinish = () => this.#end(element)
  }

  #leave(element) {
    const { holder, animation } = this.#going.get(element)
    this.#going.delete(element)
    stop(animation)
    holder.remove()
  }

  #end(element) {
    const { onGone } = this.#going.get(element)
    this.#leave(element)
    onGone()
  }
}

/** The effects of the transition of an element's node, or of the outermost node around it that comes or goes. */
export function effectsOf(element, motion, isComing) {
  const path = element.dataset.path ?? element.parentElement.dataset.key
  for (const { index } of `${path}/`.matchAll(/[/.]/g)) {
    const given = index > 0 && motion?.transitions[path.slice(0, index)]
    if (given) return (isComing ? given.insertion : given.removal) ?? [{ opacity: {} }]
  }
  return [{ opacity: {} }]
}

/** Gives an element these children. Those that keep their order stay in the document, with their focus and scrolling. */
export function put(parent, children) {
  const kept = new Set(children)
  for (const each of [...parent.children]) if (!kept.has(each)) each.remove()
  let next = parent.firstElementChild
  for (const each of children) {
    if (each === next) next = next.nextElementSibling
    else parent.insertBefore(each, next)
  }
}
