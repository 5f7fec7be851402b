import { lineNumbersOf } from '../../../../src/review/line-numbers.ts'
import type { ReviewState } from './review-state.ts'
import { drawnChunks } from './rows.tsx'

/** Height of a line below which nobody reads it, in px. */
const LEGIBLE_PX = 8

/** Time between two looks above which nobody knows what was in view: a page that was held back, in ms. */
export const LONGEST_GAP_MS = 500

/** Lines of one file that are in view. */
export interface LinesInView {
  path: string
  line_start: number
  line_end: number
}

const places = new WeakMap<object, number[]>()

/** Lists the lines that a person can see at this moment. */
export const linesInView = (state: Pick<ReviewState, 'parts'>): LinesInView[] => linesThat(state, isSeen)

/** Lists the lines on the screen for which a condition holds. */
export function linesThat({ parts }: Pick<ReviewState, 'parts'>, holds: (line: Element) => boolean): LinesInView[] {
  const byPath = new Map<string, number[]>()
  for (const chunk of drawnChunks) {
    const part = parts[Number(chunk.dataset.part)]
    if (part?.kind !== 'hunk' || !isOnScreen(chunk.getBoundingClientRect())) continue
    const from = Number(chunk.dataset.from)
    const ofPart = places.get(part) ?? lineNumbersOf(part.rows)
    places.set(part, ofPart)
    const lines = [...chunk.children].flatMap((line, at) => (holds(line) ? (ofPart[from + at] ?? []) : []))
    byPath.set(part.path, [...(byPath.get(part.path) ?? []), ...lines])
  }
  return [...byPath].flatMap(([path, lines]) =>
    runsOf(lines).map(([line_start, line_end]) => ({ path, line_start, line_end })),
  )
}

const isOnScreen = ({ top, bottom }: DOMRect): boolean => bottom > 0 && top < innerHeight

/**
 * Tells whether a person can see a line: it is on the screen, at least 8 px high, and nothing lies over it, so that a point at
 * its sign and one in its text hit it.
 */
export function isSeen(line: Element): boolean {
  const rect = line.getBoundingClientRect()
  if (!isOnScreen(rect)) return false
  // A line may be wrapped; its number is one line high. A zoom of the browser below 100 % shows in the ratio alone.
  const height = (line.firstElementChild?.getBoundingClientRect().height ?? 0) * Math.min(1, devicePixelRatio)
  if (height < LEGIBLE_PX) return false
  const y = (Math.max(rect.top, 0) + Math.min(rect.bottom, innerHeight)) / 2
  return [0.2, 0.5].every((share) => {
    const hit = document.elementFromPoint(rect.left + share * rect.width, y)
    return hit !== null && line.contains(hit)
  })
}

/** Joins numbers that follow each other. */
function runsOf(numbers: readonly number[]): [number, number][] {
  const runs: [number, number][] = []
  for (const number of [...new Set(numbers)].sort((one, other) => one - other)) {
    const last = runs.at(-1)
    if (last !== undefined && number === last[1] + 1) last[1] = number
    else runs.push([number, number])
  }
  return runs
}
