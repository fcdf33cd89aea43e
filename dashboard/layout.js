/**
 * Where the cards of a board stand. Sections share bands, and the cards of a section share rows. Every band and row is
 * filled, so nothing leaves a hole, and the order of the document is the order on the page.
 */

/** Sizes by density: the least width of a column, of a column of featured cards, the gap, and the height of a row. */
const SIZES = {
  comfortable: { column: 176, featured: 248, gap: 12, row: 112 },
  compact: { column: 168, featured: 168, gap: 8, row: 56 },
}
/** Boards of this width are looked at from afar. */
const WALL = 2200
const WALL_SIZES = { column: 240, featured: 360, gap: 16, row: 128 }
/** Boards up to this width are on a phone: two columns, and compact unless somebody says otherwise. */
const PHONE = 560
/** Heights in rows, of kinds that are not one row high. */
const HEIGHTS = {
  comfortable: { __proto__: null, gauge: 1.5, thermostat: 2, chart: 2, timeline: 2, table: 2, list: 2, log: 2, image: 2, markdown: 1.5 },
  compact: { __proto__: null, table: 3, list: 3, log: 3, image: 2, text: 1.5, markdown: 2.5, slider: 1.4, light: 1.5, color: 1.4 },
}
/** Kinds that look well in more room than they need. */
const STRETCHABLE = ['chart', 'timeline', 'table', 'list', 'log', 'markdown']
/** In a compact board, these do not fit into a tile of one column. Charts of one value do: they are small lines there. */
const WIDE = ['stepper', 'picker', 'field', 'slider', 'button', 'table', 'list', 'log', 'text', 'markdown', 'image', 'thermostat']
const MOST_SECTIONS_OF_BAND = 4
/** An arrangement is kept until another one would cost so much less. */
const WORSE = 1.5

/** The sizes and columns of a board. `density` is `compact`, `comfortable` or anything else, which lets the width decide. */
export function measure(width, density) {
  const isPhone = width <= PHONE
  const name = SIZES[density] ? density : isPhone ? 'compact' : 'comfortable'
  const sizes = width >= WALL && name === 'comfortable' ? WALL_SIZES : SIZES[name]
  const count = (least) => Math.max(width > 300 ? 2 : 1, Math.floor((width + sizes.gap) / (least + sizes.gap)))
  return { density: name, gap: sizes.gap, row: sizes.row, columns: isPhone ? count(width) : count(sizes.column), featured: count(sizes.featured) }
}

/** Costs of rows and bands are areas that are filled although nobody needs them. Stretched charts cost less. */
function excess(card, width, height) {
  return (width * height - card.span * card.height) * (STRETCHABLE.includes(card.kind) ? 0.3 : 1)
}

/** Divides a list into parts so that the sum of `cost(from, to)` is least. The first of equal divisions counts. */
function divide(count, cost) {
  const best = [{ cost: 0, from: 0 }]
  for (let to = 1; to <= count; to++) {
    best[to] = { cost: Infinity, from: to - 1 }
    for (let from = to - 1; from >= 0; from--) {
      const own = cost(from, to)
      if (own === null) break
      if (best[from].cost + own < best[to].cost - 1e-9) best[to] = { cost: best[from].cost + own, from }
    }
  }
  const parts = []
  for (let to = count; to > 0; to = best[to].from) parts.unshift([best[to].from, to])
  return { parts, cost: best[count].cost }
}

/** The cards of a section in rows of at most `width` columns. */
function rowsOf(cards, width, columns) {
  const unit = width / columns
  const spanOf = (card) => (card.isFull ? columns : Math.min(card.span, columns))
  const { parts } = divide(cards.length, (from, to) => {
    const row = cards.slice(from, to)
    const used = row.reduce((sum, card) => sum + spanOf(card), 0)
    if (used > columns || (row.length > 1 && row.some((card) => card.isFull))) return null
    const height = Math.max(...row.map((card) => card.height))
    const waste = row.reduce((sum, card) => sum + excess({ ...card, span: unit * spanOf(card) }, (spanOf(card) / used) * width, height), 0)
    // Even rows are better than a full one and a nearly empty one.
    return waste + 0.05 * (columns - used) ** 2 + 0.01
  })
  return parts.map(([from, to]) => {
    const row = cards.slice(from, to)
    const used = row.reduce((sum, card) => sum + spanOf(card), 0)
    return {
      height: Math.max(...row.map((card) => card.height)),
      cards: row.map((card) => ({ key: card.key, share: spanOf(card) / used, count: row.length, card, span: unit * spanOf(card) })),
    }
  })
}

/** All ways to give `width` columns to sections that need at least `least[i]` columns. */
function* shares(least, width) {
  if (least.length === 1) return yield [width]
  const rest = least.slice(1).reduce((a, b) => a + b, 0)
  for (let first = least[0]; first <= width - rest; first++) {
    for (const others of shares(least.slice(1), width - first)) yield [first, ...others]
  }
}

/**
 * Arranges sections: `{ key, isFeatured, isFull, columns, height, cards: [{ key, kind, span, height, isFull, isSeveral }] }`.
 * @param measures of `measure`.
 * @param before the last arrangement of these sections. It is kept, so that only sections change whose cards do, unless it
 *   has become much worse than another one.
 * @returns bands: `{ height, isStretchable, sections: [{ key, width, rows }] }`. Heights are rows, and a guess. Widths are
 *   columns and add up to all columns. Each row has `{ key, share, count }` of its cards; shares add up to 1.
 */
export function arrange(sections, { columns, featured, density }, before = []) {
  const heights = HEIGHTS[density]
  const given = sections.map((section) => ({
    ...section,
    cards: section.cards.map((card) => ({
      ...card,
      span: density === 'compact' ? (WIDE.includes(card.kind) || card.isSeveral ? 2 : 1) : card.span ?? 1,
      height: card.height ?? (density === 'compact' && card.isSeveral ? 2.5 : heights[card.kind] ?? 1),
    })),
  }))
  const known = new Map()
  /** A section in a number of columns: its rows, and the height and the waste of them. */
  const inside = (section, width) => {
    const key = `${section.key}\n${width}`
    if (!known.has(key)) {
      const own = section.columns ?? (section.isFeatured ? Math.max(1, Math.floor((featured * width) / columns)) : width)
      const rows = rowsOf(section.cards, width, own)
      const waste = rows.flatMap(({ height, cards }) => cards.map(({ card, share, span }) => excess({ ...card, span }, share * width, height))).reduce((a, b) => a + b, 0)
      const height = rows.reduce((sum, row) => sum + row.height, section.isFeatured ? 0 : 0.3)
      known.set(key, { rows, waste, height: Math.max(height, section.height ?? 0) })
    }
    return known.get(key)
  }
  const leastOf = (section) => (section.isFull || section.isFeatured || columns < 4 ? columns : Math.min(columns, Math.max(section.columns ?? 1, ...section.cards.map((card) => (card.isFull ? 2 : card.span)))))
  /** Sections side by side in given widths. */
  const together = (band, widths) => {
    const found = band.map((section, i) => inside(section, widths[i]))
    const height = Math.max(...found.map((each) => each.height))
    const cost = found.reduce((sum, each, i) => {
      const canStretch = band[i].cards.some((card) => STRETCHABLE.includes(card.kind))
      return sum + each.waste + widths[i] * (height - each.height) * (canStretch ? 0.3 : 1)
    }, 0.3 * columns)
    return { band, widths, found, height, cost }
  }
  const best = new Map()
  const { parts, cost } = divide(given.length, (from, to) => {
    const band = given.slice(from, to)
    const least = band.map(leastOf)
    if (band.length > MOST_SECTIONS_OF_BAND || least.reduce((a, b) => a + b, 0) > columns) return null
    let cheapest = { cost: Infinity }
    for (const widths of shares(least, columns)) {
      const found = together(band, widths)
      if (found.cost < cheapest.cost - 1e-9) cheapest = found
    }
    best.set(`${from} ${to}`, cheapest)
    return cheapest.cost
  })
  const kept = keep(given, before, columns, leastOf)?.map(({ band, widths }) => together(band, widths))
  const isGood = kept && kept.reduce((sum, each) => sum + each.cost, 0) <= WORSE * cost + columns
  const bands = isGood ? kept : parts.map(([from, to]) => best.get(`${from} ${to}`))
  return bands.map(({ band, widths, found, height }) => ({
    height,
    isStretchable: band.some(({ cards }) => cards.some(({ kind }) => STRETCHABLE.includes(kind) || kind === 'gauge')),
    sections: band.map(({ key }, i) => ({ key, width: widths[i], rows: found[i].rows.map(({ cards }) => cards.map(({ key, share, count }) => ({ key, share, count }))) })),
  }))
}

/** The bands of an arrangement with these sections; null if it has others, or they no longer fit. */
function keep(sections, before, columns, leastOf) {
  const all = before.flatMap((band) => band.sections)
  const isSame = all.length === sections.length && all.every(({ key }, i) => key === sections[i].key)
  const isFitting = isSame && all.every(({ width }, i) => width >= leastOf(sections[i]))
  if (!isFitting || before.some((band) => band.sections.reduce((sum, { width }) => sum + width, 0) !== columns)) return null
  const rest = [...sections]
  return before.map((band) => ({ band: rest.splice(0, band.sections.length), widths: band.sections.map(({ width }) => width) }))
}

/**
 * Where a card stands: all that is above it as text, and its left edge and width as parts of the board; null if it stands
 * nowhere.
 */
export function placeOf(bands, key) {
  const above = []
  for (const { sections } of bands) {
    const columns = sections.reduce((sum, { width }) => sum + width, 0)
    let start = 0
    for (const { width, rows, key: own } of sections) {
      const index = rows.findIndex((row) => row.some((each) => each.key === key))
      if (index >= 0) {
        const at = rows[index].findIndex((each) => each.key === key)
        const left = rows[index].slice(0, at).reduce((sum, { share }) => sum + share, 0)
        const part = width / columns
        return { above: JSON.stringify([above, own, rows.slice(0, index)]), left: start + left * part, width: rows[index][at].share * part }
      }
      start += width / columns
    }
    above.push(sections)
  }
  return null
}

/** Whether a control of a card would be elsewhere. A control at the beginning of its card does not mind the card's width. */
export function isMoved(before, after, isAtBeginning) {
  const differ = (a, b) => Math.abs(a - b) > 1e-6
  return Boolean(before) && (!after || before.above !== after.above || differ(before.left, after.left) || (!isAtBeginning && differ(before.width, after.width)))
}
