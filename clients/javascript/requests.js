/** Requests: their parameters, their answers, and how they are repeated. */

import { AttributeFailed, ConnectionLost, NoRoom, Refused, TimedOut, Unreachable } from './errors.js'

/** The parameters of every method. A test compares this table with the daemon's own description. */
export const PARAMETERS = {
  hello: ['client', 'as', 'time'],
  ping: [],
  get: ['path', 'paths', 'presentation', 'typed'],
  set: ['path', 'value', 'animation', 'disablesAnimations', 'label', 'typed', 'elapsed', 'once'],
  transact: ['mutations', 'animation', 'disablesAnimations', 'label', 'typed', 'elapsed', 'once', 'motions'],
  do: ['path', 'arguments', 'animation', 'disablesAnimations', 'label', 'typed', 'elapsed', 'once'],
  onDisconnect: ['mutations', 'animation', 'disablesAnimations', 'label', 'typed'],
  subscribe: ['paths', 'events', 'initial', 'since', 'maxRate', 'frames', 'css', 'bookmarks', 'typed', 'writers', 'reports'],
  unsubscribe: ['subscription'],
  apply: ['document', 'at', 'mode', 'layer', 'if', 'dryRun', 'animation', 'disablesAnimations', 'label'],
  remove: ['path', 'layer', 'animation', 'disablesAnimations', 'label'],
  restore: ['path', 'animation', 'disablesAnimations', 'label'],
  move: ['path', 'to', 'index', 'animation', 'disablesAnimations', 'label'],
  delegate: ['path'],
  answer: ['forward', 'result', 'error'],
  describe: ['path', 'depth'],
  board: ['path', 'panel'],
  explain: ['path', 'revision'],
  history: ['path'],
  dump: ['path', 'format', 'layer'],
  layers: ['path'],
  stats: ['format'],
  prune: [],
  trace: ['enable'],
  eval: ['expression', 'bindings', 'at', 'typed'],
  log: ['paths', 'from', 'to', 'by', 'label', 'count', 'brief', 'structure'],
  series: ['from', 'paths', 'expression', 'at', 'to', 'points', 'changes', 'typed'],
  seek: ['time'],
  play: ['speed'],
}

/** Requests that may be performed twice, because they change nothing, or nothing but the connection. */
export const HARMLESS = new Set([
  'hello', 'ping', 'get', 'onDisconnect', 'subscribe', 'unsubscribe', 'describe', 'board', 'explain', 'history', 'dump', 'layers', 'stats', 'eval', 'log', 'series',
])

/** The code of JSON-RPC for a request that the daemon understands and refuses. */
const REFUSED = -32000

/** The result of a reply. */
export function resultOf(reply) {
  if (!reply.error) return reply.result
  const { code, message, data } = reply.error
  // A request without an answer may have been performed, so it was not refused.
  if (data?.code === 'unavailable' && message.startsWith('outcome unknown')) throw new ConnectionLost(message)
  throw reply.id === null && code === REFUSED ? new NoRoom(message, data) : new Refused(message, data)
}

/** A value, or the failure instead of it. */
export function contentOf(given) {
  return given.error ? new AttributeFailed(given.error) : given.value
}

/** The waits before attempts to connect, in milliseconds. They double, up to two seconds. */
export class Backoff {
  #next = 50

  pause() {
    const pause = this.#next
    this.#next = Math.min(2 * pause, 2000)
    return pause
  }
}

/** True if no daemon answers, whatever the request is. */
export function isAway(error) {
  return error instanceof Unreachable || error instanceof ConnectionLost || error instanceof TimedOut || error instanceof NoRoom
}

/**
 * The attempts to send one request, of which none begins after `retry` milliseconds. The request gets an
 * identifier (`once`), so that the daemon performs it once although it may be sent several times.
 */
export class Attempts {
  #method
  #retry
  #begin = performance.now()
  #count = 0
  #backoff = new Backoff()
  /** The error of an attempt that the daemon may have performed. */
  #unknown = null

  constructor(method, params, retry) {
    this.#method = method
    this.#retry = retry
    this.params = retry !== null && this.#hasOnce ? { ...params, once: params.once ?? newIdentifier() } : params
  }

  get #hasOnce() {
    return PARAMETERS[this.#method]?.includes('once') ?? false
  }

  /** True if a request is safe that may have been performed already. */
  get #mayBeRepeated() {
    return this.#hasOnce ? this.params.once !== undefined : HARMLESS.has(this.#method)
  }

  /** Milliseconds until the next attempt. Throws the error if there is none. */
  pause(error) {
    const isUnknown = error instanceof ConnectionLost || error instanceof TimedOut
    if (isUnknown) this.#unknown = error
    const mayPass = isUnknown ? this.#mayBeRepeated
      : isAway(error) || (error instanceof Refused && !(error instanceof AttributeFailed) && error.code === 'unavailable')
    if (this.#retry === null || !mayPass) throw error
    this.#count += 1
    const pause = this.#backoff.pause()
    const waited = performance.now() - this.#begin
    if (waited + pause > this.#retry) throw this.#givenUp(waited, error)
    return pause
  }

  #givenUp(waited, error) {
    const { path } = this.params
    const request = typeof path === 'string' ? `${this.#method} ${path}` : this.#method
    const text = `gave up '${request}' after ${seconds(waited)} and ${this.#count} attempts: `
    if (this.#unknown) return new this.#unknown.constructor(`${text}${error.message}; an earlier attempt may have been performed`)
    return error instanceof Refused ? new error.constructor(text + error.reason, error) : new error.constructor(text + error.message)
  }
}

/** @throws RangeError for a time below zero. */
export function checkedRetry(retry) {
  if (retry !== null && !(retry >= 0)) throw new RangeError(`retry is 0 or more milliseconds, not ${retry}`)
  return retry
}

export function seconds(milliseconds) {
  return `${Number((milliseconds / 1000).toPrecision(3))} s`
}

/** Random enough for the requests of one user. Pages without TLS have no `crypto.randomUUID`. */
function newIdentifier() {
  return Array.from({ length: 3 }, () => Math.random().toString(36).slice(2)).join('')
}
