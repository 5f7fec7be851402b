import type { Hunk } from '../../../../src/review/change-parts.ts'
import { type Coloured, coloured } from './highlight.ts'
import { decoded } from './line-text.tsx'

/**
 * Colours rows of a hunk. The lines of the old and of the new file are read apart, as a removed line may begin a string that
 * no added one ends.
 */
export function colouredRows(path: string, rows: Hunk['rows']): Coloured[][] {
  const texts = rows.map(({ text }) => decoded(text.endsWith('\n') ? text.slice(0, -1) : text))
  const side = (other: '+' | '-') => {
    const indexes = [...rows.keys()].filter((index) => rows[index]?.kind !== other)
    const lines = coloured(
      path,
      indexes.map((index) => texts[index] ?? ''),
    )
    return new Map(indexes.map((index, at) => [index, lines[at] ?? []]))
  }
  const [old, now] = [side('+'), side('-')]
  return rows.map((_, index) => now.get(index) ?? old.get(index) ?? [])
}
