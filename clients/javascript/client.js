/** The client without its transport, which is a Unix socket (node.js) or the gateway (gateway.js). */

import { AttributeFailed, ConnectionLost, Ended, Refused, Unreachable } from './errors.js'
import { Timeline } from './timeline.js'

/** The parameters of every method. A test compares this table with the daemon's own description. */
export const PARAMETERS = {
  hello: ['client', 'as'],
  ping: [],
  get: ['path', 'paths', 'presentation', 'typed'],
  set: ['path', 'value', 'animation', 'disablesAnimations', 'label', 'typed', 'elapsed', 'once'],
  transact: ['mutations', 'animation', 'disablesAnimations', 'label', 'typed', 'elapsed', 'once', 'motions'],
  do: ['path', 'arguments', 'animation', 'disablesAnimations', 'label', 'typed', 'elapsed', 'once'],
  onDisconnect: ['mutations', 'animation', 'disablesAnimations', 'label', 'typed'],
  subscribe: ['paths', 'events', 'initial', 'since', 'maxRate', 'frames', 'css', 'bookmarks', 'typed', 'writers', 'reports'],
  unsubscribe: ['subscription'],
  apply: ['document', 'at', 'mode', 'dryRun', 'animation', 'disablesAnimations', 'label'],
  remove: ['path', 'animation', 'disablesAnimations', 'label'],
  move: ['path', 'to', 'index', 'animation', 'disablesAnimations', 'label'],
  delegate: ['path'],
  answer: ['forward', 'result', 'error'],
  describe: ['path', 'depth'],
  board: ['path', 'panel'],
  explain: ['path', 'revision'],
  history: ['path'],
  dump: ['path', 'format'],
  stats: ['format'],
  prune: [],
  trace: ['enable'],
  eval: ['expression', 'bindings', 'at', 'typed'],
}

/** The result of a reply. */
function resultOf(reply) {
  if (reply.error) throw failureOf(reply.error.message, reply.error.data)
  return reply.result
}

/** A request without an answer may have been performed, so it was not refused. */
function failureOf(message, data) {
  return data?.code === 'unavailable' && message.startsWith('outcome unknown') ? new ConnectionLost(message) : new Refused(message, data)
}

/** A value, or the failure instead of it. */
function contentOf(given) {
  return given.error ? new AttributeFailed(given.error) : given.value
}

/**
 * A connection to the daemon. Values are JSON as in Protocol.md: times and colours are strings. Integers
 * beyond 2^53 lose digits, as everywhere in JavaScript.
 *
 * If the connection breaks before the answer to a request arrives, the request fails with
 * `ConnectionLost`. It is not repeated, because the daemon may have performed it.
 */
export class Client {
  #transport

  constructor(transport) {
    this.#transport = transport
  }

  /** Sends any request and returns its result as JSON. Undefined parameters are omitted. */
  async call(method, params = {}) {
    return resultOf(await this.#transport.exchange(method, params))
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
   * Mutations that the daemon commits when this client disconnects for any reason. After a loss of the
   * connection, the next request sends them again.
   */
  async onDisconnect(mutations, options = {}) {
    return (await this.call('onDisconnect', { mutations, ...options })).revision
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
    return new Watch(this.#transport, { paths: [paths].flat(), ...options }, onLive)
  }

  /** Ends the connection. The daemon then commits the changes of `onDisconnect`. */
  async close() {
    await this.#transport.close()
  }
}

/** The changes of one transaction, or of several that were merged. Never a part of one. */
export class Update {
  constructor({ revision, changes, initial = false, label, from }) {
    this.revision = revision
    /** True if it replaces all known values. */
    this.initial = initial
    this.label = label
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
 * arrives; values in between may be skipped. Only the failure of the first connection is an error.
 */
export class Watch {
  #transport
  #params
  #onLive
  #stream = null
  #epoch = ''
  #isKnown = false
  #isClosed = false
  #pause = 50
  #wake = null

  /** The present values by path, as far as updates have contained them. */
  values = {}
  /** The position from which another process could continue; null before the first snapshot. */
  position

  constructor(transport, { since = null, ...params }, onLive = () => {}) {
    this.#transport = transport
    this.#params = params
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
    const params = { ...this.#params, ...(this.position ? { since: this.position } : {}) }
    const stream = await this.#transport.subscribe(params)
    try {
      this.#accept(resultOf(await stream.reply))
    } catch (error) {
      stream.close()
      throw error
    }
    if (this.#isClosed) return stream.close()
    this.#stream = stream
    this.#pause = 50
    if (this.#isKnown) this.#onLive(true)
    this.#isKnown = true
  }

  async next() {
    while (!this.#isClosed) {
      try {
        if (!this.#stream) await this.open()
        const message = await this.#stream?.next()
        const event = message && this.#receive(message)
        if (event) return { value: event, done: false }
      } catch (error) {
        if (this.#isClosed) break
        if (!this.#mayRetry(error)) {
          this.close()
          throw error
        }
        await this.#rest()
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

  #mayRetry(error) {
    const wasLive = this.isLive
    this.#stream?.close()
    this.#stream = null
    if (!this.#isKnown || error instanceof Ended) return false
    // A daemon that has just started may not have loaded the scene yet, or may be full.
    if (error instanceof Refused) return ['notFound', 'limit', 'unavailable'].includes(error.code)
    if (!(error instanceof ConnectionLost || error instanceof Unreachable)) return false
    if (wasLive) this.#onLive(false)
    return true
  }

  /** Doubles each time, up to two seconds. */
  #rest() {
    const pause = this.#pause
    this.#pause = Math.min(2 * pause, 2000)
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pause)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
