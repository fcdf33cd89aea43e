/** Charts around a moment of the past that is older than their window: their lines come from the archive. */

import { charts, History, States } from './chart.js'
import { says } from './language.js'

/** Stretches of a line. */
const POINTS = 240

const iso = (wall) => new Date(wall * 1000).toISOString()

/** Shows a window of the past in a chart: its `end`, and the `pasts` of the series. Null: the present one. */
function show(view, earlier) {
  const { card, line } = view
  card.earlier = earlier
  if (line) line.histories = card.shownPasts
  const times = view.plot.nextElementSibling
  if (times?.classList.contains('times')) times.firstChild.data = earlier ? '' : says.now
  view.tick()
}

/** True if a chart shows a moment, in seconds since 1970. */
function has({ card, span }, moment) {
  const ago = card.wall(card.edge) - moment
  return ago <= span && ago >= 0
}

/** What the archive tells of an attribute, as a chart keeps it. */
function pastOf(found, { card, line, span }, from, step, end) {
  if (line) {
    const history = new History(span)
    const known = found.least.map((low, i) => ({ time: from + i * step, low, high: found.greatest[i] })).filter(({ low }) => low !== null)
    history.fill(known, step, end)
    return history
  }
  const states = new States()
  for (const each of found.steps ?? []) {
    const time = Date.parse(each.time) / 1000 - card.wall(0)
    if ('value' in each && each.value !== null && typeof each.value !== 'object') states.add(each.value, time)
    else states.interrupt(time)
  }
  states.interrupt(end)
  return states
}

/**
 * Brings charts to a moment, in seconds since 1970; null: to the present.
 * @param isWanted says whether the page still shows it when the archive has answered.
 * @returns false if the archive tells nothing. Charts then keep their windows.
 */
export async function showAround(past, moment, isWanted) {
  const own = [...charts].filter(({ card }) => card.seek)
  const isNear = (view) => moment === null || view.card.wall(view.card.now) - moment <= view.span
  for (const view of own) if (view.card.earlier && isNear(view)) show(view, null)
  const views = own.filter((view) => !isNear(view) && !has(view, moment))
  const groups = Map.groupBy(views, ({ span, line }) => `${span} ${Boolean(line)}`)
  for (const group of groups.values()) {
    const [{ span, line }] = group
    const paths = [...new Set(group.flatMap(({ card }) => card.series.map(({ path }) => path)))]
    const from = moment - span / 2
    let found
    try {
      [found] = await past.ask(['series', { paths, from: iso(from), to: iso(from + span), points: POINTS, changes: !line }])
    } catch {
      return false
    }
    if (!isWanted()) return false
    const byPath = new Map(found.series.map((each) => [each.path, each]))
    for (const view of group) {
      const begin = from - view.card.wall(0)
      const none = { least: [], greatest: [] }
      const pasts = view.card.series.map(({ path }) => pastOf(byPath.get(path) ?? none, view, begin, found.step, begin + span))
      show(view, { end: begin + span, pasts })
    }
  }
  return true
}
