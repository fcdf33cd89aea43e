/** Types of the client for pages. */

import type { Client } from './agd.js'

export {
  AgdError, AttributeFailed, Change, Client, ConnectionLost, Ended, NoRoom, PARAMETERS, Refused, TimedOut, Timeline, Unreachable,
  Update, Watch,
} from './agd.js'
export type {
  Animation, AppliedScene, ChangeOptions, EventKind, Json, Mutation, OtherEvent, Position, WatchOptions, WriteOptions,
} from './agd.js'

/** The address of the gateway is that of the page's script, unless another one is given. */
export function connect(options?: { url?: string; timeout?: number; retry?: number | null }): Client
