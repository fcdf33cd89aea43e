/** Types of the client for Node. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
/** Text as `easeInOut(duration: 1)`, or its JSON form. */
export type Animation = string | { curve: Json; modifiers?: Json[] }
export interface ChangeOptions {
  animation?: Animation
  label?: string
  disablesAnimations?: boolean
}
export interface WriteOptions extends ChangeOptions {
  /** An identifier of the request. If this user has used it before, the request changes nothing. */
  once?: string
  /** Seconds for which the animation has run already. */
  elapsed?: number
}
export interface TransactOptions extends WriteOptions {
  /** How the values of some mutations move, by their positions. The others move as `animation` says. */
  motions?: { animation: Animation; mutations: number[] }[]
}
export interface Position {
  epoch: string
  revision: number
}
export type EventKind = 'update' | 'invalidate' | 'structure' | 'frames' | 'completion'
export interface WatchOptions {
  events?: EventKind[]
  initial?: boolean
  since?: Position | null
  maxRate?: number
  frames?: { rate: number }
  css?: boolean
  bookmarks?: boolean
  writers?: boolean
  /** Changes have `reported`, and equal reports are updates, too. */
  reports?: boolean
  /** Called with false when the connection is lost and with true when it is back. */
  onLive?: (isLive: boolean) => void
}
export interface Mutation {
  op: 'set' | 'toggle' | 'add' | 'append' | 'insert' | 'remove' | 'merge' | 'test'
  path: string
  value?: Json
  index?: number
}
export interface AppliedScene {
  revision: number
  added: string[]
  removed: string[]
  changed: string[]
  differences?: string[]
  unset?: string[]
}

export class AgdError extends Error {}
export class Refused extends AgdError {
  code: string
  reason: string
  hint?: string
  path?: string
  rule?: string
  line?: number
  column?: number
}
export class NoRoom extends Refused {}
export class AttributeFailed extends Refused {}
export class Unreachable extends AgdError {}
export class ConnectionLost extends AgdError {}
export class TimedOut extends AgdError {}
export class Ended extends AgdError {
  code: 'removed' | 'denied' | 'limit'
  reason: string
}

export class Timeline {
  constructor(event: Json)
  readonly id?: number
  readonly replaces?: number | null
  readonly start: number
  readonly space: 'scalar' | 'vector' | 'oklab' | 'map' | 'angle' | 'ns'
  readonly mode: 'replace' | 'c1' | 'add' | 'chain'
  readonly logical: number
  readonly settle: number
  readonly under: Timeline | null
  readonly end: number
  isFinished(at: number): boolean
  components(at: number): number[]
  velocities(at: number): number[]
  value(at: number, like?: Json): Json
}

export class Change {
  value: Json | AttributeFailed
  timeline: Timeline | null
  css: Json | null
  reported: number | null
  displayed(at: number): Json | AttributeFailed
}
export class Update {
  readonly revision: number
  readonly initial: boolean
  readonly label?: string
  /** With `writers`: the principal, or the client and its user. */
  readonly writer?: string
  readonly from?: number
  readonly details: Map<string, Change>
  readonly changes: Record<string, Json | AttributeFailed>
}
export interface OtherEvent {
  method: 'invalidate' | 'structure' | 'frames' | 'completion' | 'bookmark'
  revision?: number
  [field: string]: unknown
}

/** The events of a watch are updates alone, unless others are asked for. */
export class Watch<Event = Update> implements AsyncIterableIterator<Event> {
  readonly values: Record<string, Json | AttributeFailed>
  readonly position: Position | null
  readonly isLive: boolean
  open(): Promise<void>
  next(): Promise<IteratorResult<Event>>
  return(): Promise<IteratorResult<Event>>
  close(): void
  [Symbol.asyncIterator](): this
}

export class Client {
  call(method: string, params?: Record<string, unknown>): Promise<any>
  get(path: string, options?: { presentation?: boolean }): Promise<Json>
  getAll(paths: string[], options?: { presentation?: boolean }): Promise<Record<string, Json | AttributeFailed>>
  set(path: string, value: Json, options?: WriteOptions): Promise<number>
  toggle(path: string, options?: WriteOptions): Promise<number>
  add(path: string, amount: Json, options?: WriteOptions): Promise<number>
  transact(mutations: Mutation[], options?: TransactOptions): Promise<number>
  do(path: string, given?: Record<string, unknown>, options?: WriteOptions): Promise<number>
  /** Resolves to null if no daemon has confirmed them yet. */
  onDisconnect(mutations: Mutation[], options?: ChangeOptions): Promise<number | null>
  eval(expression: string, options?: { at?: string; bindings?: Record<string, Json> }): Promise<Json>
  apply(
    document: string | Json,
    options?: ChangeOptions & {
      at?: string
      mode?: 'create' | 'merge' | 'replace'
      layer?: string
      if?: { epoch: string; revision: number }
      dryRun?: boolean
    },
  ): Promise<AppliedScene>
  remove(path: string, options?: ChangeOptions & { layer?: string }): Promise<number>
  restore(path: string, options?: ChangeOptions): Promise<number>
  move(path: string, options?: ChangeOptions & { to?: string; index?: number }): Promise<number>
  ping(): Promise<void>
  describe(path?: string, options?: { depth?: number }): Promise<any>
  explain(path: string, options?: { revision?: number }): Promise<any>
  /** The cards of a node and all below it, in rows; or the card of an attribute, which `panel` describes. */
  board(path?: string, options?: { panel?: Record<string, unknown> }): Promise<Record<string, unknown>>
  history(path: string): Promise<{
    span: number
    step: number
    times: string[]
    least: number[]
    greatest: number[]
    revision: number
  }>
  dump(path?: string, options?: { format?: 'json' | 'dot' | 'scene'; layer?: string }): Promise<any>
  prune(): Promise<number>
  stats(): Promise<Record<string, number | string>>
  watch(paths: string | string[], options?: Omit<WatchOptions, 'events' | 'frames' | 'bookmarks'>): Watch
  watch(paths: string | string[], options: WatchOptions): Watch<Update | OtherEvent>
  /** `timeout` in milliseconds; without it, there is no limit. */
  waitFor<Value extends Json = any>(
    path: string, predicate: (value: Value) => unknown, options?: { timeout?: number | null },
  ): Promise<Value>
  close(): Promise<void>
}

export const PARAMETERS: Record<string, string[]>
/** `timeout` and `retry` in milliseconds. */
export function connect(
  options?: { path?: string; name?: string; as?: string; timeout?: number; retry?: number | null },
): Client
export function findSocket(named?: string): string
/** Seconds on the daemon's monotonic clock. */
export function now(): number
