/**
 * The past, as agd-past tells it by way of the gateway, and the moment of it that the page shows. The page computes nothing of
 * the past itself.
 */

import { hold } from './crosshair.js'
import { AttributeFailed, ConnectionLost, Refused } from './gateway.js'

const HOME = new URL('/', import.meta.url)
/** Milliseconds after which an answer is not waited for any more. */
const PATIENCE = 30_000

function refusalOf(error) {
  return new Refused(error.message, error.data ?? error)
}

/** The connection of this page. The gateway makes it when it is needed, and ends it when it is not used for a minute. */
export class Past {
  #page = Math.random().toString(36).slice(2)

  /** Performs calls, each `[method, params]`, one after the other, and gives their results. */
  async ask(...calls) {
    let replies
    try {
      const response = await fetch(new URL(`past?page=${this.#page}`, HOME), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }))),
        signal: AbortSignal.timeout(PATIENCE),
      })
      replies = await response.json()
    } catch {
      throw new ConnectionLost(`no gateway answers at ${HOME.href}`)
    }
    if (!Array.isArray(replies)) throw refusalOf(replies.error)
    return replies.map(({ result, error }) => {
      if (error) throw refusalOf(error)
      return result
    })
  }

  /** The values below a node at a moment, by path, and what else is asked about that moment. */
  async valuesAt(time, root, ...calls) {
    const pattern = root === '/' ? '/**' : `${root}/**`
    const [, { values }, ...results] = await this.ask(['seek', { time }], ['get', { paths: [pattern] }], ...calls)
    const entries = Object.entries(values).map(([path, { value, error }]) => [path, error ? new AttributeFailed(error) : value])
    return [new Map(entries), ...results]
  }
}

/** Takes a board to moments: to one at a time, in a frame each, and the latest wish counts. */
export class Look {
  #past
  #board
  #root
  #changed
  #isBusy = false
  #isWaiting = false
  /** What the board shows of the past: its values, and its cards as JSON; null if it shows something else. */
  #shown = null

  /** The moment: `wall` in seconds since 1970, and the `time` as agd-past knows it; null: now. */
  moment = null

  /**
   * @param options `past`, `board` (an element), `root` (gives the board's node), `changed` (called when the page shows another
   *   moment), `explain` (makes words of an error).
   */
  constructor({ past, board, root, changed, explain }) {
    Object.assign(this, { explain })
    this.#past = past
    this.#board = board
    this.#root = root
    this.#changed = changed
  }

  go(moment) {
    if (!moment && !this.moment) return
    this.moment = moment
    hold(moment?.wall ?? null)
    this.#changed(moment)
    this.#isWaiting = true
    if (!this.#isBusy) this.#run()
  }

  async #run() {
    this.#isBusy = true
    while (this.#isWaiting) {
      this.#isWaiting = false
      const { moment } = this
      const found = moment && (await this.#read(moment))
      if (!moment) this.#shown = null
      // The way back to now is not delayed by a moment that nobody wants any more.
      if (moment && !this.moment) continue
      await new Promise(requestAnimationFrame)
      await this.#board.showPast(found)
    }
    this.#isBusy = false
  }

  async #read({ wall, time }) {
    try {
      const [values, found] = await this.#past.valuesAt(time, this.#root(), ['board', { path: this.#root() }])
      const before = this.#shown
      const { revision, ...board } = found
      this.#shown = { values, board: JSON.stringify(board) }
      const changed = before && new Set([...values].filter(([path, value]) => !isEqual(value, before.values.get(path))).map(([path]) => path))
      const explain = async (path) => (await this.#past.ask(['seek', { time }], ['explain', { path }]))[1]
      return { moment: wall, values, changed, explain, board: this.#shown.board === before?.board ? null : found }
    } catch (error) {
      this.#shown = null
      return { moment: wall, fault: this.explain(error) }
    }
  }
}

function isEqual(a, b) {
  return a === b || (a !== null && typeof a === 'object' && !(a instanceof AttributeFailed) && JSON.stringify(a) === JSON.stringify(b))
}
