import { useRef, useState } from 'preact/hooks'
import { Badge, Card, ErrorNote } from '../../components/content.ts'
import { Button, Dialog, Primary } from '../../components/forms.ts'
import { percent } from '../../format.ts'
import { Calibration } from './calibration.tsx'
import type { GazeMap } from './gaze-map.ts'
import { FAR_OFF, type FollowingWebcam, useWebcam } from './use-webcam.ts'
import type { Face } from './webcam.ts'
import './capture.css'

/** Time between images, in milliseconds, above which eye movements are seen too rarely. */
const SLOW_MS = 300

/**
 * Camera: consent, preview and calibration.
 *
 * @param onFace called with each detected face; null without one
 * @param onMap called with the gaze map once it is usable; null when it no longer is
 */
export function WebcamPanel(props: { onFace: (face: Face | null) => void; onMap: (map: GazeMap | null) => void }) {
  const video = useRef<HTMLVideoElement>(null)
  const webcam = useWebcam(video, props)
  const [asking, setAsking] = useState(false)
  const [calibrating, setCalibrating] = useState(false)
  const { on, step, map, error, start, stop } = webcam

  return (
    <Card
      title="Webcam gaze"
      actions={
        on ? (
          <>
            <Button
              size="small"
              onClick={() => setCalibrating(true)}
              children={map ? 'Calibrate again' : 'Calibrate'}
            />
            <Button size="small" onClick={stop} children="Turn off" />
          </>
        ) : (
          <Button size="small" busy={step !== null} onClick={() => setAsking(true)} children="Use webcam" />
        )
      }
    >
      <Status of={webcam} />
      <ErrorNote error={error} {...(!on && { onRetry: start })} />
      <video ref={video} class={on ? 'preview' : 'preview off'} muted playsInline aria-label="Camera preview" />
      {asking && (
        <Consent
          onClose={() => setAsking(false)}
          onAgree={() => {
            setAsking(false)
            void start()
          }}
        />
      )}
      {calibrating && (
        <Calibration
          faces={webcam.faces}
          onDone={(made) => {
            setCalibrating(false)
            if (made !== null) webcam.learn(made)
          }}
        />
      )}
    </Card>
  )
}

function Consent({ onClose, onAgree }: { onClose: () => void; onAgree: () => void }) {
  return (
    <Dialog title="Follow your eyes with the webcam?" onClose={onClose}>
      <ul class="plain-list">
        <li>Images are analyzed in this browser. They are neither stored nor sent.</li>
        <li>
          Sent to this Gazeway: where in the window you looked, for how long, and the valence and arousal of your
          expression.
        </li>
        <li>A face model of 8 MB is loaded from this Gazeway only.</li>
        <li>You can turn the webcam off at any time. Leaving the page also turns it off.</li>
      </ul>
      <div class="actions end">
        <Button onClick={onClose}>Not now</Button>
        <Primary onClick={onAgree}>Agree and start the camera</Primary>
      </div>
    </Dialog>
  )
}

/** State of the webcam, with advice. */
function Status({ of: { on, step, seen, intervalMs, map, error } }: { of: FollowingWebcam }) {
  return (
    <>
      {!on && step === null && error === null && (
        <p class="hint">
          Optional. The webcam follows your eyes. The browser asks for the camera only after you agree.
        </p>
      )}
      <p role="status">{step ?? statusOf(on, seen, map)}</p>
      {on && intervalMs !== null && intervalMs > SLOW_MS && (
        <p class="hint">
          This machine analyzes {(1000 / intervalMs).toFixed(1)} images per second. Following eyes needs at least four.
          Close other programs, or enable hardware acceleration in the browser. The pointer is still recorded.
        </p>
      )}
      {map && map.error > FAR_OFF && (
        <p class="hint">
          The error is too large to record your gaze. Sit closer, with light from the front, and calibrate again. The
          pointer is still recorded.
        </p>
      )}
    </>
  )
}

function statusOf(on: boolean, seen: boolean | null, map: GazeMap | null) {
  if (!on) return null
  if (seen === null) return 'Looking for a face…'
  if (!seen) return 'No face detected. Face the camera, with light from the front.'
  if (map === null) return 'Face detected. Calibrate to start recording your gaze.'
  return (
    <>
      <Badge
        tone={map.error > FAR_OFF ? 'warn' : 'good'}
        children={map.error > FAR_OFF ? 'error too large' : 'following'}
      />{' '}
      Mean error: {percent(map.error)} of the window.
    </>
  )
}
