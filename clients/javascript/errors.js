/** What can go wrong. */

/** The base of everything that this module throws. */
export class AgdError extends Error {
  constructor(message) {
    super(message)
    this.name = new.target.name
  }
}

/**
 * The daemon refused a request; nothing has changed. `code` is a name that never changes its meaning,
 * `hint` says what to do where the daemon knows; `path`, `rule`, `line` and `column` name the place.
 */
export class Refused extends AgdError {
  constructor(message, data = {}) {
    const code = data?.code ?? 'invalid'
    super(data?.hint ? `${message} (${code}); ${data.hint}` : `${message} (${code})`)
    const { path, rule, line, column, hint } = data ?? {}
    Object.assign(this, { code, path, rule, line, column, hint, reason: message })
  }
}

/** The attribute has an error in place of a value, as the result of its rule. */
export class AttributeFailed extends Refused {
  constructor(error) {
    super(error.message, error)
  }
}

/** No daemon answers. The request was not sent. */
export class Unreachable extends AgdError {}

/** The connection ended while the request was under way. The daemon may have performed it. */
export class ConnectionLost extends AgdError {}

/** No answer came in time. The daemon may have performed the request. */
export class TimedOut extends AgdError {}

/** The daemon ended the subscription: its `code` is `removed`, `denied` or `limit`. */
export class Ended extends AgdError {
  constructor(code, reason) {
    super(`${reason} (${code})`)
    this.code = code
    this.reason = reason
  }
}
