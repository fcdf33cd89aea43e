/** Plays the daemon's timelines with the browser's own animations. */

const reduced = matchMedia('(prefers-reduced-motion: reduce)')
/** Samples of a motion for which there is no easing. */
const STEP = 1 / 240
const LONGEST = 8

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
 * @param frame makes a keyframe from the components of a value. It must be linear in them.
 * @param clock reads the seconds of the daemon's monotonic clock.
 * @returns the running animation, or null if nothing moves.
 */
export function play(element, { timeline, css }, frame, clock) {
  const now = clock()
  if (!timeline || reduced.matches || timeline.isFinished(now)) return null
  const isPlain = css && !css.velocityEasing && (timeline.mode === 'replace' || timeline.mode === 'c1')
  return isPlain ? eased(element, timeline, css, frame, now) : sampled(element, timeline, frame, clock)
}

/** For people who look at animations in the browser's tools. */
function named(animation, { id }) {
  animation.id = `agd ${id}`
  return animation
}

function eased(element, timeline, css, frame, now) {
  const from = timeline.components(timeline.start)
  const to = timeline.components(Infinity)
  const at = (part) => frame(from.map((each, i) => each + (to[i] - each) * part))
  const keyframes = (css.keyframes ?? [0, 1]).map((part) => ({ ...at(part), easing: css.easing }))
  const endless = css.iterations === 'infinite' || css.iterations === null
  const animation = named(element.animate(keyframes, {
    duration: milliseconds(css.duration),
    delay: milliseconds(css.delay),
    iterations: endless ? Infinity : Number(css.iterations ?? 1),
    direction: css.direction ?? 'normal',
    fill: 'both',
  }), timeline)
  animation.currentTime = Math.max(0, (now - timeline.start) * 1000)
  animation.onfinish = () => animation.cancel()
  return animation
}

/** Combined motions have no single easing. Their closed form is sampled once. */
function sampled(element, timeline, frame, clock) {
  const now = clock()
  const length = Math.min(timeline.end - now, LONGEST)
  const count = Math.max(2, Math.ceil(length / STEP))
  const keyframes = Array.from({ length: count + 1 }, (_, i) => frame(timeline.components(now + (length * i) / count)))
  const animation = named(element.animate(keyframes, { duration: length * 1000, fill: 'both' }), timeline)
  animation.onfinish = () => {
    animation.cancel()
    // A motion that lasts longer continues with its next part.
    animation.next = element.isConnected && !timeline.isFinished(clock()) ? sampled(element, timeline, frame, clock) : null
  }
  return animation
}

/** Ends a motion, also if it has continued. */
export function stop(animation) {
  for (let each = animation; each; each = each.next) {
    each.onfinish = null
    each.cancel()
  }
}

const QUICK = { duration: 180, easing: 'cubic-bezier(0.2, 0, 0, 1)' }
/** Moving more elements than this costs more than it shows. */
const MOST_MOVING = 200

/** Performs a change of the layout and moves the elements from where they were. */
export function rearrange(elements, change) {
  if (reduced.matches || elements.length > MOST_MOVING) return change()
  const before = new Map(elements.filter((each) => each.isConnected).map((each) => [each, each.getBoundingClientRect()]))
  change()
  for (const [element, old] of before) {
    if (!element.isConnected) continue
    const box = element.getBoundingClientRect()
    const [x, y] = [old.left - box.left, old.top - box.top]
    if (Math.abs(x) + Math.abs(y) < 1) continue
    element.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: 'none' }], QUICK)
  }
}
