/**
 * The client for browsers, through agd-gateway. All subscriptions of all tabs of an origin share one stream: the tab that
 * holds a lock reads it, and passes its events on. Browsers open only six connections to a server without TLS.
 */

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
/** Calls of these methods in one task are sent as one request. */
const GATHERED = ['history', 'explain']
/** Calls of one request, as the gateway limits them. */
const MOST_CALLS = 256
/** The failures that one tab tells another. */
const FAILURES = { ConnectionLost, Unreachable }

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
  /** Calls that wait for the end of the task. */
  #calls = []
  #streams = []
  #gathering = null
  #watchdog = null
  #offset = null
  #wall = null
  #heard = null
  #tabs
  /** What aborts the stream, if this tab reads it. */
  #aborting = null
  /** The keys of the subscriptions of the stream that is read now, by this tab or another one. */
  #keys = []

  /** True if the gateway lets pages change the graph; null before the first stream. */
  isWritable = null
  /** The name of the gateway's machine; null before the first stream. */
  host = null
  /** True if the gateway reaches agd-past. */
  hasPast = false

  constructor(url, timeout) {
    this.#url = url
    this.#timeout = timeout
    this.#tabs = new Tabs(`agd ${url}`, {
      lead: () => this.#gather(),
      resign: () => this.#abort(),
      change: () => this.#gather(),
      begin: (keys) => (this.#keys = keys),
      take: (block) => {
        try {
          this.#take(block)
        } catch (error) {
          this.#lose(error)
        }
      },
      lose: (error) => this.#lose(error),
      wants: () => this.#streams.map(({ key, request }) => ({ key, request })),
    })
    globalThis.document?.addEventListener('visibilitychange', () => this.#show())
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

  exchange(method, params) {
    const call = { jsonrpc: '2.0', id: ++this.#number, method, params }
    if (!GATHERED.includes(method)) return this.#post(call)
    return new Promise((resolve, reject) => {
      this.#calls.push({ call, resolve, reject })
      if (this.#calls.length === 1) queueMicrotask(() => this.#flush())
    })
  }

  async #flush() {
    const calls = this.#calls.splice(0, MOST_CALLS)
    if (this.#calls.length > 0) queueMicrotask(() => this.#flush())
    try {
      const replies = await this.#post(calls.length === 1 ? calls[0].call : calls.map(({ call }) => call))
      const byId = new Map([replies].flat().map((reply) => [reply.id, reply]))
      // A refusal of the whole request has no id.
      for (const { call, resolve } of calls) resolve(byId.get(call.id) ?? replies)
    } catch (error) {
      for (const { reject } of calls) reject(error)
    }
  }

  async #post(body) {
    let response
    try {
      response = await fetch(new URL('rpc', this.#url), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
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
    const stream = new Stream(params, `${this.#tabs.id} ${++this.#number}`, () => this.#drop(stream))
    this.#streams.push(stream)
    this.#show()
    return stream
  }

  async close() {
    for (const stream of [...this.#streams]) stream.close()
  }

  #drop(stream) {
    this.#streams = this.#streams.filter((each) => each !== stream)
    if (this.#streams.length === 0) this.#show()
  }

  /** A page that nobody sees reads nothing. When it is seen again, its subscriptions continue from their positions. */
  #show() {
    clearTimeout(this.#watchdog)
    const isActive = this.#streams.length > 0 && !globalThis.document?.hidden
    if (isActive) this.#listen()
    this.#tabs.join(isActive)
  }

  /** Another sign of life has to come in time. */
  #listen() {
    clearTimeout(this.#watchdog)
    this.#watchdog = setTimeout(() => {
      const lost = new ConnectionLost('the stream from the gateway broke off')
      if (this.#aborting) this.#tabs.share({ lost: lost.message, kind: 'ConnectionLost' })
      this.#lose(lost)
    }, SILENCE)
  }

  /** Everything is lost, until the watches subscribe again. */
  #lose(error) {
    this.#abort()
    for (const stream of [...this.#streams]) stream.fail(error)
  }

  #abort() {
    this.#aborting?.abort()
    this.#aborting = null
  }

  /** Starts a new stream with the subscriptions of all tabs. Those that have begun continue from their position. */
  #gather() {
    this.#gathering ??= setTimeout(async () => {
      this.#gathering = null
      const wanted = await this.#tabs.wanted()
      this.#abort()
      if (!this.#tabs.isLeading || wanted.length === 0) return
      const aborting = (this.#aborting = new AbortController())
      this.#keys = wanted.map(({ key }) => key)
      this.#tabs.share({ begin: this.#keys })
      try {
        await this.#read(wanted, aborting)
      } catch (error) {
        // A newer stream has replaced this one.
        if (this.#aborting !== aborting) return
        const lost = error instanceof ConnectionLost || error instanceof Refused || error instanceof Unreachable ? error
          : error instanceof TypeError ? new Unreachable(`no gateway answers at ${this.#url}`)
            : new ConnectionLost('the stream from the gateway broke off')
        this.#tabs.share({ lost: lost.reason ?? lost.message, kind: lost.name, code: lost.code })
        this.#lose(lost)
      }
    }, GATHERING)
  }

  async #read(wanted, aborting) {
    const response = await fetch(new URL('watch', this.#url), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ subscriptions: wanted.map(({ request }) => request) }),
      signal: aborting.signal,
    })
    if (!response.ok) throw failureOf((await response.json()).error)
    let rest = ''
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { value, done } = await reader.read()
      if (done || this.#aborting !== aborting) break
      const blocks = (rest + value).split('\n\n')
      rest = blocks.pop()
      for (const block of blocks) {
        this.#tabs.share({ block })
        this.#take(block)
      }
    }
    throw new ConnectionLost('the gateway closed the stream')
  }

  #take(block) {
    let event = 'message'
    let text = null
    for (const line of block.split('\n')) {
      if (line.startsWith('event: ')) event = line.slice(7)
      if (line.startsWith('data: ')) text = line.slice(6)
    }
    if (text === null) return
    if (this.#streams.length > 0 && !globalThis.document?.hidden) this.#listen()
    // Other tabs read what belongs to them.
    const [, number] = /^{"subscription":(\d+)/.exec(text) ?? []
    if (number !== undefined && !this.#streamAt(number) && event !== 'bookmark') return
    const data = JSON.parse(text)
    const now = performance.now() / 1000
    if (event === 'hello' || event === 'alive') {
      this.#offset = data.monotonic - now
      this.isWritable = data.isWritable
      this.host = data.host ?? this.host
      this.hasPast = data.hasPast === true
      if (data.time !== undefined) this.#wall = data.time - now
      if (data.isLive !== false) this.#heard = this.now()
    } else if (event === 'interrupted') {
      // A daemon that hangs is noticed some time after its last answer.
      if (this.#heard !== null && data.silence !== undefined) this.#heard = Math.min(this.#heard, this.now() - data.silence)
      throw new ConnectionLost('the daemon is away')
    }
    if (event === 'update' || event === 'live') this.#heard = this.now()
    if (event === 'bookmark') {
      this.#tabs.reached(data, this.#keys)
      for (const stream of this.#streams) if (this.#keys.includes(stream.key)) stream.reached(data)
    } else if (event === 'refused') {
      this.#streamAt(data.subscription)?.fail(failureOf(data.error))
    } else if (data.subscription !== undefined) {
      this.#streamAt(data.subscription)?.take(event, data)
    }
  }

  #streamAt(number) {
    const key = this.#keys[number]
    return this.#streams.find((each) => each.key === key)
  }
}

/**
 * The tabs of an origin that watch the same gateway. One of them leads: it holds a lock, which the browser gives to the
 * next tab when this one is closed or hidden. Without locks, as on pages without TLS, each tab is alone.
 */
class Tabs {
  id = Math.random().toString(36).slice(2)
  isLeading = false
  #name
  #on
  #channel = null
  #locks = globalThis.BroadcastChannel ? globalThis.navigator?.locks : undefined
  /** What the other tabs watch: `{ key, request }`, by tab. */
  #others = new Map()
  /** Ends the leading of this tab, or its waiting for it; null if it does not take part. */
  #leave = null

  /** @param on `lead`, `resign`, `change` (of what the others watch), `begin`, `take`, `lose`, and `wants` of this tab. */
  constructor(name, on) {
    this.#name = name
    this.#on = on
  }

  /** Takes part while this tab watches something, and tells the others what. */
  join(isActive) {
    if (!isActive) {
      this.#leave?.()
      this.#leave = null
    } else if (!this.#leave) {
      this.#enter()
    }
    if (this.isLeading) return this.#on.change()
    this.tell({ wants: isActive ? this.#on.wants() : [] })
    if (!isActive) {
      this.#channel?.close()
      this.#channel = null
    }
  }

  #enter() {
    const waiting = new AbortController()
    const lead = () => new Promise((resolve) => {
      this.isLeading = true
      this.#leave = () => {
        this.isLeading = false
        this.#others.clear()
        this.#on.resign()
        resolve()
      }
      this.tell({ asks: true })
      this.#on.lead()
    })
    this.#leave = () => waiting.abort()
    if (!this.#locks) return void lead()
    this.#channel = new BroadcastChannel(this.#name)
    this.#channel.onmessage = ({ data }) => this.#hear(data)
    // A tab that is gone without a word no longer holds its own lock.
    this.#locks.request(`${this.#name} ${this.id}`, { signal: waiting.signal }, () => new Promise((resolve) => waiting.signal.addEventListener('abort', resolve))).catch(() => {})
    this.#locks.request(this.#name, { signal: waiting.signal }, () => (waiting.signal.aborted ? null : lead().then(() => waiting.abort()))).catch(() => {})
  }

  /** Tells those that listen to this tab, if there are any. */
  share(message) {
    if (this.#others.size > 0) this.tell(message)
  }

  tell(message) {
    this.#channel?.postMessage({ tab: this.id, ...message })
  }

  #hear({ tab, wants, asks, begin, block, lost, kind, code }) {
    if (wants && this.isLeading) {
      if (wants.length > 0) this.#others.set(tab, wants)
      else this.#others.delete(tab)
      this.#on.change()
    }
    if (asks) this.tell({ wants: this.#on.wants() })
    if (begin) this.#on.begin(begin)
    if (block !== undefined) this.#on.take(block)
    if (lost !== undefined) this.#on.lose(FAILURES[kind] ? new FAILURES[kind](lost) : new Refused(lost, { code }))
  }

  /** All subscriptions of all tabs that are there. */
  async wanted() {
    if (this.#others.size > 0) {
      const held = new Set((await this.#locks.query()).held.map(({ name }) => name))
      for (const tab of this.#others.keys()) if (!held.has(`${this.#name} ${tab}`)) this.#others.delete(tab)
    }
    return [...this.#on.wants(), ...[...this.#others.values()].flat()]
  }

  /** The subscriptions of others, too, continue from here if the stream begins again. */
  reached({ epoch, revision }, keys) {
    for (const each of [...this.#others.values()].flat()) {
      if (keys.includes(each.key)) each.request = { ...each.request, since: { epoch, revision } }
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

  /** @param key names it among the subscriptions of all tabs. */
  constructor({ since, ...params }, key, onClose) {
    this.key = key
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
