import { createDwellFinder, type Dwell, type DwellTerms, type Point } from '../pages/capture/dwells.ts'
import { isSeen, type LinesInView, linesThat } from './in-view.ts'
import type { ReviewState } from './review-state.ts'
import type { Rest } from './watch-reading.ts'

/** Eyes that a reviewer lets follow. */
export interface FollowedEyes {
  state: ReviewState
  onRest: (rest: Rest) => void
  /** Called when the reviewer turns it off. */
  onOff: () => void
}

/** Watch for rests of the eyes on the lines of a change. */
export interface EyesOnLines {
  /** @param point shares of the window; one beside it ends a rest. @param confidence of this position, 0 to 1 */
  look(point: Point, confidence?: number): void
  stop(): void
}

/**
 * Finds rests of the eyes, and the lines that they were on: those that are in view within the error of the position. A rest is
 * on the lines of one file.
 *
 * @param options.reach error of a position, up and down, in px
 */
export function watchEyes(options: {
  state: ReviewState
  source: Rest['source']
  terms: DwellTerms
  reach: () => number
  onRest: (rest: Rest) => void
}): EyesOnLines {
  const { state, source, terms, reach, onRest } = options
  const finder = createDwellFinder(terms)
  let lines: LinesInView | undefined
  let sure: number | undefined

  const record = (dwell: Dwell | null) => {
    if (dwell === null || lines === undefined) return
    const env = { ...lines, x: rounded(dwell.x), y: rounded(dwell.y) }
    onRest({
      source,
      since: dwell.at,
      dwell_ms: dwell.ms,
      env,
      ...(sure !== undefined && { confidence: rounded(sure) }),
    })
  }
  // Scrolling moves other lines to where the eyes rest, and nobody reads a page in the background.
  const end = () => record(finder.end(Date.now()))
  addEventListener('scroll', end, { passive: true, capture: true })
  addEventListener('blur', end)
  return {
    look(point, confidence) {
      if (document.visibilityState !== 'visible' || !document.hasFocus()) return
      if (!isInWindow(point)) return record(finder.end(point.at))
      record(finder.push(point))
      lines = linesAt(state, point, reach())
      sure = confidence
    },
    stop() {
      removeEventListener('scroll', end, { capture: true })
      removeEventListener('blur', end)
      end()
    },
  }
}

const isInWindow = ({ x, y }: Point): boolean => x >= 0 && x <= 1 && y >= 0 && y <= 1

/** Finds the lines in view around a position: those with the line at it, or else the first ones. */
function linesAt(state: ReviewState, { x, y }: Point, reach: number): LinesInView | undefined {
  const [left, top] = [x * innerWidth, y * innerHeight]
  const isNear = (line: Element) => {
    const rect = line.getBoundingClientRect()
    return rect.top <= top + reach && rect.bottom >= top - reach
  }
  const around = linesThat(state, (line) => isNear(line) && isSeen(line))
  const hit = document.elementFromPoint(left, top)?.closest('.diff-line')
  const [at] = hit ? linesThat(state, (line) => line === hit) : []
  const isOfHit = ({ path, line_start, line_end }: LinesInView) =>
    at !== undefined && path === at.path && line_start <= at.line_start && at.line_start <= line_end
  return around.find(isOfHit) ?? around[0]
}

const rounded = (value: number) => Math.round(value * 10_000) / 10_000
