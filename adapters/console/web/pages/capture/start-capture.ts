import type { GazeTensor } from '../../../../../src/gaze/tensor.ts'
import { createDwellFinder, type Dwell, POINTER, WEBCAM } from './dwells.ts'
import type { GazeMap } from './gaze-map.ts'
import { consoleUrl, type Material } from './material.ts'
import { CALM, cogOf, type LineDwell } from './mind.ts'
import type { Face } from './webcam.ts'

/** A pointer is where it is, but it only follows the eyes, now near, now far (Huang, White & Buscher 2012). */
const POINTER_CONFIDENCE = 0.6
/** Lifetime of a detected expression in milliseconds. */
const EXPRESSION_MS = 2000
/** The share of a new position in the smoothed one: a webcam's gaze jitters. */
const SMOOTHING = 0.5
/** The dwells that focus and load are taken from. */
const REMEMBERED = 200
const APP = 'Gazeway console'

/** Makes records of where the pointer and the gaze are, until it is stopped. */
export interface Capture {
  /** Adds a detected face; null without one. */
  see(face: Face | null): void
  /** Ends what is going on, and listens no more. */
  stop(): void
}

/**
 * @param options.gazeMap how the person's gaze follows from their face; null until it was calibrated
 * @param options.onRecord told of each record as it is made
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
  let gaze: { x: number; y: number } | null = null
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
      emo: face !== null && dwell.at - face.at < EXPRESSION_MS ? face.emo : CALM,
      env: { ...place, app: APP, x: rounded(dwell.x), y: rounded(dwell.y) },
    })
  }

  const onMove = (event: PointerEvent) => {
    const point = { at: Date.now(), x: share(event.clientX, innerWidth), y: share(event.clientY, innerHeight) }
    record('pointer', streams.pointer.finder.push(point), POINTER_CONFIDENCE)
    streams.pointer.line = lineAt(event.clientX, event.clientY)
  }
  // The text moves away below a pointer that rests: what was looked at before ends here.
  const onBreak = () => record('pointer', streams.pointer.finder.end(Date.now()), POINTER_CONFIDENCE)

  addEventListener('pointermove', onMove, { passive: true })
  addEventListener('scroll', onBreak, { passive: true, capture: true })
  addEventListener('blur', onBreak)

  const gazeConfidence = (seen: Face, map: GazeMap) => seen.confidence * Math.max(0, 1 - 2 * map.error)

  return {
    see(seen) {
      const map = options.gazeMap()
      face = seen ?? face
      if (seen === null || map === null) return
      const { x, y } = map.at(seen.features)
      gaze = gaze === null ? { x, y } : { x: gaze.x + SMOOTHING * (x - gaze.x), y: gaze.y + SMOOTHING * (y - gaze.y) }
      record('webcam', streams.webcam.finder.push({ at: seen.at, ...gaze }), gazeConfidence(seen, map))
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

/** The line of the text at a position in the window; null beside the text. */
function lineAt(x: number, y: number): number | null {
  const line = document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-line]')?.dataset.line
  return line === undefined ? null : Number(line)
}

const share = (value: number, whole: number) => Math.min(1, Math.max(0, value / Math.max(1, whole)))
const rounded = (value: number) => Math.round(value * 10_000) / 10_000
