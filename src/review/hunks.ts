import { type Hunk, hunkDigest, type Row } from './change-parts.ts'
import { type Block, diffLines } from './line-diff.ts'
import { pathName } from './path-name.ts'

/** Unchanged lines on either side of a hunk. Its digest covers them. */
const CONTEXT = 3

/**
 * Cuts the difference of two contents into hunks. Changes with at most six unchanged lines between them are one hunk. A
 * carriage return is part of its line.
 *
 * @param path its bytes, each as one character
 * @param contents of the old and the new file, bytes as characters; empty for a missing one
 */
export function hunksOf(path: string, oldContent: string, newContent: string): Hunk[] {
  const oldLines = linesOf(oldContent)
  const newLines = linesOf(newContent)
  const name = pathName(path)
  return grouped(diffLines(oldLines, newLines)).map((blocks) => {
    const rows = rowsOf(blocks, oldLines, newLines)
    const lines = rows.filter(({ kind }) => kind !== ' ').length
    return { kind: 'hunk', path: name, digest: hunkDigest(name, rows), lines, rows }
  })
}

const linesOf = (content: string): string[] => content.match(/[^\n]*\n|[^\n]+$/g) ?? []

function grouped(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = []
  for (const block of blocks) {
    const last = groups.at(-1)
    if (last !== undefined && block.oldFrom - (last.at(-1) as Block).oldTo <= 2 * CONTEXT) last.push(block)
    else groups.push([block])
  }
  return groups
}

function rowsOf(blocks: readonly Block[], oldLines: readonly string[], newLines: readonly string[]): Row[] {
  const rows: Row[] = []
  const [first] = blocks as [Block]
  const shift = first.newFrom - first.oldFrom
  let at = Math.max(0, first.oldFrom - CONTEXT)
  let offset = shift
  const unchanged = (to: number) => {
    for (; at < to; at++) rows.push({ kind: ' ', text: oldLines[at] as string, old: at + 1, new: at + 1 + offset })
  }
  for (const { oldFrom, oldTo, newFrom, newTo } of blocks) {
    unchanged(oldFrom)
    for (; at < oldTo; at++) rows.push({ kind: '-', text: oldLines[at] as string, old: at + 1, new: null })
    for (let line = newFrom; line < newTo; line++)
      rows.push({ kind: '+', text: newLines[line] as string, old: null, new: line + 1 })
    offset = newTo - oldTo
  }
  unchanged(Math.min(oldLines.length, at + CONTEXT))
  return rows
}
