/** Formats rows as a table with a header. Each column is as wide as its widest cell. */
export function aligned(head: readonly string[], rows: readonly (readonly (string | null)[])[]): string {
  const cells = [head, ...rows.map((row) => row.map((cell) => cell || '-'))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')
  return cells.map((row) => `${line(row).trimEnd()}\n`).join('')
}
