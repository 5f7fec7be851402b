import { useEffect, useRef, useState } from 'preact/hooks'
import { Badge, Button, Card, Dialog, ErrorNote } from '../../components/components.ts'
import { percent } from '../../format.ts'
import { Calibration } from './calibration.tsx'
import type { GazeMap } from './gaze-map.ts'
import { type Face, openWebcam, type Webcam, type WebcamStep } from './webcam.ts'
import './capture.css'

/** Largest error of a map, as a share of the window. A map with a larger error is not used for records. */
const FAR_OFF = 0.25
/** Time between images, in milliseconds, above which eye movements are seen too rarely. */
const SLOW_MS = 300
/** Share of the newest interval in the mean interval between images. */
const NEWEST = 0.3

/**
 * Camera: consent, preview and calibration.
 *
 * @param onFace called with each detected face; null without one
 * @param onMap called with the gaze map once it is usable; null when it no longer is
 */
export function WebcamPanel(props: { onFace: (face: Face | null) => void; onMap: (map: GazeMap | null) => void }) {
  const video = useRef<HTMLVideoElement>(null)
  const webcam = useRef<Webcam | null>(null)
  const listeners = useRef(new Set<(face: Face | null) => void>())
  const gone = useRef(false)
  const [asking, setAsking] = useState(false)
  const [step, setStep] = useState<WebcamStep | null>(null)
  const [on, setOn] = useState(false)
  const [seen, setSeen] = useState<boolean | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [calibrating, setCalibrating] = useState(false)
  const [apart, setApart] = useState<number | null>(null)
  const pictureAt = useRef<number | null>(null)
  const [map, setMap] = useState<GazeMap | null>(null)

  const learnt = (made: GazeMap | null) => {
    setMap(made)
    props.onMap(made !== null && made.error <= FAR_OFF ? made : null)
  }
  const stop = () => {
    webcam.current?.stop()
    webcam.current = null
    setOn(false)
    setSeen(null)
    setApart(null)
    pictureAt.current = null
    learnt(null)
  }
  useEffect(
    () => () => {
      gone.current = true
      webcam.current?.stop()
    },
    [],
  )

  const start = async () => {
    setAsking(false)
    setError(null)
    const element = video.current
    if (!element) return
    try {
      const opened = await openWebcam(element, {
        onStep: setStep,
        onFace(face) {
          setSeen(face !== null)
          const now = performance.now()
          const since = pictureAt.current === null ? null : now - pictureAt.current
          pictureAt.current = now
          if (since !== null) setApart((mean) => (mean === null ? since : mean + NEWEST * (since - mean)))
          for (const listener of listeners.current) listener(face)
          props.onFace(face)
        },
        onFault(fault) {
          stop()
          setError(fault)
        },
      })
      if (gone.current) return opened.stop()
      webcam.current = opened
      setOn(true)
    } catch (fault) {
      setError(fault)
    } finally {
      setStep(null)
    }
  }

  return (
    <Card
      title="Webcam gaze"
      actions={
        on ? (
          <>
            <Button size="small" onClick={() => setCalibrating(true)}>
              {map ? 'Calibrate again' : 'Calibrate'}
            </Button>
            <Button size="small" onClick={stop}>
              Turn off
            </Button>
          </>
        ) : (
          <Button size="small" busy={step !== null} onClick={() => setAsking(true)}>
            Use webcam
          </Button>
        )
      }
    >
      {!on && step === null && error === null && (
        <p class="hint">
          Optional. The webcam follows your eyes. The browser asks for the camera only after you agree.
        </p>
      )}
      <p role="status">{step ?? statusOf(on, seen, map)}</p>
      {on && apart !== null && apart > SLOW_MS && (
        <p class="hint">
          This machine analyzes {(1000 / apart).toFixed(1)} images per second. Following eyes needs at least four. Close
          other programs, or enable hardware acceleration in the browser. The pointer is still recorded.
        </p>
      )}
      {map && map.error > FAR_OFF && (
        <p class="hint">
          The error is too large to record your gaze. Sit closer, with light from the front, and calibrate again. The
          pointer is still recorded.
        </p>
      )}
      <ErrorNote error={error} {...(!on && { onRetry: start })} />
      <video ref={video} class={on ? 'preview' : 'preview off'} muted playsInline aria-label="Camera preview" />
      <Dialog title="Follow your eyes with the webcam?" open={asking} onClose={() => setAsking(false)}>
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
          <Button onClick={() => setAsking(false)}>Not now</Button>
          <Button tone="primary" onClick={start}>
            Agree and start the camera
          </Button>
        </div>
      </Dialog>
      {calibrating && (
        <Calibration
          faces={(listener) => {
            listeners.current.add(listener)
            return () => void listeners.current.delete(listener)
          }}
          onDone={(made) => {
            setCalibrating(false)
            if (made !== null) learnt(made)
          }}
        />
      )}
    </Card>
  )
}

function statusOf(on: boolean, seen: boolean | null, map: GazeMap | null) {
  if (!on) return null
  if (seen === null) return 'Looking for a face…'
  if (!seen) return 'No face detected. Face the camera, with light from the front.'
  if (map === null) return 'Face detected. Calibrate to start recording your gaze.'
  return (
    <>
      <Badge tone={map.error > FAR_OFF ? 'warn' : 'good'}>
        {map.error > FAR_OFF ? 'error too large' : 'following'}
      </Badge>{' '}
      Mean error: {percent(map.error)} of the window.
    </>
  )
}
