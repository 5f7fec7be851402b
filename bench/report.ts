import { COLUMNS, cellsOf, type Measure } from './measure.ts'

/** Collects the measures of a section. */
export interface Report {
  add(measure: Measure): void
}

/** An aligned table for a terminal. */
export function tableOf(measures: readonly Measure[]): string {
  const rows = [[...COLUMNS], ...measures.map(cellsOf)]
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)))
  const line = (cells: string[]) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return rows.map((cells) => line(cells).trimEnd()).join('\n')
}
