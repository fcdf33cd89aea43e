/** The look of cards and boards. Pages may override the tokens, which are custom properties. */

/** Gives the part of the document in which an element is a further sheet. */
export function adopt(element, given) {
  const root = element.getRootNode()
  // An element that is not in the document yet waits for the next picture.
  if (!root.adoptedStyleSheets) return void requestAnimationFrame(() => element.isConnected && adopt(element, given))
  if (!root.adoptedStyleSheets.includes(given)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, given]
}

export function sheet(text) {
  const made = new CSSStyleSheet()
  made.replaceSync(text)
  return made
}

/**
 * Colours by their meaning, for light and dark. `color-scheme` of any element selects the scheme of everything below
 * it. Colours that tell something apart are of the Okabe–Ito set or near it.
 */
export const tokens = sheet(`
:root, :host {
  --page: light-dark(#f3f4f6, #0e1013);
  --surface: light-dark(#ffffff, #191c21);
  --raised: light-dark(#ffffff, #3a404a);
  --ink: light-dark(#16181d, #eceef1);
  --muted: light-dark(#596069, #9ba3ae);
  --line: light-dark(#e2e5e9, #2b3038);
  --track: light-dark(#e6e9ed, #2a2f37);
  --control: light-dark(#7a828d, #7a8491);
  --accent: light-dark(#0072b2, #56b4e9);
  --on-accent: light-dark(#ffffff, #0e1013);
  --ok: light-dark(#0072b2, #56b4e9);
  --warn: light-dark(#8f5f00, #e69f00);
  --critical: light-dark(#b3246b, #f277b0);
  --stale: light-dark(#5f6773, #8f98a5);
  --series-1: light-dark(#0072b2, #56b4e9);
  --series-2: light-dark(#c25400, #f0894a);
  --series-3: light-dark(#00805d, #2fbf95);
  --series-4: light-dark(#a8508a, #dd94bd);
  --series-5: light-dark(#7a6a00, #d9c64a);
  --series-6: light-dark(#6457b8, #aaa2f2);
  --quick: 160ms cubic-bezier(0.2, 0, 0, 1);
}`)

export const look = sheet(`
* { box-sizing: border-box; margin: 0; }
:host { display: block; container: board / inline-size; font: 15px/1.4 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
:host([hidden]), [hidden] { display: none !important; }

/* Sections share bands, and their cards rows: layout.js says how many columns each takes. */
.board { color: var(--ink); position: relative; overflow-x: clip; display: grid; gap: var(--gap, 12px); --gap: 12px; --row: 112px; }
:host(.fills) .board { min-height: min(100dvh - var(--above, 68px) - 16px - var(--foot, 0px), var(--most, 0px)); }
.empty { grid-column: 1 / -1; }
section { color: var(--ink); min-width: 0; container: section / inline-size; display: flex; flex-direction: column; }
.board.is-themed { background: var(--page); }
section.is-themed { background: var(--page); border-radius: 16px; }
h2 { position: sticky; inset-block-start: 0; z-index: 1; background: var(--page); font-size: 15px; line-height: 20px; font-weight: 600; padding-block: 4px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.unseen { position: absolute; width: 1px; height: 1px; padding: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.cards { display: flex; flex-wrap: wrap; gap: var(--gap); flex: 1; }

.card {
  position: relative; display: flex; flex-direction: column; gap: 4px; min-height: max(112px, calc(var(--rows, 1) * (var(--row) + var(--gap)) - var(--gap))); min-width: 0; color: var(--ink);
  background: var(--surface); border-radius: 12px; padding: 12px 16px; overflow: hidden; contain: layout paint style;
  box-shadow: 0 1px 2px light-dark(rgb(16 24 40 / 8%), transparent);
  /* Cards outside of the window are not drawn while they move. The height is that of a bar, until a card has been seen. */
  content-visibility: auto; contain-intrinsic-size: auto 121px;
}
:host > .card { height: 100%; }
.card[data-status="warn"] { --edge: var(--warn); --bar: var(--warn); }
.card[data-status="critical"] { --edge: var(--critical); --bar: var(--critical); }
.card[data-status="stale"] { --edge: var(--stale); --bar: var(--stale); }
.card[data-status]:not([data-status="ok"])::before {
  content: ""; position: absolute; inset-block: 0; inset-inline-start: 0; width: 3px; background: var(--edge);
}
.card h3 { color: var(--muted); font-size: 13px; font-weight: 500; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.icon { display: inline-block; vertical-align: -4px; margin-inline-end: 6px; line-height: 18px; }
.icon svg { display: block; width: 18px; height: 18px; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
.card h3 > :is(a, button) { color: inherit; text-decoration: none; font: inherit; border: 0; padding: 0; background: none; cursor: pointer; }
.card h3 > :is(a, button)::after { content: ""; position: absolute; inset: 0 0 auto 0; height: 44px; }
.card h3 > :is(a, button):hover { color: var(--ink); }
.body { display: flex; flex-direction: column; gap: 8px; flex: 1; min-height: 0; }
.value { font-size: 32px; line-height: 1.15; font-weight: 500; letter-spacing: -0.01em; font-variant-numeric: tabular-nums; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.featured .value { font-size: 40px; }
.value.words, .featured .value.words { font-size: 20px; line-height: 1.3; letter-spacing: 0; white-space: normal; overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; }
.unit { color: var(--muted); font-size: 0.5em; font-weight: 400; letter-spacing: 0; margin-inline-start: 0.25em; }
.unit { unicode-bidi: plaintext; }
.unit:empty { display: none; }
.context { color: var(--muted); font-size: 13px; line-height: 18px; min-height: 18px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-variant-numeric: tabular-nums; }
.card[data-status="warn"] .context { color: var(--warn); }
.card[data-status="critical"] .context { color: var(--critical); }
.is-refused .context { color: var(--critical) !important; font-weight: 500; white-space: normal; overflow-wrap: anywhere; }
.failure { color: var(--critical); font-size: 13px; overflow-wrap: anywhere; flex: 1; }
.shape { font-size: 0.8em; margin-inline-end: 0.5em; color: var(--edge, var(--ok)); }
.is-old .value, .is-old svg, .is-old .bar, .is-old table, .is-old .windows { opacity: 0.72; filter: grayscale(1); }
.is-old .context { color: var(--ink) !important; font-weight: 500; }

/* Cards and headings that go keep their place and size until they have gone. */
.going { display: contents; }
.going > * { position: absolute; pointer-events: none; }
.going > * > * { width: 100%; height: 100%; }

/* Texts of another direction than the page keep their order. */
.value, .prose, .log span, td, th { unicode-bidi: plaintext; }
:dir(rtl) > h3, :dir(rtl) > .context, .body:dir(rtl) :is(.value, .prose, .failure) { unicode-bidi: plaintext; text-align: right; }
:dir(rtl) > .unit, :dir(rtl) > .shape { margin-inline: 0.25em; }
:dir(rtl) > .icon { margin-inline: 6px; }
.face:dir(rtl) .value, .kind-gauge:dir(rtl) .context { text-align: center !important; }

.bar { position: relative; height: 8px; border-radius: 4px; background: var(--track); margin-block-start: auto; overflow: hidden; flex: none; }
.bar > i { display: block; height: 100%; border-radius: 4px; background: var(--bar, var(--accent)); transform-origin: left; transform: scaleX(0); }
:dir(rtl) .bar > i { transform-origin: right; }
.is-empty .bar > i, .is-empty .windows { visibility: hidden; }
.bar > b { position: absolute; inset-block: 0; width: 2px; background: var(--surface); }
.spark { display: block; width: 100%; height: 24px; margin-block-start: auto; overflow: visible; flex: none; }
.spark path, .chart path { fill: none; stroke: var(--series, var(--accent)); stroke-width: 1.75; vector-effect: non-scaling-stroke; stroke-linejoin: round; stroke-linecap: round; }
.level { stop-color: var(--accent); }
.level.warn { stop-color: var(--warn); }
.level.critical { stop-color: var(--critical); }
/* A sample that is not as it should be. The line beside it may be. */
.now { display: none; stroke: var(--edge); stroke-width: 8; vector-effect: non-scaling-stroke; stroke-linecap: round; }
[data-status="warn"] .now, [data-status="critical"] .now { display: inline; }
.featured .spark { flex: 1 1 24px; max-height: 120px; }
.band { fill: var(--track); opacity: 0.6; }
.limit { stroke: var(--warn); stroke-width: 1; stroke-dasharray: 4 4; vector-effect: non-scaling-stroke; }
.limit.critical { stroke: var(--critical); }
.kind-chart { min-height: max(208px, calc(var(--rows, 1) * (var(--row) + var(--gap)) - var(--gap))); }
/* Time runs to the right, in every language. */
.plot, .times { direction: ltr; }
.plot { position: relative; flex: 1; min-height: 96px; padding-inline-end: 48px; touch-action: pan-y; }
.kind-timeline .plot { min-height: 32px; flex: none; padding: 0; }
.plot svg { display: block; width: 100%; height: 100%; position: absolute; inset: 0; inset-inline-end: 48px; width: calc(100% - 48px); overflow: visible; }
.chart .grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.end { position: absolute; inset-inline-end: 0; width: 42px; font-size: 12px; color: var(--muted); text-align: start; font-variant-numeric: tabular-nums; line-height: 1; white-space: nowrap; }
.end.top { inset-block-start: -3px; }
.end.bottom { inset-block-end: -3px; }
.times { position: relative; font-size: 12px; line-height: 18px; color: var(--muted); margin-inline-end: 48px; text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; }
.kind-timeline .times { margin-inline-end: 0; }

.kind-gauge { min-height: 168px; }
.face { position: relative; align-self: center; width: min(100%, 152px); margin-block: auto; }
.featured .face { width: min(100%, 200px); }
.dial { display: block; width: 100%; overflow: visible; }
.dial path { fill: none; stroke-width: 8; }
.dial .track { stroke: var(--track); }
/* Windows onto the parts of the arc, on both sides of a line through its beginning. */
.windows { position: absolute; top: 0; left: 0; width: 100%; aspect-ratio: 1; transform: rotate(-45deg); pointer-events: none; }
.windows > div { position: absolute; left: 0; width: 100%; overflow: hidden; }
.windows > :first-child { top: 0; height: 50%; }
.windows > :last-child { top: calc(50% - 1.5px); bottom: 0; }
.windows .fill { position: absolute; width: 100%; aspect-ratio: 1; transform: rotate(-180deg); }
.windows > :first-child .fill { top: 0; }
.windows > :last-child .fill { bottom: 0; }
.fill path { fill: none; stroke-width: 8; stroke: var(--bar, var(--accent)); }
.dial .tick { stroke-width: 2; stroke-linecap: butt; stroke: var(--control); }
.dial .tick.warn { stroke: var(--warn); }
.dial .tick.critical { stroke: var(--critical); }
.face .value { position: absolute; inset: 0; display: grid; place-content: center; text-align: center; font-size: 28px; padding-block-start: 6px; }
.face .unit { display: block; margin: 0; font-size: 13px; line-height: 1; }
.featured .face .value { font-size: 36px; }
.kind-gauge .context { text-align: center; }

.rows { overflow: auto; max-height: 336px; scrollbar-width: thin; }
table { border-collapse: collapse; font-size: 13px; width: 100%; font-variant-numeric: tabular-nums; }
td, th { padding: 5px 0; text-align: start; font-weight: 400; overflow-wrap: anywhere; vertical-align: baseline; }
td + td, th + td, th + th { padding-inline-start: 12px; }
thead th { color: var(--muted); font-size: 12px; }
tbody th { color: var(--muted); }
td.figure, thead th.figure, td:last-child:not(:first-child), thead th:last-child:not(:first-child) { text-align: end; }
td.figure { white-space: nowrap; }
tbody tr + tr > *, thead + tbody tr > * { border-block-start: 1px solid var(--line); }
.featured .prose { font-size: 20px; line-height: 1.35; }
.prose { overflow-wrap: anywhere; white-space: pre-line; max-width: 72ch; }
img { max-width: 100%; border-radius: 8px; display: block; }
.swatch { height: 40px; border-radius: 8px; box-shadow: inset 0 0 0 1px var(--line); position: relative; overflow: hidden; }
.swatch input { position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0; cursor: pointer; }
.swatch:focus-within { outline: 2px solid var(--accent); outline-offset: 2px; }
.code { font: 13px ui-monospace, "DejaVu Sans Mono", monospace; color: var(--muted); }

button, input, select, textarea { font: inherit; color: inherit; }
.switch { width: 56px; height: 32px; border: 0; border-radius: 16px; background: var(--control); padding: 4px; cursor: pointer; position: relative; margin-block: 8px; transition: background-color var(--quick); flex: none; }
.switch::before { content: ""; position: absolute; inset: -6px; }
.switch > i { display: block; width: 24px; height: 24px; border-radius: 50%; background: #fff; box-shadow: 0 1px 2px rgb(0 0 0 / 25%); transition: transform var(--quick); }
.switch[aria-checked="true"] { background: var(--accent); }
.switch[aria-checked="true"] > i { transform: translateX(24px); background: var(--on-accent); }
.switch.is-empty > i { transform: translateX(12px); opacity: 0.6; }
:dir(rtl) .switch.is-empty > i { transform: translateX(-12px); }
:dir(rtl) .switch[aria-checked="true"] > i { transform: translateX(-24px); }
.field { width: 100%; min-height: 44px; border: 1px solid var(--control); border-radius: 8px; background: var(--surface); padding: 8px 12px; }
textarea.field { padding-block: 10px; resize: none; field-sizing: content; max-height: 128px; overflow-wrap: anywhere; scrollbar-width: thin; }
.steps { display: flex; gap: 8px; margin-block-start: auto; }
.step, .push { flex: 1; min-height: 44px; border: 0; border-radius: 8px; background: var(--track); cursor: pointer; font-weight: 500; }
.step { font-size: 20px; line-height: 1; }
.push { background: var(--accent); color: var(--on-accent); flex: none; padding-inline: 16px; margin-block: 4px; }
.step:active:enabled, .push:active:enabled { transform: scale(0.98); }
.segments { display: flex; flex-wrap: wrap; background: var(--track); border-radius: 10px; padding: 3px; gap: 2px; margin-block: 4px; }
.segments label { flex: 1 1 auto; position: relative; cursor: pointer; }
.segments input { position: absolute; inset: -3px 0; opacity: 0; margin: 0; width: 100%; height: 50px; cursor: inherit; }
.segments span { display: grid; place-content: center; min-height: 38px; border-radius: 7px; padding-inline: 6px; font-size: 14px; text-align: center; }
.segments input:checked + span { background: var(--raised); font-weight: 600; box-shadow: 0 1px 2px rgb(0 0 0 / 16%); }
.segments input:focus-visible + span { outline: 2px solid var(--accent); outline-offset: 1px; }
input[type="range"] {
  appearance: none; width: 100%; height: 44px; margin: auto 0 0; background: none; cursor: pointer; --part: 0; --side: to right;
}
:dir(rtl) > input[type="range"] { --side: to left; }
input[type="range"]::-webkit-slider-runnable-track {
  height: 8px; border-radius: 4px;
  background: linear-gradient(var(--side), var(--accent) calc(11px + (100% - 22px) * var(--part)), var(--track) 0);
}
input[type="range"]::-webkit-slider-thumb {
  appearance: none; width: 22px; height: 22px; margin-block-start: -7px; border-radius: 50%; background: #fff;
  border: 2px solid var(--accent); box-shadow: 0 1px 3px rgb(0 0 0 / 20%);
}
input[type="range"]::-moz-range-track { height: 8px; border-radius: 4px; background: var(--track); }
input[type="range"]::-moz-range-progress { height: 8px; border-radius: 4px; background: var(--accent); }
input[type="range"]::-moz-range-thumb { width: 18px; height: 18px; border-radius: 50%; background: #fff; border: 2px solid var(--accent); }
:disabled { cursor: default; opacity: 0.6; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.card h3 > :focus-visible { outline: none; }
.card:has(h3 > :focus-visible) { outline: 2px solid var(--accent); outline-offset: 2px; }

.empty { color: var(--muted); padding-block: 48px; text-align: center; }
.empty code { color: var(--ink); }

.wall .face, .wall .featured .face { width: min(100%, 280px); }
.wall .value { font-size: 40px; }
.wall .featured .value { font-size: 56px; }
.wall .card h3, .wall .context { font-size: 15px; line-height: 20px; }
@container board (max-width: 560px) {
  .board:not(.compact) .value { font-size: 26px; }
  .board:not(.compact) .featured .value { font-size: 30px; }
  .board:not(.compact) .face .value { font-size: 24px; }
}

/* Tiles: the title, the value or the control beside it, and what is drawn below them. */
.compact h2 { font-size: 13px; line-height: 16px; padding-block: 4px 2px; }
.compact .card {
  min-height: max(56px, calc(var(--rows, 1) * (56px + var(--gap)) - var(--gap))); padding: 8px 12px; display: grid; gap: 0 8px;
  grid-template: minmax(20px, auto) auto auto / minmax(0, 1fr) auto; align-content: center; contain-intrinsic-size: auto 56px;
}
.compact .card h3 { grid-area: 1 / 1; align-self: center; }
.compact :is(.kind-table, .kind-list, .kind-log, .kind-markdown) { align-content: start; }
.compact .card h3 a::after { height: 24px; }
.compact .context { grid-area: 2 / 1 / auto / -1; font-size: 12px; line-height: 16px; min-height: 0; }
.compact .context:empty { display: none; }
.compact .body { display: contents; }
.compact .body[hidden] > * { display: none; }
.compact .failure { grid-area: 2 / 1 / auto / -1; -webkit-line-clamp: 2; display: -webkit-box; -webkit-box-orient: vertical; overflow: hidden; }
.compact .value, .compact .featured .value, .compact .value.words, .compact .featured .value.words {
  grid-area: 1 / 2; font-size: 17px; line-height: 20px; text-align: end; display: block; white-space: nowrap; align-self: center; max-width: 120px;
}
.compact .unit { font-size: 0.75em; display: inline; }
.compact .bar { grid-area: 3 / 1 / auto / -1; height: 4px; align-self: end; margin: 6px 0 2px; }
.compact .spark { grid-area: 3 / 1 / auto / -1; height: 14px; max-height: 14px; align-self: end; margin: 2px 0 0; }
.compact :is(.kind-bar, .kind-sparkline, .kind-slider) .context { display: none; }
.compact :is(.kind-bar, .kind-sparkline):is([data-status]:not([data-status="ok"]), .is-refused, .is-old) .context { display: block; }
.compact :is(.kind-bar, .kind-sparkline, .kind-chart:not(.several)):is([data-status]:not([data-status="ok"]), .is-refused, .is-old) { padding-block: 4px; }
.compact [data-status]:not([data-status="ok"]) :is(.bar, .spark) { margin: 4px 0 0; max-height: 10px; }
/* A gauge has its dial where other tiles have a shape. */
.compact .kind-gauge { padding-inline-start: 60px; min-height: 56px; }
.compact .face { display: contents; }
.compact .kind-gauge h3 { grid-area: 1 / 1 / auto / -1; }
.compact .face .value, .compact .featured .face .value { position: static; padding: 0; font-size: 17px; grid-area: 2 / 1; text-align: start !important; justify-self: start; }
.compact .dial, .compact .windows { position: absolute; inset-inline-start: 12px; top: 8px; width: 40px; }
.compact .windows { inset-inline-start: auto; left: 12px; }
.compact .kind-gauge .context { grid-area: 2 / 2; align-self: center; }
.compact .kind-gauge:not(.is-old, .is-refused):is([data-status="ok"], :not([data-status])) .context { display: none; }
/* A chart of one value is a line, as a sparkline is. */
.compact .kind-chart:not(.several) .plot { grid-area: 3 / 1 / auto / -1; min-height: 14px; height: 14px; margin-block-start: 2px; padding: 0; }
.compact .kind-chart:not(.several) .plot svg { width: 100%; inset: 0; }
.compact .kind-chart:not(.several) :is(.end, .times, .context, .grid) { display: none; }
.compact .several { min-height: 136px; display: flex; }
.compact .several .body { display: flex; }
.compact :is(.rows, .log, .prose, .swatch, .code, img) { grid-area: 3 / 1 / auto / -1; max-height: 176px; margin-block-start: 4px; }
.compact td, .compact th { padding-block: 3px; }
.compact .switch { grid-area: 1 / 2 / 3 / auto; margin: 0; align-self: center; }
.compact .steps, .compact .segments, .compact .push { grid-area: 1 / 2 / 3 / auto; margin: 0; align-self: center; }
.compact .kind-stepper .value { grid-area: 2 / 1; text-align: start; }
.compact .kind-stepper .context { display: none; }
.compact .step { min-width: 44px; }
.compact .field { grid-area: 1 / 2 / 3 / auto; align-self: center; width: 50cqw; max-width: 240px; padding-block: 8px; }
.compact input[type="range"] { grid-area: 2 / 1 / auto / -1; margin: -6px 0 -8px; }

@media (prefers-reduced-motion: reduce) {
  *, ::before { transition: none !important; animation: none !important; }
}
@media (forced-colors: active) { .card { border: 1px solid; } .bar > i { background: Highlight; } }
`)
