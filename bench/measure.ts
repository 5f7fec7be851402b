import * as z from 'zod'

/** A figure of something else, in the unit of the measure that names it. */
const Compared = z.object({ what: z.string(), figure: z.number() })
export type Compared = z.infer<typeof Compared>

/**
 * The limit of a figure. `atMost` is in its unit, `times` is a multiple of its `against`; where both are given the greater
 * counts. `atLeast` and `atLeastTimes` are the same from below.
 */
const Bar = z.object({
  atMost: z.number().optional(),
  times: z.number().optional(),
  atLeast: z.number().optional(),
  atLeastTimes: z.number().optional(),
})

/** One figure, usually a median: its unit, the figure of a peer in the same run, and its bar. */
export const Measure = z.object({
  what: z.string(),
  unit: z.enum(['ms', 'µs', 'bytes', 'KB', 'MB', 'tokens', 'req/s', 'writes/s', 'streams', '%']),
  figure: z.number(),
  /** The peer of the ratio. */
  against: Compared.optional(),
  /** Other peers, shown without a ratio. */
  besides: z.array(Compared).readonly().optional(),
  bar: Bar.optional(),
})
export type Measure = z.infer<typeof Measure>

/** The columns of {@link cellsOf}. */
export const COLUMNS = ['what', 'median', 'against', 'ratio', 'bar', 'result'] as const

/** The cells of a measure in a table: `COLUMNS` names them. */
export function cellsOf(measure: Measure): string[] {
  const { what, figure, unit, against, besides = [], bar } = measure
  const compared = [...(against ? [against] : []), ...besides].map((one) => `${shown(one.figure)} ${unit} ${one.what}`)
  const ratio = against ? `${shown(figure / against.figure)} ×` : ''
  const verdict = isMissed(measure) ? 'MISS' : 'ok'
  return [what, `${shown(figure)} ${unit}`, compared.join(', '), ratio, shownBar(measure), bar ? verdict : '']
}

/** Tells whether a figure misses its bar. A measure without a bar misses none. */
export function isMissed({ figure, against, bar = {} }: Measure): boolean {
  const { atMost, times, atLeast = 0, atLeastTimes = 0 } = bar
  const compared = against?.figure ?? 0
  const hasMost = atMost !== undefined || times !== undefined
  if (hasMost && figure > Math.max(atMost ?? 0, (times ?? 0) * compared)) return true
  return figure < Math.max(atLeast, atLeastTimes * compared)
}

function shownBar({ unit, bar = {} }: Measure): string {
  const { atMost, times, atLeast, atLeastTimes } = bar
  const most = [times && `${times} ×`, atMost !== undefined && `${atMost} ${unit}`].filter(Boolean).join(' or ')
  const least = [atLeastTimes && `${atLeastTimes} ×`, atLeast && `${atLeast} ${unit}`].filter(Boolean).join(' and ')
  return [most && `≤ ${most}`, least && `≥ ${least}`].filter(Boolean).join(', ')
}

/** Three significant digits; integers, and figures from 100, without decimals. */
function shown(figure: number): string {
  if (Number.isInteger(figure)) return String(figure)
  return figure >= 100 ? figure.toFixed(0) : figure.toPrecision(3)
}
