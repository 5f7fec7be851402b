import { aligned } from './text-table.ts'

/** Widest line, in characters. */
const COLUMNS = 120
const INDENT = '    '
/** Widest name in a column. */
const NAME = 24

/** A row of a table, and what stands below it. */
export interface DetailedRow {
  cells: readonly (string | null)[]
  /** By their labels; empty ones and null are omitted. */
  details: Readonly<Record<string, string | null>>
}

/**
 * Formats rows as a table that fits a terminal of 120 columns. The details of a row follow it, indented and wrapped:
 * `limits: 5 per day; group: team`.
 */
export function detailed(head: readonly string[], rows: readonly DetailedRow[]): string {
  const [top = '', ...lines] = aligned(
    head,
    rows.map(({ cells }) => cells),
  )
    .trimEnd()
    .split('\n')
  const below = rows.map(({ details }) => {
    const set = Object.entries(details).filter(([, value]) => value)
    return wrapped(set.map(([label, value]) => `${label}: ${value}`).join('; '))
  })
  return `${[top, ...lines.flatMap((line, row) => [line, ...(below[row] ?? [])])].join('\n')}\n`
}

/** Shortens a name to the width of its column. */
export const clipped = (name: string): string => (name.length <= NAME ? name : `${name.slice(0, NAME - 1)}…`)

/** Wraps text at spaces. A longer word is cut. */
function wrapped(text: string): string[] {
  const width = COLUMNS - INDENT.length
  const lines: string[] = []
  for (let rest = text; rest !== ''; ) {
    const space = rest.length <= width ? rest.length : rest.lastIndexOf(' ', width)
    const end = space > 0 ? space : width
    lines.push(INDENT + rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  return lines
}
