import type { GazeTensor } from '../../../../../src/gaze/tensor.ts'
import { cogOf, type LineDwell } from './attention-estimate.ts'
import { createDwellFinder, type Dwell, POINTER, WEBCAM } from './dwells.ts'
import type { GazeMap } from './gaze-map.ts'
import { consoleUrl, type Material } from './material.ts'
import { createGazeFollower, type Face, gazeConfidence } from './webcam.ts'

/**
 * Confidence of the pointer. Its position is exact, but it follows the eyes only loosely (Huang, White & Buscher 2012).
 */
const POINTER_CONFIDENCE = 0.6
/** Lifetime of a detected expression in milliseconds. */
const EXPRESSION_MS = 2000
/** Number of dwells that focus and load are computed from. */
const REMEMBERED = 200
const APP = 'Gazeway console'

/** Makes records from the pointer and the gaze until it is stopped. */
export interface Capture {
  /** Adds a detected face; null without one. */
  see(face: Face | null): void
  /** Ends the current dwells, and removes the listeners. */
  stop(): void
}

/**
 * Starts a capture.
 *
 * @param options.gazeMap returns the map from face to gaze; null before calibration
 * @param options.onRecord called with each record
 */
export function startCapture(options: {
  material: Material
  gazeMap: () => GazeMap | null
  onRecord: (record: GazeTensor) => void
}): Capture {
  const { material, onRecord } = options
  const since = Date.now()
  const streams = {
    pointer: { finder: createDwellFinder(POINTER), dwells: [] as LineDwell[], line: null as number | null },
    webcam: { finder: createDwellFinder(WEBCAM), dwells: [] as LineDwell[], line: null as number | null },
  }
  const follow = createGazeFollower()
  let face: Face | null = null

  function record(source: keyof typeof streams, dwell: Dwell | null, confidence: number) {
    if (dwell === null) return
    const stream = streams[source]
    const { line } = stream
    stream.dwells = [...stream.dwells.slice(1 - REMEMBERED), { at: dwell.at, ms: dwell.ms, line }]
    const place =
      line === null ? { url: consoleUrl('capture') } : { ...material.place, line_start: line, line_end: line }
    onRecord({
      at: new Date(dwell.at).toISOString(),
      dwell_ms: dwell.ms,
      source,
      confidence: rounded(confidence),
      cog: cogOf(stream.dwells, since),
      ...(face?.emo && dwell.at - face.at < EXPRESSION_MS && { emo: face.emo }),
      env: { ...place, app: APP, x: rounded(dwell.x), y: rounded(dwell.y) },
    })
  }

  const onMove = (event: PointerEvent) => {
    const point = { at: Date.now(), x: share(event.clientX, innerWidth), y: share(event.clientY, innerHeight) }
    record('pointer', streams.pointer.finder.push(point), POINTER_CONFIDENCE)
    streams.pointer.line = lineAt(event.clientX, event.clientY)
  }
  // Scrolling moves the text below a resting pointer, so the current dwell ends here.
  const onBreak = () => record('pointer', streams.pointer.finder.end(Date.now()), POINTER_CONFIDENCE)

  addEventListener('pointermove', onMove, { passive: true })
  addEventListener('scroll', onBreak, { passive: true, capture: true })
  addEventListener('blur', onBreak)

  return {
    see(seen) {
      const map = options.gazeMap()
      face = seen ?? face
      if (seen === null || map === null) return
      const gaze = follow(seen, map)
      record('webcam', streams.webcam.finder.push(gaze), gazeConfidence(seen, map))
      streams.webcam.line = lineAt(gaze.x * innerWidth, gaze.y * innerHeight)
    },
    stop() {
      removeEventListener('pointermove', onMove)
      removeEventListener('scroll', onBreak, { capture: true })
      removeEventListener('blur', onBreak)
      onBreak()
      const map = options.gazeMap()
      if (face !== null && map !== null)
        record('webcam', streams.webcam.finder.end(Date.now()), gazeConfidence(face, map))
    },
  }
}

/** Line of the text at a position in the window; null beside the text. */
function lineAt(x: number, y: number): number | null {
  const line = document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-line]')?.dataset.line
  return line === undefined ? null : Number(line)
}

const share = (value: number, whole: number) => Math.min(1, Math.max(0, value / Math.max(1, whole)))
const rounded = (value: number) => Math.round(value * 10_000) / 10_000
