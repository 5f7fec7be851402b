import type { Point } from '../pages/capture/dwells.ts'

/** Interval at which the page asks for positions, in ms. */
const ASK_MS = 200

/** Positions that the program of an eye tracker sends to `gazeway review`, as shares of the screen. */
export interface Tracker {
  /** Lets a tracker send positions from now on. Returns the token that it needs. */
  open(): Promise<string>
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
    on.onToken(await tracker.open())
    for (let after = 0; isOn; ) {
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
