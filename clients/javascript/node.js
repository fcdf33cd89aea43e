/** The client for Node, over the daemon's Unix socket. */

import { existsSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { Client } from './client.js'
import { ConnectionLost, Refused, TimedOut, Unreachable } from './errors.js'

export * from './client.js'
export * from './errors.js'
export { Timeline } from './timeline.js'

const SYSTEM_PATH = '/run/agd/agd.sock'

/**
 * The caller's choice, else `$AGD_SOCKET`, else the first of `$XDG_RUNTIME_DIR/agd/agd.sock` and
 * `/run/agd/agd.sock` that exists.
 */
export function findSocket(named) {
  if (named) return named
  const { AGD_SOCKET, XDG_RUNTIME_DIR } = process.env
  if (AGD_SOCKET) return AGD_SOCKET
  const places = XDG_RUNTIME_DIR ? [join(XDG_RUNTIME_DIR, 'agd', 'agd.sock'), SYSTEM_PATH] : [SYSTEM_PATH]
  return places.find(existsSync) ?? SYSTEM_PATH
}

/**
 * A client that connects with its first request.
 * @param options `path` of the socket, `name` for explanations, `as` the principal
 *   for whom the client acts (needs the right admin), `timeout` in milliseconds (10 s).
 */
export function connect({ path, name, as, timeout = 10_000 } = {}) {
  return new Client(new UnixTransport(findSocket(path), { client: name, as }, timeout))
}

/** Seconds on this machine's monotonic clock, which the daemon uses too. */
export function now() {
  return Number(process.hrtime.bigint()) / 1e9
}

/** One connection, a line at a time. */
class Lines {
  #socket
  #parts = []
  #onMessage

  static open(path, onMessage, onEnd) {
    return new Promise((resolve, reject) => {
      const socket = connectSocket(path)
      const fail = (error) => {
        reject(new Unreachable(`no daemon answers at ${path}: ${error.message}; start agd or set AGD_SOCKET`))
      }
      socket.once('error', fail)
      socket.once('connect', () => {
        socket.off('error', fail)
        resolve(new Lines(socket, onMessage, onEnd))
      })
    })
  }

  constructor(socket, onMessage, onEnd) {
    this.#socket = socket
    this.#onMessage = onMessage
    let reason = 'the daemon closed the connection'
    socket.on('data', (part) => this.#take(part))
    socket.on('error', (error) => (reason = `the connection broke: ${error.message}`))
    socket.on('close', () => onEnd(new ConnectionLost(reason)))
  }

  #take(part) {
    let start = 0
    for (let end = part.indexOf(10); end >= 0; end = part.indexOf(10, start)) {
      this.#parts.push(part.subarray(start, end))
      const line = Buffer.concat(this.#parts).toString('utf8')
      this.#parts = []
      start = end + 1
      this.#onMessage(JSON.parse(line))
    }
    if (start < part.length) this.#parts.push(part.subarray(start))
  }

  send(id, method, params) {
    this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
  }

  /** Reads nothing until `resume`. Meanwhile, the daemon retains only the newest value of each path. */
  pause() {
    this.#socket.pause()
  }

  resume() {
    this.#socket.resume()
  }

  close() {
    this.#socket.destroy()
  }
}

/** Maximum number of events that wait for a slow reader before the connection pauses. */
const MOST_WAITING = 1000

/** Requests share one connection; each subscription has its own. */
class UnixTransport {
  #path
  /** Parameters of the first request of each connection. */
  #hello
  #timeout
  #lines = null
  #waiting = new Map()
  #number = 0
  #farewells = []

  constructor(path, hello, timeout) {
    this.#path = path
    this.#hello = hello
    this.#timeout = timeout
  }

  async exchange(method, params) {
    this.#lines ??= this.#connect()
    const reply = await this.#ask(await this.#lines, method, params)
    if (method === 'onDisconnect' && !reply.error) this.#farewells.push(params)
    return reply
  }

  async #connect() {
    let lines
    const lose = (error) => {
      this.#lines = null
      const waiting = [...this.#waiting.values()]
      this.#waiting.clear()
      for (const { reject } of waiting) reject(error)
    }
    try {
      lines = await Lines.open(this.#path, (message) => this.#receive(message), lose)
      if (this.#greets) {
        const reply = await this.#ask(lines, 'hello', this.#hello)
        // Requests must not go over a connection that may not act for the principal.
        if (reply.error) throw new Refused(reply.error.message, reply.error.data)
      }
      for (const params of this.#farewells) await this.#ask(lines, 'onDisconnect', params)
      return lines
    } catch (error) {
      lines?.close()
      this.#lines = null
      throw error
    }
  }

  get #greets() {
    return Boolean(this.#hello.client || this.#hello.as)
  }

  #ask(lines, method, params) {
    const id = ++this.#number
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        lines.close()
        reject(new TimedOut(`the daemon did not answer within ${this.#timeout} ms`))
      }, this.#timeout)
      const settle = (done) => (value) => {
        clearTimeout(timer)
        done(value)
      }
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) })
      lines.send(id, method, params)
    })
  }

  #receive(message) {
    // An answer without a number concerns all requests: the daemon has no room for this client.
    const ids = message.id === null ? [...this.#waiting.keys()] : [message.id]
    for (const id of ids) {
      this.#waiting.get(id)?.resolve(message)
      this.#waiting.delete(id)
    }
  }

  async subscribe(params) {
    const messages = []
    let reply
    let wake = null
    let ended = null
    const stream = {
      reply: new Promise((resolve, reject) => (reply = { resolve, reject })),
      /** The next message. Rejects when the connection has ended and every message has been read. */
      async next() {
        while (messages.length === 0) {
          if (ended) throw ended
          await new Promise((resolve) => (wake = resolve))
        }
        if (messages.length === MOST_WAITING) lines.resume()
        return messages.shift()
      },
      close: () => lines.close(),
    }
    // If nobody waits for it, `next` reports its failure.
    stream.reply.catch(() => {})
    const lines = await Lines.open(
      this.#path,
      (message) => {
        if (message.id === 2 || message.id === null || (message.id === 1 && message.error)) reply.resolve(message)
        else if (message.method && messages.push(message) >= MOST_WAITING) lines.pause()
        wake?.()
      },
      (error) => {
        ended = error
        reply.reject(error)
        wake?.()
      },
    )
    if (this.#greets) lines.send(1, 'hello', this.#hello)
    lines.send(2, 'subscribe', params)
    return stream
  }

  async close() {
    this.#farewells = []
    const lines = this.#lines
    this.#lines = null
    ;(await lines?.catch(() => null))?.close()
  }
}
