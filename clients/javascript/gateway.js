/** The client for browsers, through agd-gateway. All subscriptions of a page share one stream. */

import { Client } from './client.js'
import { resultOf, seconds } from './requests.js'
import { ConnectionLost, Refused, TimedOut, Unreachable } from './errors.js'

export * from './client.js'
export * from './errors.js'
export { Timeline } from './timeline.js'

/** The gateway sends an event at least every two seconds. After this time without one, the stream is lost. */
const SILENCE = 5000
/** Subscriptions made within this time begin with one request. */
const GATHERING = 10

/**
 * A client of the gateway that served the page, or of another one.
 * @param options `url` of the gateway, `timeout` in milliseconds (10 s), `retry`: milliseconds during which requests
 *   are repeated while no daemon answers; null repeats nothing.
 */
export function connect({ url = new URL('/', import.meta.url).href, timeout = 10_000, retry = null } = {}) {
  const transport = new GatewayTransport(url, timeout)
  const client = new Client(transport, retry)
  /** Seconds on the daemon's monotonic clock, based on the last event of the stream. */
  client.now = () => transport.now()
  client.clock = transport
  return client
}

class GatewayTransport {
  #url
  #timeout
  #number = 0
  #streams = []
  #aborting = null
  #gathering = null
  #offset = null
  #wall = null
  #heard = null

  /** True if the gateway lets pages change the graph; null before the first stream. */
  isWritable = null

  constructor(url, timeout) {
    this.#url = url
    this.#timeout = timeout
  }

  now() {
    return performance.now() / 1000 + (this.#offset ?? 0)
  }

  /** Seconds of the daemon's monotonic clock at the page's `performance.now() === 0`. */
  get offset() {
    return this.#offset
  }

  /** Seconds since 1970 by the daemon's machine at the page's `performance.now() === 0`. */
  get wallOffset() {
    return this.#wall ?? (Date.now() - performance.now()) / 1000
  }

  /** Seconds on the daemon's monotonic clock up to which values are known; null before the first stream. */
  get heard() {
    return this.#heard
  }

  async exchange(method, params) {
    const id = ++this.#number
    let response
    try {
      response = await fetch(new URL('rpc', this.#url), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
        signal: AbortSignal.timeout(this.#timeout),
      })
      return await response.json()
    } catch (error) {
      if (error.name === 'TimeoutError') throw new TimedOut(`the gateway did not answer within ${seconds(this.#timeout)}`)
      // A server in front of the gateway answers with a page of its own if it does not reach the gateway.
      if (response) throw new ConnectionLost(`no answer of the gateway came from ${this.#url}, but ${response.status} ${response.statusText}`.trim())
      // A browser does not tell whether it has sent the request.
      throw new ConnectionLost(`no gateway answers at ${this.#url}`)
    }
  }

  async leave(params) {
    return resultOf(await this.exchange('onDisconnect', params)).revision
  }

  async subscribe(params) {
    const stream = new Stream(params, () => this.#drop(stream))
    this.#streams.push(stream)
    this.#restart()
    return stream
  }

  async close() {
    for (const stream of [...this.#streams]) stream.close()
  }

  #drop(stream) {
    this.#streams = this.#streams.filter((each) => each !== stream)
    if (this.#streams.length === 0) this.#aborting?.abort()
  }

  /** Starts a new stream with all subscriptions. Those that have begun continue from their position. */
  #restart() {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = null
      this.#aborting?.abort()
      this.#aborting = new AbortController()
      this.#read(this.#aborting).catch(() => {})
    }, GATHERING)
  }

  async #read(aborting) {
    const streams = [...this.#streams]
    if (streams.length === 0) return
    let watchdog
    const isAlive = () => {
      clearTimeout(watchdog)
      watchdog = setTimeout(() => aborting.abort(), SILENCE)
    }
    try {
      isAlive()
      const response = await fetch(new URL('watch', this.#url), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ subscriptions: streams.map((each) => each.request) }),
        signal: aborting.signal,
      })
      if (!response.ok) {
        const { error } = await response.json()
        for (const stream of streams) stream.fail(failureOf(error))
        return
      }
      let rest = ''
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      for (;;) {
        const { value, done } = await reader.read()
        if (done) break
        isAlive()
        const blocks = (rest + value).split('\n\n')
        rest = blocks.pop()
        for (const block of blocks) this.#take(block, streams)
      }
      throw new ConnectionLost('the gateway closed the stream')
    } catch (error) {
      // A newer stream has replaced this one.
      if (this.#aborting !== aborting) return
      const lost = error instanceof TypeError ? new Unreachable(`no gateway answers at ${this.#url}`)
        : new ConnectionLost('the stream from the gateway broke off')
      for (const stream of [...this.#streams]) stream.fail(lost)
    } finally {
      clearTimeout(watchdog)
    }
  }

  #take(block, streams) {
    let event = 'message'
    let data = null
    for (const line of block.split('\n')) {
      if (line.startsWith('event: ')) event = line.slice(7)
      if (line.startsWith('data: ')) data = JSON.parse(line.slice(6))
    }
    if (data === null) return
    const now = performance.now() / 1000
    if (event === 'hello' || event === 'alive') {
      this.#offset = data.monotonic - now
      this.isWritable = data.isWritable
      if (data.time !== undefined) this.#wall = data.time - now
      if (data.isLive !== false) this.#heard = this.now()
    } else if (event === 'interrupted') {
      // A daemon that hangs is noticed some time after its last answer.
      if (this.#heard !== null && data.silence !== undefined) this.#heard = Math.min(this.#heard, this.now() - data.silence)
      throw new ConnectionLost('the daemon is away')
    }
    if (event === 'update' || event === 'live') this.#heard = this.now()
    if (event === 'bookmark') {
      for (const stream of streams) stream.reached(data)
    } else if (event === 'refused') {
      streams[data.subscription]?.fail(failureOf(data.error))
    } else if (data.subscription !== undefined) {
      streams[data.subscription]?.take(event, data)
    }
  }
}

function failureOf(error) {
  return error.code ? new Refused(error.message, error) : new Unreachable(error.message)
}

/** The events of one subscription, for its watch. */
class Stream {
  #params
  #messages = []
  #wake = null
  #failure = null
  #settle
  #isAccepted = false
  #position
  #onClose

  constructor({ since, ...params }, onClose) {
    this.#params = params
    this.#position = since ?? null
    this.#onClose = onClose
    this.reply = new Promise((resolve, reject) => (this.#settle = { resolve, reject }))
    this.reply.catch(() => {})
  }

  get request() {
    return this.#position ? { ...this.#params, since: this.#position } : this.#params
  }

  reached({ epoch, revision }) {
    this.#position = { epoch, revision }
  }

  take(method, params) {
    if (!this.#isAccepted) {
      this.#isAccepted = true
      const resumed = method === 'resumed'
      const result = { epoch: this.#position?.epoch ?? '', revision: params.revision }
      this.#settle.resolve({ result: this.#position ? { ...result, resumed } : result })
    }
    if (method === 'resumed') return
    this.#messages.push({ method, params })
    this.#wake?.()
  }

  fail(error) {
    this.#failure = error
    this.#settle.reject(error)
    this.#wake?.()
    this.#onClose()
  }

  async next() {
    while (this.#messages.length === 0) {
      if (this.#failure) throw this.#failure
      await new Promise((resolve) => (this.#wake = resolve))
    }
    return this.#messages.shift()
  }

  close() {
    this.fail(new ConnectionLost('the watch was closed'))
  }
}
