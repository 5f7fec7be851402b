import './review.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../components/fields.tsx'
import { Calibration } from '../pages/capture/calibration.tsx'
import { WEBCAM } from '../pages/capture/dwells.ts'
import type { GazeMap } from '../pages/capture/gaze-map.ts'
import { FAR_OFF, type FollowingWebcam, useWebcam } from '../pages/capture/use-webcam.ts'
import { createGazeFollower, gazeConfidence } from '../pages/capture/webcam.ts'
import { Fault } from './dialog-parts.tsx'
import { type EyesOnLines, type FollowedEyes, watchEyes } from './eyes-on-lines.ts'

/** Height of a line, in px, as in the style sheet. */
const LINE_PX = 20

/** Follows the eyes with the webcam: opens it, calibrates, and says how well it goes. */
export function WebcamEyes({ state, onRest, onOff }: FollowedEyes) {
  const video = useRef<HTMLVideoElement>(null)
  const eyes = useRef<EyesOnLines | null>(null)
  const gazeMap = useRef<GazeMap | null>(null)
  const follow = useRef(createGazeFollower())
  const [isCalibrating, setCalibrating] = useState(true)
  const webcam = useWebcam(video, {
    onFace(face) {
      const map = gazeMap.current
      if (face !== null && map !== null) eyes.current?.look(follow.current(face, map), gazeConfidence(face, map))
    },
    onMap(map) {
      gazeMap.current = map
    },
  })
  useEffect(() => {
    const reach = () => (gazeMap.current?.error ?? 0) * innerHeight
    const watch = watchEyes({ state, source: 'webcam', terms: WEBCAM, reach, onRest })
    eyes.current = watch
    void webcam.start()
    return () => watch.stop()
  }, [])

  return (
    <section class="review-eyes" aria-label="Webcam">
      <video ref={video} class="review-camera" muted playsInline aria-label="Camera preview" />
      <p role="status">{statusOf(webcam)}</p>
      <Fault text={webcam.error === null ? null : (webcam.error as Error).message} />
      <div class="actions">
        {webcam.on && <Button onClick={() => setCalibrating(true)} children="Calibrate" />}
        {webcam.error !== null && <Button onClick={() => void webcam.start()} children="Retry" />}
        <Button onClick={onOff} children="Turn off" />
      </div>
      {webcam.on && isCalibrating && (
        <Calibration
          faces={webcam.faces}
          onDone={(map) => {
            setCalibrating(false)
            if (map !== null) webcam.learn(map)
          }}
        />
      )}
    </section>
  )
}

function statusOf({ on, step, seen, map }: FollowingWebcam): string {
  if (step !== null) return step
  if (!on) return 'The webcam is off.'
  if (seen === false) return 'No face detected. Face the camera, with light from the front.'
  if (map === null) return 'Your eyes are not followed before the calibration.'
  if (map.error > FAR_OFF)
    return 'The error is too large to tell where you look. Sit closer, with light from the front, and calibrate again.'
  const lines = Math.max(1, Math.ceil((2 * map.error * innerHeight) / LINE_PX))
  return `Your eyes are followed, to about ${lines} lines.`
}
