/** The client for Node, over the daemon's Unix socket. */

import { existsSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { Client } from './client.js'
import { ConnectionLost, NoRoom, Refused, TimedOut, Unreachable } from './errors.js'
import { isAway, resultOf, seconds } from './requests.js'

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
 *   for whom the client acts (needs the right admin), `timeout` in milliseconds (10 s), `retry`: milliseconds
 *   during which requests are repeated while no daemon answers; null repeats nothing.
 */
export function connect({ path, name, as, timeout = 10_000, retry = null } = {}) {
  return new Client(new UnixTransport(findSocket(path), { client: name, as }, timeout), retry)
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

function unanswered(timeout) {
  return new TimedOut(`the daemon did not answer within ${seconds(timeout)}`)
}

/** A connection for requests. */
class Requests {
  #lines
  #waiting = new Map()
  #number = 0
  #timeout
  /** True if nothing more can be sent. */
  isOver = false

  static async open(path, timeout) {
    const made = new Requests()
    made.#timeout = timeout
    made.#lines = await Lines.open(path, (message) => made.#receive(message), (error) => made.#lose(error))
    return made
  }

  /** Resolves to the reply. */
  ask(method, params) {
    const id = ++this.#number
    return new Promise((resolve, reject) => {
      if (this.isOver) return reject(new ConnectionLost('the daemon closed the connection'))
      const timer = setTimeout(() => {
        this.#waiting.delete(id)
        this.close()
        reject(unanswered(this.#timeout))
      }, this.#timeout)
      const settle = (done) => (value) => {
        clearTimeout(timer)
        done(value)
      }
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) })
      this.#lines.send(id, method, params)
    })
  }

  #receive(message) {
    // An answer without a number concerns all requests: the daemon takes no more clients.
    const ids = message.id === null ? [...this.#waiting.keys()] : [message.id]
    for (const id of ids) {
      this.#waiting.get(id)?.resolve(message)
      this.#waiting.delete(id)
    }
  }

  #lose(error) {
    this.isOver = true
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(error)
  }

  close() {
    this.isOver = true
    this.#lines.close()
  }
}

/** Requests share one connection; each subscription has its own. */
class UnixTransport {
  #path
  /** Parameters of the first request of each connection. */
  #hello
  #timeout
  /** The connection for requests, or the attempt to make it. */
  #requests = null
  #farewells = []
  /** The daemon's answer to a farewell, which the next request tells. */
  #refusal = null

  constructor(path, hello, timeout) {
    this.#path = path
    this.#hello = hello
    this.#timeout = timeout
  }

  async exchange(method, params) {
    const requests = await this.#connected()
    const refusal = this.#refusal
    this.#refusal = null
    if (refusal) throw refusal
    return requests.ask(method, params)
  }

  /** Mutations for the end of each connection. Resolves to their revision, or null if the daemon is away. */
  async leave(params) {
    let revision = null
    try {
      revision = resultOf(await this.exchange('onDisconnect', params)).revision
    } catch (error) {
      // The next connection begins with them.
      if (!isAway(error)) throw error
    }
    this.#farewells.push(params)
    return revision
  }

  async #connected() {
    for (;;) {
      const attempt = (this.#requests ??= this.#connect())
      const drop = () => {
        if (this.#requests === attempt) this.#requests = null
      }
      try {
        const requests = await attempt
        if (!requests.isOver) return requests
        drop()
      } catch (error) {
        drop()
        throw error
      }
    }
  }

  async #connect() {
    const requests = await Requests.open(this.#path, this.#timeout)
    try {
      // Requests must not go over a connection that may not act for the principal.
      if (this.#greets) resultOf(await requests.ask('hello', this.#hello))
      for (const params of [...this.#farewells]) {
        try {
          resultOf(await requests.ask('onDisconnect', params))
        } catch (error) {
          if (!(error instanceof Refused) || error instanceof NoRoom) throw error
          // It will not be asked for again, so that the program can mend what is missing.
          this.#farewells = this.#farewells.filter((each) => each !== params)
          this.#refusal ??= error
        }
      }
      return requests
    } catch (error) {
      requests.close()
      // The request of the caller was not sent.
      if (error instanceof ConnectionLost) throw new Unreachable(`no daemon answers at ${this.#path}: ${error.message}`)
      throw error
    }
  }

  get #greets() {
    return Boolean(this.#hello.client || this.#hello.as)
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
    const timer = setTimeout(() => {
      reply.reject(unanswered(this.#timeout))
      lines.close()
    }, this.#timeout)
    stream.reply.then(() => clearTimeout(timer), () => clearTimeout(timer))
    if (this.#greets) lines.send(1, 'hello', this.#hello)
    lines.send(2, 'subscribe', params)
    return stream
  }

  async close() {
    this.#farewells = []
    const requests = this.#requests
    this.#requests = null
    ;(await requests?.catch(() => null))?.close()
  }
}
