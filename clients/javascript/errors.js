/** The errors of the client. */

/** The base of everything that this module throws. */
export class AgdError extends Error {
  constructor(message) {
    super(message)
    this.name = new.target.name
  }
}

/**
 * The daemon refused a request and changed nothing. `code` is a name whose meaning never changes. `hint`
 * suggests what to do, if the daemon knows. `path`, `rule`, `line` and `column` are the position.
 */
export class Refused extends AgdError {
  constructor(message, data = {}) {
    const code = data?.code ?? 'invalid'
    super(data?.hint ? `${message} (${code}); ${data.hint}` : `${message} (${code})`)
    const { path, rule, line, column, hint } = data ?? {}
    Object.assign(this, { code, path, rule, line, column, hint, reason: message })
  }
}

/** The daemon takes no more clients now. */
export class NoRoom extends Refused {}

/** The attribute has an error instead of a value, because its rule failed. */
export class AttributeFailed extends Refused {
  constructor(error) {
    super(error.message, error)
  }
}

/** No daemon answers. The request was not sent. */
export class Unreachable extends AgdError {}

/** The connection ended before the answer arrived, or the outcome is unknown. The daemon may have performed the request. */
export class ConnectionLost extends AgdError {}

/** No answer arrived in time. The daemon may have performed the request. Or what `waitFor` waits for did not come true. */
export class TimedOut extends AgdError {}

/** The daemon ended the subscription: its `code` is `removed`, `denied` or `limit`. */
export class Ended extends AgdError {
  constructor(code, reason) {
    super(`${reason} (${code})`)
    this.code = code
    this.reason = reason
  }
}
