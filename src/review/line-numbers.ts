import type { Row } from './change-parts.ts'

/**
 * Lists the lines at which the rows of a hunk stand, as records of attention name them: those of the new file. Removed
 * lines stand before the line that follows them; those of a removed file have their old numbers.
 */
export function lineNumbersOf(rows: readonly Pick<Row, 'old' | 'new'>[]): number[] {
  if (rows.every((row) => row.new === null)) return rows.map((row) => row.old as number)
  let next = rows.findLast((row) => row.new !== null)?.new as number
  return rows
    .toReversed()
    .map((row) => {
      next = row.new ?? next
      return next
    })
    .reverse()
}
