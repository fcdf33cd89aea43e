/** Types of the elements, for pages and frameworks that use TypeScript. */

export type CardKind =
  | 'value' | 'sparkline' | 'chart' | 'line' | 'timeline' | 'bar' | 'gauge' | 'status' | 'text' | 'image' | 'color' | 'colour' | 'table' | 'list'
  | 'log' | 'markdown' | 'thermostat' | 'light' | 'link' | 'toggle' | 'slider' | 'stepper' | 'field' | 'textField' | 'picker' | 'button'

/** The container value `panel` of a view. */
export interface Panel {
  kind?: CardKind
  /** The attribute to show; otherwise all of the view. */
  value?: string
  /** Several attributes in one line or timeline. */
  values?: (string | { value: string; title?: string; tint?: string })[]
  /** Areas that stand on each other. */
  stacked?: boolean
  title?: string
  unit?: string
  format?: 'number' | 'percent' | 'bytes' | 'duration'
  decimals?: number
  /** Columns of the grid, 1 to 4. */
  span?: number
  /** A row of its own. */
  width?: 'full'
  /** The place among the cards of the section, from 1. */
  position?: number
  /** The path of the section in which the card stands, if not in that of its node. */
  section?: string
  /** For a view without a value: panels of its automatic cards, by attribute. */
  cards?: Record<string, Panel>
  /** Rows of the grid, 1 to 6. */
  height?: number
  /** The path of a node, or an address that begins with https://. */
  link?: string
  min?: number
  max?: number
  warn?: number
  critical?: number
  /** The usual range, shaded behind a line. */
  normal?: [number, number]
  /** Seconds that a line shows. */
  window?: number
  step?: number
  options?: unknown[] | Record<string, string>
  on?: string
  off?: string
  label?: string
  set?: unknown
  add?: number
  toggle?: boolean
  /** A name of icons.js, or a sign. */
  icon?: string
  /** The text of a card of the kind markdown, with `{attribute}` for values. */
  text?: string
  /** The attribute with the level of a light. */
  level?: string
  /** What a thermostat measures, whether it heats or cools now, and whether it is on: attributes. */
  current?: string
  active?: string
  switch?: string
  units?: 'metric' | 'us' | 'uk' | 'given'
  /** From the numbers of the value to the unit. */
  conversion?: { factor?: number; offset?: number }
  /** The columns of a table; of a section, their number. */
  columns?: string[] | number
  /** The column that orders the rows; with `-` in front, the greatest is first. */
  sort?: string
  formats?: Record<string, Column>
  animation?: string
  tint?: string
  featured?: boolean
  /** It does not replace the automatic cards of its container. */
  extra?: boolean
  hidden?: boolean
}

/** A column of a table, or a value in a text. */
export interface Column extends Pick<Panel, 'format' | 'decimals' | 'unit' | 'conversion' | 'min' | 'max' | 'warn' | 'critical' | 'tint'> {
  /** A bar from `min` to `max`, or to the greatest value. */
  bar?: boolean
  /** By text: a status or a colour. */
  colours?: Record<string, string>
}

/** One card. Members of its panel are attributes: `<agd-card path="/a.b" kind="bar" label="Title" max="10">`. */
export class AgdCard extends HTMLElement {
  readonly panel: Panel
}
export class AgdValue extends AgdCard {}
export class AgdGauge extends AgdCard {}
export class AgdChart extends AgdCard {}

/** A card with which something is wrong. */
export interface Trouble {
  id: string
  title: string
  /** The heading of its section. */
  section: string | null
  path: string
  status: 'critical' | 'error' | 'warn' | 'stale'
  /** Milliseconds since 1970; null if it began before the page was opened. */
  since: number | null
  /** Its error. */
  reason: string | null
  /** The attribute whose last change began it; null if a threshold did. */
  statusPath: string | null
}

export interface BoardState {
  /** The node; null until it is known. */
  root: string | null
  title: string
  /** All boards of the tree. */
  boards: { path: string, title: string }[]
  wrong: Trouble[]
  /** The attributes that give cards their status. */
  statuses: string[]
  /** The number of cards that have a status of their own. */
  judged: number
  /** Null until the connection is known. */
  isLive: boolean | null
  /** Why the page may not watch any more, for example because its token was withdrawn. */
  refusal: string | null
  /** The moment of the past that it shows, in seconds since 1970; null: now. */
  moment: number | null
  colorScheme?: string
  locale?: string
  /** The person may edit the board. */
  isEditable: boolean
  isEditing: boolean
}

/** Fires `agd-state` with a `BoardState` as its `detail`. */
export class AgdBoard extends HTMLElement {
  inspector: ((path: string) => string) | null
  /** Makes the address of the page of a board, for cards with a `link`. */
  address: ((root: string) => string) | null
  filter(text: string): void
  /** Brings a card of the state into view, by its `id`. */
  show(id: string): void
  /** Begins to edit the board. */
  edit(): Promise<void>
}

declare global {
  interface HTMLElementTagNameMap {
    'agd-card': AgdCard
    'agd-value': AgdValue
    'agd-gauge': AgdGauge
    'agd-chart': AgdChart
    'agd-board': AgdBoard
  }
  interface HTMLElementEventMap {
    'agd-state': CustomEvent<BoardState>
  }
}
