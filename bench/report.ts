import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

/** One figure: a median, what it is compared with in the same run, and the bar that it has to keep. */
export interface Measure {
  what: string
  unit: 'ms' | 'µs' | 'KB' | 'MB' | 'tokens' | 'req/s' | 'writes/s' | 'streams' | '%'
  figure: number
  /** What was measured beside it. */
  against?: Compared
  /** What else was, and is told without a ratio. */
  besides?: readonly Compared[]
  bar?: Bar
}

/** A figure of something else, in the same unit. */
export interface Compared {
  what: string
  figure: number
}

/**
 * The most a figure may be: `atMost` in its unit, `times` its `against`, or where both are given the greater of the two.
 * Or the least: `atLeast` in its unit, or `atLeastTimes` its `against`.
 */
export interface Bar {
  atMost?: number
  times?: number
  atLeast?: number
  atLeastTimes?: number
}

/** What was measured so far. */
export interface Report {
  add(measure: Measure): void
  /** Everything as a table for people. */
  table(): string
  /** Everything as a table in Markdown. */
  markdown(): string
  /** Everything as JSON for programs. */
  json(): string
  /** Whether a figure misses its bar. */
  missed(): boolean
}

const HEADINGS = ['what', 'median', 'against', 'ratio', 'bar', '']

/** An empty report; the machine's load is read now and again when it is printed. */
export function createReport(): Report {
  const measures: Measure[] = []
  const loadBefore = load()

  function machine() {
    return {
      cores: availableParallelism(),
      cpu: cpus()[0]?.model ?? 'unknown',
      memory_gb: Math.round(totalmem() / 2 ** 30),
      node: process.version,
      load_before: loadBefore,
      load_after: load(),
    }
  }

  function shape(): string {
    const { cores, cpu, memory_gb, node, load_before, load_after } = machine()
    return `${cores} cores (${cpu}), ${memory_gb} GB, Node ${node}, load average ${load_before} before, ${load_after} after`
  }

  return {
    add: (measure) => void measures.push(measure),
    table: () => [shape(), '', ...align([HEADINGS, ...measures.map(row)])].join('\n'),
    markdown() {
      const rows = [HEADINGS, HEADINGS.map(() => '---'), ...measures.map(row)]
      return [...rows.map((cells) => `| ${cells.join(' | ')} |`), '', `${shape()}.`].join('\n')
    },
    json: () => JSON.stringify({ machine: machine(), measures: measures.map(asJson) }, null, 2),
    missed: () => measures.some(isMissed),
  }
}

function row(measure: Measure): string[] {
  const { what, figure, unit, against, besides = [], bar } = measure
  const compared = [...(against ? [against] : []), ...besides].map((one) => `${shown(one.figure)} ${unit} ${one.what}`)
  const ratio = against ? `${shown(figure / against.figure)} ×` : ''
  const verdict = isMissed(measure) ? 'MISS' : 'ok'
  return [what, `${shown(figure)} ${unit}`, compared.join(', '), ratio, shownBar(measure), bar ? verdict : '']
}

function asJson(measure: Measure) {
  const { figure, against, bar } = measure
  return { ...measure, ...(against && { ratio: figure / against.figure }), ...(bar && { ok: !isMissed(measure) }) }
}

function isMissed({ figure, against, bar = {} }: Measure): boolean {
  const { atMost, times, atLeast = 0, atLeastTimes = 0 } = bar
  const compared = against?.figure ?? 0
  const hasMost = atMost !== undefined || times !== undefined
  if (hasMost && figure > Math.max(atMost ?? 0, (times ?? 0) * compared)) return true
  return figure < Math.max(atLeast, atLeastTimes * compared)
}

function shownBar({ unit, bar = {} }: Measure): string {
  const { atMost, times, atLeast, atLeastTimes } = bar
  const most = [times && `${times} ×`, atMost && `${atMost} ${unit}`].filter(Boolean).join(' or ')
  const least = [atLeastTimes && `${atLeastTimes} ×`, atLeast && `${atLeast} ${unit}`].filter(Boolean).join(' and ')
  return [most && `≤ ${most}`, least && `≥ ${least}`].filter(Boolean).join(', ')
}

/** Three digits that count; whole numbers as they are, and from 100. */
function shown(figure: number): string {
  if (Number.isInteger(figure)) return String(figure)
  return figure >= 100 ? figure.toFixed(0) : figure.toPrecision(3)
}

function align(rows: string[][]): string[] {
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)))
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** The load average of the last minute. */
function load(): number {
  return Number((loadavg()[0] ?? 0).toFixed(2))
}
