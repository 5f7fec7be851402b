import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { isSameSecret } from './page-token.ts'

/** Positions that are kept until the page asks for them: those of a minute and a half at 120 Hz. */
const MOST_KEPT = 10_000

/** Beyond the edges of the screen, trackers say more or less than 0 to 1. */
const share = z.number().min(-10).max(10)

/** Positions of eyes as the program of a tracker sends them. */
export const SentPositions = z.object({
  positions: z
    .array(
      z.object({
        at: z.number().min(0).optional().describe('Unix ms; the time of arrival by default'),
        x: share.describe('share of the screen, from the left'),
        y: share.describe('share of the screen, from the top'),
      }),
    )
    .max(1000),
})

/** Positions of eyes, between a tracker and the page that knows which lines are there. */
export interface TrackerPositions {
  /** Takes positions from now on, without those of before. Returns the token that a tracker needs, and what to ask for first. */
  open(): { token: string; next: number }
  /** Takes none until it is opened again. */
  close(): void
  isToken(token: string): boolean
  add(sent: z.infer<typeof SentPositions>, now: number): void
  since(after: number): { positions: { at: number; x: number; y: number }[]; next: number }
}

/** Creates a place for positions. It takes none before it is opened. */
export function createTrackerPositions(): TrackerPositions {
  const token = randomBytes(32).toString('base64url')
  let isOpen = false
  let kept: { at: number; x: number; y: number }[] = []
  let next = 0
  return {
    open() {
      isOpen = true
      kept = []
      return { token, next }
    },
    close() {
      isOpen = false
      kept = []
    },
    isToken: (sent) => isOpen && isSameSecret(sent, token),
    add({ positions }, now) {
      kept = [...kept, ...positions.map(({ at = now, x, y }) => ({ at, x, y }))].slice(-MOST_KEPT)
      next += positions.length
    },
    since: (after) => ({ positions: kept.slice(Math.max(0, kept.length - (next - after))), next }),
  }
}
