import { useEffect, useRef, useState } from 'preact/hooks'
import { Button, Primary } from '../../components/forms.ts'
import { type CalibrationSample, type GazeMap, learnGaze } from './gaze-map.ts'
import type { Face } from './webcam.ts'
import './capture.css'

/** Calibration points as shares of the window. */
const POINTS = [0.1, 0.5, 0.9].flatMap((y) => [0.06, 0.5, 0.94].map((x) => ({ x, y })))
/** Images of the face for each point. After {@link LONG_MS}, the few of a slow camera are enough. */
const LOOKS = 5
const FEW_LOOKS = 2
const LONG_MS = 1500
/** Time for the eyes to reach a new point, in milliseconds. */
const SETTLE_MS = 700

/**
 * Calibration with nine points over the whole window. Each is shown until the camera has seen enough.
 *
 * @param faces subscribes a listener to detected faces, and returns its unsubscribe function
 * @param onDone called with the map; null when the person cancelled
 */
export function Calibration(props: {
  faces: (listener: (face: Face | null) => void) => () => void
  onDone: (map: GazeMap | null) => void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [at, setAt] = useState(-1)
  const [seen, setSeen] = useState(true)
  const samples = useRef<CalibrationSample[]>([])
  const point = POINTS[at]

  useEffect(() => {
    dialog.current?.showModal()
  }, [])

  useEffect(() => {
    if (!point) return
    const from = Date.now() + SETTLE_MS
    let taken = 0
    let isDone = false
    return props.faces((face) => {
      setSeen(face !== null)
      if (face === null || face.at < from || isDone) return
      samples.current.push({ features: face.features, ...point })
      taken++
      if (taken < FEW_LOOKS || (taken < LOOKS && face.at < from + LONG_MS)) return
      isDone = true
      if (at + 1 < POINTS.length) setAt(at + 1)
      else props.onDone(learnGaze(samples.current))
    })
  }, [at])

  return (
    <dialog ref={dialog} class="calibration" aria-label="Calibrate the webcam" onClose={() => props.onDone(null)}>
      {point ? (
        <>
          <span
            class="calibration-point"
            style={{ left: `${100 * point.x}%`, top: `${100 * point.y}%` }}
            aria-hidden="true"
          />
          <p class="calibration-word" role="status">
            {seen
              ? `Look at the point: ${at + 1} of ${POINTS.length}`
              : 'No face detected. Face the camera, with light from the front.'}
          </p>
        </>
      ) : (
        <div class="calibration-word">
          <p>
            Nine points appear one after another. Look at each point until the next one appears, and keep your head
            still.
          </p>
        </div>
      )}
      <div class="calibration-actions">
        {!point && <Primary onClick={() => setAt(0)}>Start calibration</Primary>}
        <Button onClick={() => dialog.current?.close()}>Cancel</Button>
      </div>
    </dialog>
  )
}
