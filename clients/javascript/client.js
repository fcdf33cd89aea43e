/** The client without its transport, which is a Unix socket (node.js) or the gateway (gateway.js). */

import { AttributeFailed, ConnectionLost, Ended, Refused, TimedOut } from './errors.js'
import { Attempts, Backoff, checkedRetry, contentOf, isAway, resultOf, seconds } from './requests.js'
import { Timeline } from './timeline.js'

export { PARAMETERS } from './requests.js'

/**
 * A connection to the daemon. Values are JSON as in Protocol.md: times and colours are strings. Integers
 * beyond 2^53 lose digits, as everywhere in JavaScript.
 *
 * If the connection breaks before the answer to a request arrives, the request fails with
 * `ConnectionLost`. Without `retry` it is not repeated, because the daemon may have performed it.
 *
 * With `retry`, the client waits for a daemon that is not there, and repeats what was under way when the
 * connection broke. `set`, `add`, `toggle`, `transact` and `do` carry an identifier (`once`), so that the
 * daemon performs them once. `apply`, `remove`, `restore`, `move` and `prune` are repeated only if they were not sent.
 * Requests that a program has not waited for may be performed in another order.
 */
export class Client {
  #transport
  #retry
  /** Ends of the waits of requests that will be repeated. */
  #waits = new Set()

  constructor(transport, retry = null) {
    this.#transport = transport
    this.#retry = checkedRetry(retry)
  }

  /** Sends any request and returns its result as JSON. Undefined parameters are omitted. */
  async call(method, params = {}) {
    const attempts = new Attempts(method, params, this.#retry)
    for (;;) {
      try {
        return resultOf(await this.#transport.exchange(method, attempts.params))
      } catch (error) {
        await this.#rest(attempts.pause(error))
      }
    }
  }

  #rest(pause) {
    return new Promise((resolve, reject) => {
      const end = (finish, value) => {
        clearTimeout(timer)
        this.#waits.delete(wait)
        finish(value)
      }
      const timer = setTimeout(() => end(resolve), pause)
      const wait = () => end(reject, new ConnectionLost('the client was closed'))
      this.#waits.add(wait)
    })
  }

  /**
   * The value of one attribute.
   * @param options `presentation`: true for the displayed value instead of the model value.
   * @throws AttributeFailed if the attribute has an error instead of a value.
   */
  async get(path, { presentation } = {}) {
    const found = contentOf(await this.call('get', { path, presentation }))
    if (found instanceof AttributeFailed) throw found
    return found
  }

  /**
   * Several attributes at one revision, by path. Patterns stand for the paths that they match now. An
   * attribute with an error has an `AttributeFailed` as its value.
   */
  async getAll(paths, { presentation } = {}) {
    const { values } = await this.call('get', { paths, presentation })
    return Object.fromEntries(Object.entries(values).map(([path, given]) => [path, contentOf(given)]))
  }

  /**
   * Writes one value.
   * @param options `animation`, `label`, `disablesAnimations`, `once`: an identifier of the request, with which
   *   it is performed once although it is sent again.
   * @returns the revision of the change.
   */
  async set(path, value, options = {}) {
    return (await this.call('set', { path, value, ...options })).revision
  }

  async toggle(path, options = {}) {
    return this.transact([{ op: 'toggle', path }], options)
  }

  /** Adds to a number, a duration or a timestamp. No other client's change is lost in between. */
  async add(path, amount, options = {}) {
    return this.transact([{ op: 'add', path, value: amount }], options)
  }

  /** Commits mutations, all or none, as one revision. */
  async transact(mutations, options = {}) {
    return (await this.call('transact', { mutations, ...options })).revision
  }

  /**
   * Calls an action of a node. What it writes is committed together, all or none.
   * @param given the action's parameters by name.
   */
  async do(path, given = {}, options = {}) {
    return (await this.call('do', { path, arguments: given, ...options })).revision
  }

  /**
   * Mutations that the daemon commits when this client disconnects for any reason. Each connection begins
   * with them, also the first one if no daemon answers now. If the daemon refuses them then, the request
   * that opened the connection fails with the refusal and is not sent. Later connections do without them.
   * @returns the revision, or null if no daemon has confirmed them yet.
   */
  async onDisconnect(mutations, options = {}) {
    return this.#transport.leave({ mutations, ...options })
  }

  /** Evaluates a rule once and returns its value. */
  async eval(expression, { at, bindings } = {}) {
    const found = contentOf(await this.call('eval', { expression, at, bindings }))
    if (found instanceof AttributeFailed) throw found
    return found
  }

  /** Checks a whole scene document, then creates, merges or replaces its nodes. */
  async apply(document, options = {}) {
    return this.call('apply', { document, ...options })
  }

  async remove(path, options = {}) {
    return (await this.call('remove', { path, ...options })).revision
  }

  async restore(path, options = {}) {
    return (await this.call('restore', { path, ...options })).revision
  }

  async move(path, options = {}) {
    return (await this.call('move', { path, ...options })).revision
  }

  async ping() {
    await this.call('ping')
  }

  async describe(path, options = {}) {
    return this.call('describe', { path, ...options })
  }

  /** The cards of a node and all below it, in rows; or the card of an attribute, which `panel` describes. */
  async board(path = '/', { panel } = {}) {
    return this.call('board', { path, panel })
  }

  async explain(path, options = {}) {
    return this.call('explain', { path, ...options })
  }

  async history(path) {
    return this.call('history', { path })
  }

  async dump(path, options = {}) {
    return this.call('dump', { path, ...options })
  }

  /** Deletes the stored rows of nodes that do not exist; resolves to their number. */
  async prune() {
    return (await this.call('prune')).pruned
  }

  async stats() {
    return this.call('stats')
  }

  /**
   * Events of the paths or patterns, first the present values: `for await (const event of watch)`.
   * @param paths one or several.
   * @param options those of `subscribe` in Protocol.md, and `onLive`: called with false when the
   *   connection is lost and with true when it is back.
   */
  watch(paths, { onLive, ...options } = {}) {
    return new Watch(this.#transport, { paths: [paths].flat(), ...options }, onLive, this.#retry)
  }

  /**
   * Waits until `predicate` is true of the value of an attribute, and resolves to the value. While the
   * attribute has an error, it waits. It goes on after a loss of the connection.
   * @param options `timeout`: maximum milliseconds, also for a daemon that is not there.
   * @throws TimedOut with the last value.
   */
  async waitFor(path, predicate, { timeout = null } = {}) {
    const watch = this.watch(path)
    let wasLive = false
    const timer = timeout === null || timeout === Infinity ? null : setTimeout(() => {
      wasLive = watch.isLive
      watch.close()
    }, timeout)
    let state = 'no value came'
    try {
      for await (const update of watch) {
        for (const { value } of update.details.values()) {
          if (value instanceof AttributeFailed) state = `it has an error: ${value.reason}`
          else if (predicate(value)) return value
          else state = `its value is ${JSON.stringify(value)}`
        }
      }
    } finally {
      clearTimeout(timer)
      watch.close()
    }
    throw new TimedOut(`waited ${seconds(timeout)} for ${path}; ${state}${wasLive ? '' : '; the connection is lost'}`)
  }

  /** Ends the connection. The daemon then commits the changes of `onDisconnect`. */
  async close() {
    for (const wait of [...this.#waits]) wait()
    await this.#transport.close()
  }
}

/** The changes of one transaction, or of several that were merged. Never a part of one. */
export class Update {
  constructor({ revision, changes, initial = false, label, writer, from }) {
    this.revision = revision
    /** True if it replaces all known values. */
    this.initial = initial
    this.label = label
    /** With `writers`: who wrote. */
    this.writer = writer
    /** The first revision, if it spans several. */
    this.from = from
    /** By path, each attribute once: `value` and possibly `timeline`. */
    this.details = new Map(changes.map((each) => [each.path, new Change(each)]))
  }

  /** The new values by path. */
  get changes() {
    return Object.fromEntries([...this.details].map(([path, { value }]) => [path, value]))
  }
}

/** The change of an attribute. */
export class Change {
  constructor(given) {
    /** An `AttributeFailed` if its rule failed, or if it was removed (`code` is then `removed`). */
    this.value = contentOf(given)
    this.timeline = given.timeline ? new Timeline(given.timeline) : null
    /** The easing that a browser plays by itself, if the subscription has `css`. */
    this.css = given.timeline?.css ?? null
    /** With `reports`: when the value was last reported, in seconds of the daemon's monotonic clock. */
    this.reported = given.reported ?? null
  }

  /** The value displayed at a moment of the daemon's monotonic clock. */
  displayed(at) {
    return this.timeline ? this.timeline.value(at, this.value) : this.value
  }
}

/**
 * Events of a subscription, without end: `Update` objects; other events are plain objects with `method`
 * and the fields of Protocol.md.
 *
 * If the connection is lost, it reconnects and continues where it was. The last value of every path always
 * arrives; values in between may be skipped. Only the failure of the first connection is an error; with the
 * client's `retry`, after that time.
 */
export class Watch {
  #transport
  #params
  #onLive
  #stream = null
  #epoch = ''
  #isKnown = false
  #isClosed = false
  #first
  #backoff = new Backoff()
  /** A stream without an answer to its subscription. */
  #opening = null
  #wake = null

  /** The present values by path, as far as updates have contained them. */
  values = {}
  /** The position from which another process could continue; null before the first snapshot. */
  position

  constructor(transport, { since = null, ...params }, onLive = () => {}, retry = null) {
    this.#transport = transport
    this.#params = params
    this.#first = new Attempts('subscribe', { path: params.paths.join(', ') }, retry)
    this.#onLive = onLive
    this.position = since
  }

  /** False while the connection is lost. Known values may then be out of date. */
  get isLive() {
    return this.#stream !== null
  }

  [Symbol.asyncIterator]() {
    return this
  }

  /** Subscribes. Otherwise, the first `next` does. */
  async open() {
    while (!this.#stream && !this.#isClosed) {
      try {
        await this.#subscribe()
      } catch (error) {
        if (!this.#isClosed) await this.#rest(this.#pauseAfter(error))
      }
    }
  }

  async #subscribe() {
    const params = { ...this.#params, ...(this.position ? { since: this.position } : {}) }
    const stream = await this.#transport.subscribe(params)
    this.#opening = stream
    try {
      if (this.#isClosed) return stream.close()
      this.#accept(resultOf(await stream.reply))
    } catch (error) {
      stream.close()
      throw error
    } finally {
      this.#opening = null
    }
    if (this.#isClosed) return stream.close()
    this.#stream = stream
    this.#backoff = new Backoff()
    if (this.#isKnown) this.#onLive(true)
    this.#isKnown = true
  }

  async next() {
    while (!this.#isClosed) {
      try {
        if (!this.#stream) await this.#subscribe()
        const message = await this.#stream?.next()
        const event = message && this.#receive(message)
        if (event) return { value: event, done: false }
      } catch (error) {
        if (this.#isClosed) break
        let pause
        try {
          pause = this.#pauseAfter(error)
        } catch (reason) {
          this.close()
          throw reason
        }
        await this.#rest(pause)
      }
    }
    return { value: undefined, done: true }
  }

  async return() {
    this.close()
    return { value: undefined, done: true }
  }

  /** Ends the watch and its iteration. */
  close() {
    this.#isClosed = true
    this.#opening?.close()
    this.#stream?.close()
    this.#stream = null
    this.#wake?.()
  }

  get #hearsUpdates() {
    return (this.#params.events ?? ['update']).includes('update')
  }

  #accept({ epoch, revision, resumed }) {
    this.#epoch = epoch
    if (resumed === true && this.#hearsUpdates) return
    const awaitsSnapshot = this.#hearsUpdates && ((this.#params.initial ?? true) || resumed !== undefined)
    this.position = awaitsSnapshot ? null : { epoch, revision }
  }

  #receive({ method, params }) {
    if (method === 'ended') throw new Ended(params.code, params.reason)
    const event = method === 'update' ? new Update(params) : { method, ...params }
    if (method === 'update') this.#keep(event)
    // The position advances only when everything up to it has arrived.
    const isPlace = ['update', 'bookmark'].includes(method) ||
      (!this.#hearsUpdates && ['invalidate', 'structure', 'completion'].includes(method))
    if (isPlace && (this.position || event.initial || method === 'bookmark' || !this.#hearsUpdates)) {
      this.position = { epoch: this.#epoch, revision: params.revision }
    }
    return event
  }

  #keep(update) {
    if (update.initial) this.values = {}
    for (const [path, { value }] of update.details) {
      if (value instanceof AttributeFailed && value.code === 'removed') delete this.values[path]
      else this.values[path] = value
    }
  }

  /** Milliseconds until the next attempt. Throws the error if there is none. */
  #pauseAfter(error) {
    const wasLive = this.isLive
    this.#stream?.close()
    this.#stream = null
    if (!this.#isKnown) return this.#first.pause(error)
    if (error instanceof Refused) {
      // A daemon that has just started may not have loaded the scene yet, or may be full.
      if (!['notFound', 'limit', 'unavailable'].includes(error.code)) throw error
    } else {
      if (!isAway(error)) throw error
      if (wasLive) this.#onLive(false)
    }
    return this.#backoff.pause()
  }

  #rest(pause) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pause)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
