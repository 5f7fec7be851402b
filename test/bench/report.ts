import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

/** One figure: a median, what it is compared with in the same run, and the most it may be. */
export interface Measure {
  what: string
  unit: 'ms' | 'MB'
  figure: number
  /** What was measured beside it. */
  against?: { what: string; figure: number }
  /** The most it may be: a figure in its unit, a multiple of `against`, or where both are given the greater of the two. */
  bar?: { atMost?: number; times?: number }
}

/** What was measured so far. */
export interface Report {
  add(measure: Measure): void
  /** Everything as a table for people. */
  table(): string
  /** Everything as JSON for programs. */
  json(): string
  /** Whether a figure is above its bar. */
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

  return {
    add: (measure) => void measures.push(measure),
    table() {
      const { cores, cpu, memory_gb, node, load_before, load_after } = machine()
      const shape = `${cores} cores (${cpu}), ${memory_gb} GB, Node ${node}, load average ${load_before} before, ${load_after} after`
      return [shape, '', ...align([HEADINGS, ...measures.map(row)])].join('\n')
    },
    json: () => JSON.stringify({ machine: machine(), measures: measures.map(asJson) }, null, 2),
    missed: () => measures.some(isMissed),
  }
}

function row(measure: Measure): string[] {
  const { what, figure, unit, against, bar } = measure
  const compared = against ? `${shown(against.figure)} ${unit} ${against.what}` : ''
  const ratio = against ? `${shown(figure / against.figure)} ×` : ''
  const verdict = isMissed(measure) ? 'MISS' : 'ok'
  return [what, `${shown(figure)} ${unit}`, compared, ratio, shownBar(measure), bar ? verdict : '']
}

function asJson(measure: Measure) {
  const { figure, against, bar } = measure
  return { ...measure, ...(against && { ratio: figure / against.figure }), ...(bar && { ok: !isMissed(measure) }) }
}

function isMissed({ figure, against, bar }: Measure): boolean {
  if (!bar) return false
  return figure > Math.max(bar.atMost ?? 0, (bar.times ?? 0) * (against?.figure ?? 0))
}

function shownBar({ unit, bar }: Measure): string {
  const parts = [bar?.times && `${bar.times} ×`, bar?.atMost && `${bar.atMost} ${unit}`].filter(Boolean)
  return parts.length > 0 ? `≤ ${parts.join(' or ')}` : ''
}

/** Three digits that count; whole numbers from 100. */
function shown(figure: number): string {
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
