import type { Point } from './dwells.ts'
import type { GazeMap } from './gaze-map.ts'
import type { Face } from './webcam.ts'

/** Share of a new position in the smoothed one, because the gaze of a webcam jitters. */
const SMOOTHING = 0.5

/** Follows the gaze of detected faces over the window. */
export function createGazeFollower(): (face: Face, map: GazeMap) => Point {
  let gaze: { x: number; y: number } | null = null
  return (face, map) => {
    const { x, y } = map.at(face.features)
    gaze = gaze === null ? { x, y } : { x: gaze.x + SMOOTHING * (x - gaze.x), y: gaze.y + SMOOTHING * (y - gaze.y) }
    return { at: face.at, ...gaze }
  }
}

/** Confidence of a position: that of the face, less for a map with a larger error. */
export const gazeConfidence = (face: Face, map: GazeMap): number => face.confidence * Math.max(0, 1 - 2 * map.error)
