import type { Point } from '../pages/capture/dwells.ts'

/** Interval at which the page asks for positions, in ms. */
const ASK_MS = 200

/** Positions that the program of an eye tracker sends to `gazeway review`, as shares of the screen. */
export interface Tracker {
  /** Lets a tracker send positions from now on. Returns the token that it needs, and what to ask for first. */
  open(): Promise<{ token: string; next: number }>
  /** Refuses the positions of a tracker until it is opened again. */
  close(): Promise<void>
  /** @returns those that came since `after`, and what to ask for next */
  positions(after: number): Promise<{ positions: readonly Point[]; next: number }>
}

/** Passes on the positions of a tracker, as shares of the window. Returns a function that ends it. */
export function followTracker(
  tracker: Tracker,
  on: {
    onToken: (token: string) => void
    onPoints: (points: readonly Point[]) => void
    onFault: (message: string) => void
  },
): () => void {
  const screenOf = watchScreen()
  let isOn = true
  const follow = async () => {
    const { token, next: first } = await tracker.open()
    on.onToken(token)
    for (let after = first; isOn; ) {
      const { positions, next } = await tracker.positions(after)
      after = next
      if (isOn && positions.length > 0) on.onPoints(positions.map(screenOf.toWindow))
      await new Promise((done) => setTimeout(done, ASK_MS))
    }
  }
  follow().catch((error: Error) => isOn && on.onFault(error.message))
  return () => {
    isOn = false
    screenOf.stop()
    // Where this fails, the next opening drops what was sent until then.
    tracker.close().catch(() => {})
  }
}

/** Watches where the window is on the screen. The bars of the browser may be anywhere: a pointer in the page tells it exactly. */
function watchScreen() {
  let origin: { x: number; y: number } | null = null
  const onMove = ({ screenX, screenY, clientX, clientY }: PointerEvent) => {
    origin = { x: screenX - clientX, y: screenY - clientY }
  }
  addEventListener('pointermove', onMove, { passive: true })
  return {
    toWindow({ at, x, y }: Point): Point {
      const { x: left, y: top } = origin ?? { x: screenX, y: screenY + outerHeight - innerHeight }
      return { at, x: (x * screen.width - left) / innerWidth, y: (y * screen.height - top) / innerHeight }
    },
    stop: () => removeEventListener('pointermove', onMove),
  }
}
