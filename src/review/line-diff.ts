/**
 * A changed block: lines `oldFrom` to `oldTo` became lines `newFrom` to `newTo`. Lines count from 0, ends are exclusive,
 * and one of both ranges may be empty.
 */
export interface Block {
  oldFrom: number
  oldTo: number
  newFrom: number
  newTo: number
}

/** Edits between two anchors above which a stretch counts as replaced as a whole. */
const MOST_EDITS = 512

/**
 * Compares two lists of lines. Lines that occur once on either side are anchors, the longest run of them that is in
 * order on both sides is kept, and so on between them (patience diff: Bram Cohen, 2005). Without an anchor, the shortest
 * edit script is looked for (Myers, "An O(ND) Difference Algorithm", 1986), up to {@link MOST_EDITS} edits.
 *
 * Digests of hunks depend on the result: another algorithm needs another name of the digest.
 */
export function diffLines(oldLines: readonly string[], newLines: readonly string[]): Block[] {
  const blocks: Block[] = []
  compare({ oldFrom: 0, oldTo: oldLines.length, newFrom: 0, newTo: newLines.length })
  return blocks

  function compare(range: Block): void {
    const inner = trimmed(oldLines, newLines, range)
    if (inner.oldFrom === inner.oldTo || inner.newFrom === inner.newTo) {
      add(inner)
      return
    }
    const anchors = inOrder(uniquePairs(oldLines, newLines, inner))
    if (anchors.length > 0) between(inner, anchors, compare)
    else between(inner, keptByMyers(oldLines, newLines, inner), add)
  }

  function add(block: Block): void {
    if (block.oldFrom === block.oldTo && block.newFrom === block.newTo) return
    const last = blocks.at(-1)
    if (last?.oldTo !== block.oldFrom || last.newTo !== block.newFrom) blocks.push({ ...block })
    else Object.assign(last, { oldTo: block.oldTo, newTo: block.newTo })
  }
}

/** Calls `each` with the ranges before, between and after equal lines. */
function between(range: Block, pairs: readonly Pair[], each: (gap: Block) => void): void {
  let { oldFrom, newFrom } = range
  for (const [oldAt, newAt] of pairs) {
    each({ oldFrom, oldTo: oldAt, newFrom, newTo: newAt })
    oldFrom = oldAt + 1
    newFrom = newAt + 1
  }
  each({ oldFrom, oldTo: range.oldTo, newFrom, newTo: range.newTo })
}

/** A line of the old side and the equal line of the new side. */
type Pair = readonly [oldAt: number, newAt: number]

/** Narrows a range by the equal lines at its start and its end. */
function trimmed(oldLines: readonly string[], newLines: readonly string[], range: Block): Block {
  let { oldFrom, oldTo, newFrom, newTo } = range
  while (oldFrom < oldTo && newFrom < newTo && oldLines[oldFrom] === newLines[newFrom]) {
    oldFrom++
    newFrom++
  }
  while (oldFrom < oldTo && newFrom < newTo && oldLines[oldTo - 1] === newLines[newTo - 1]) {
    oldTo--
    newTo--
  }
  return { oldFrom, oldTo, newFrom, newTo }
}

/** Finds lines that occur once in each range, in the order of the old side. */
function uniquePairs(oldLines: readonly string[], newLines: readonly string[], range: Block): Pair[] {
  const oldPlaces = places(oldLines, range.oldFrom, range.oldTo)
  const newPlaces = places(newLines, range.newFrom, range.newTo)
  const pairs: Pair[] = []
  for (const [line, oldAt] of oldPlaces) {
    const newAt = newPlaces.get(line)
    if (oldAt !== REPEATED && newAt !== undefined && newAt !== REPEATED) pairs.push([oldAt, newAt])
  }
  return pairs
}

/** Place of a line that occurs more than once. */
const REPEATED = -1

function places(lines: readonly string[], from: number, to: number): Map<string, number> {
  const found = new Map<string, number>()
  for (let at = from; at < to; at++) {
    const line = lines[at] as string
    found.set(line, found.has(line) ? REPEATED : at)
  }
  return found
}

/** Finds the longest run of pairs whose new lines ascend, too (patience sorting). */
function inOrder(pairs: readonly Pair[]): Pair[] {
  const ends: number[] = []
  const before: number[] = []
  for (const [index, [, newAt]] of pairs.entries()) {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[ends[middle] as number] as Pair)[1] < newAt) low = middle + 1
      else high = middle
    }
    before[index] = low === 0 ? -1 : (ends[low - 1] as number)
    ends[low] = index
  }
  const run: Pair[] = []
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index] as number) run.push(pairs[index] as Pair)
  return run.reverse()
}

/** Finds the equal lines that a shortest edit script keeps. None when it has more than {@link MOST_EDITS} edits. */
function keptByMyers(oldLines: readonly string[], newLines: readonly string[], range: Block): Pair[] {
  const oldCount = range.oldTo - range.oldFrom
  const newCount = range.newTo - range.newFrom
  const middle = MOST_EDITS + 1
  const reached = new Int32Array(2 * middle + 1)
  /** Furthest old lines before each edit, from the diagonal -edits-1 on. */
  const trace: Int32Array[] = []
  for (let edits = 0; edits <= MOST_EDITS; edits++) {
    trace.push(reached.slice(middle - edits - 1, middle + edits + 2))
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let oldAt = edits === 0 ? 0 : startOf(reached, middle + diagonal, diagonal, edits)
      let newAt = oldAt - diagonal
      while (
        oldAt < oldCount &&
        newAt < newCount &&
        oldLines[range.oldFrom + oldAt] === newLines[range.newFrom + newAt]
      ) {
        oldAt++
        newAt++
      }
      reached[middle + diagonal] = oldAt
      if (oldAt >= oldCount && newAt >= newCount) return walkBack(trace, oldCount, newCount, range)
    }
  }
  return []
}

/** Tells whether the furthest edit on a diagonal adds a line; otherwise it removes one. */
function isAdded(reached: Int32Array, at: number, diagonal: number, edits: number): boolean {
  return diagonal === -edits || (diagonal !== edits && (reached[at - 1] as number) < (reached[at + 1] as number))
}

/** Returns the old line that an edit on a diagonal leads to. */
function startOf(reached: Int32Array, at: number, diagonal: number, edits: number): number {
  return isAdded(reached, at, diagonal, edits) ? (reached[at + 1] as number) : (reached[at - 1] as number) + 1
}

function walkBack(trace: readonly Int32Array[], oldCount: number, newCount: number, range: Block): Pair[] {
  const kept: Pair[] = []
  let oldAt = oldCount
  let diagonal = oldCount - newCount
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const reached = trace[edits] as Int32Array
    const at = diagonal + edits + 1
    const start = edits === 0 ? 0 : startOf(reached, at, diagonal, edits)
    while (oldAt > start) {
      oldAt--
      kept.push([range.oldFrom + oldAt, range.newFrom + oldAt - diagonal])
    }
    if (isAdded(reached, at, diagonal, edits)) diagonal++
    else {
      diagonal--
      oldAt--
    }
  }
  return kept.reverse()
}
