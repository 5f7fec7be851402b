import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { GazeMap } from './gaze-map.ts'
import { type Face, openWebcam, type Webcam, type WebcamStep } from './webcam.ts'

/** Largest error of a map, as a share of the window. A map with a larger error is not used for records. */
export const FAR_OFF = 0.25
/** Share of the newest interval in the mean interval between images. */
const NEWEST = 0.3

type FaceListener = (face: Face | null) => void

/** Webcam that follows a face while it is on. */
export type FollowingWebcam = ReturnType<typeof useWebcam>

/**
 * Webcam with its calibration. It is turned off when the page is left.
 *
 * @param props.onFace called with each detected face; null without one
 * @param props.onMap called with the gaze map once it is usable; null when it no longer is
 */
export function useWebcam(
  video: RefObject<HTMLVideoElement | null>,
  props: { onFace: FaceListener; onMap: (map: GazeMap | null) => void },
) {
  const webcam = useRef<Webcam | null>(null)
  const listeners = useRef(new Set<FaceListener>())
  const gone = useRef(false)
  const pictureAt = useRef<number | null>(null)
  /** Step of the start; null when none is in progress. */
  const [step, setStep] = useState<WebcamStep | null>(null)
  const [on, setOn] = useState(false)
  /** True when the latest image shows a face; null before the first image. */
  const [seen, setSeen] = useState<boolean | null>(null)
  const [error, setError] = useState<unknown>(null)
  /** Mean interval between images in milliseconds; null before the second image. */
  const [intervalMs, setIntervalMs] = useState<number | null>(null)
  /** Map from face to gaze; null before calibration. */
  const [map, setMap] = useState<GazeMap | null>(null)

  const learn = (made: GazeMap | null) => {
    setMap(made)
    props.onMap(made !== null && made.error <= FAR_OFF ? made : null)
  }
  const stop = () => {
    webcam.current?.stop()
    webcam.current = null
    setOn(false)
    setSeen(null)
    setIntervalMs(null)
    pictureAt.current = null
    learn(null)
  }
  useEffect(
    () => () => {
      gone.current = true
      webcam.current?.stop()
    },
    [],
  )
  const onFace = (face: Face | null) => {
    setSeen(face !== null)
    const now = performance.now()
    const since = pictureAt.current === null ? null : now - pictureAt.current
    pictureAt.current = now
    if (since !== null) setIntervalMs((mean) => (mean === null ? since : mean + NEWEST * (since - mean)))
    for (const listener of listeners.current) listener(face)
    props.onFace(face)
  }
  const onFault = (fault: unknown) => {
    stop()
    setError(fault)
  }
  const start = async () => {
    setError(null)
    if (!video.current) return
    try {
      const opened = await openWebcam(video.current, { onStep: setStep, onFace, onFault })
      if (gone.current) return opened.stop()
      webcam.current = opened
      setOn(true)
    } catch (fault) {
      setError(fault)
    } finally {
      setStep(null)
    }
  }
  /** Subscribes a listener to faces, and returns its unsubscribe function. */
  const faces = (listener: FaceListener) => {
    listeners.current.add(listener)
    return () => void listeners.current.delete(listener)
  }
  return { on, step, seen, intervalMs, map, error, start, stop, learn, faces }
}
