import { emoOf } from './attention-estimate.ts'
import type { Point } from './dwells.ts'
import { nextView, type View, wholeOf } from './face-view.ts'
import type { GazeMap } from './gaze-map.ts'

/** A detected face: features of the gaze, confidence (0 to 1) and expression. */
export interface Face {
  at: number
  features: number[]
  confidence: number
  emo: { valence: number; arousal: number } | null
}

/** Camera that is watched. */
export interface Webcam {
  stop(): void
}

/** Step of the start of the camera, as text. */
export type WebcamStep = 'Asking for the camera…' | 'Loading the face model (8 MB, from this Gazeway)…' | 'Starting…'

/** Error of the webcam gaze; its message says what to do. */
export class WebcamError extends Error {}

/** Paths of the library and its models on this Gazeway, when installed. */
const LIBRARY = '/assets/human/dist/human.esm.js'
const MODELS = '/assets/human/models/'
/** Width of the analyzed image. The library rounds positions to its pixels, and needs more time for a larger image. */
const PICTURE_WIDTH = 640

/**
 * Opens the camera and watches the face in it. Images stay in the browser; only the values passed to `onFace` leave.
 *
 * @param video element that shows the camera
 * @param options.onFace called for each image; null without a face
 * @throws WebcamError
 */
export async function openWebcam(
  video: HTMLVideoElement,
  options: {
    onStep: (step: WebcamStep) => void
    onFace: (face: Face | null) => void
    onFault: (error: WebcamError) => void
  },
): Promise<Webcam> {
  await requireLibrary()
  options.onStep('Asking for the camera…')
  const stream = await openCamera()
  const close = () => {
    for (const track of stream.getTracks()) track.stop()
    video.srcObject = null
  }
  try {
    options.onStep('Loading the face model (8 MB, from this Gazeway)…')
    const look = await loadModel()
    options.onStep('Starting…')
    video.srcObject = stream
    await video.play()
    let stopped = false
    const stop = () => {
      stopped = true
      close()
    }
    for (const track of stream.getTracks())
      track.onended = () => {
        stop()
        options.onFault(new WebcamError('The camera was turned off. Turn it on again, or go on without it.'))
      }
    const watch = async () => {
      while (!stopped) {
        const face = await look(video)
        if (!stopped) options.onFace(face)
        // One image after the other. The pause lets the page work in between.
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
    watch().catch((error) => {
      if (stopped) return
      stop()
      options.onFault(new WebcamError(`The face model stopped: ${error instanceof Error ? error.message : error}`))
    })
    return { stop }
  } catch (error) {
    close()
    if (error instanceof WebcamError) throw error
    throw new WebcamError(
      `The face model could not be loaded (${error instanceof Error ? error.message : error}). Go on without it.`,
    )
  }
}

/** Checks that the library is installed. It is optional, because its models are ten times as large as Gazeway. */
async function requireLibrary(): Promise<void> {
  const { ok } = await fetch(LIBRARY, { method: 'HEAD' })
  if (!ok)
    throw new WebcamError(
      'Webcam gaze is not installed. Run npm install @vladmandic/human beside Gazeway and restart it, or go on without it.',
    )
}

async function openCamera(): Promise<MediaStream> {
  // Browsers allow cameras only on pages from https or from this machine.
  if (!navigator.mediaDevices?.getUserMedia)
    throw new WebcamError(
      'The browser allows no camera on this page. Open the console at https://… or http://127.0.0.1, or go on without it.',
    )
  try {
    return await navigator.mediaDevices.getUserMedia({
      video: { width: { ideal: 1280 }, height: { ideal: 720 }, facingMode: 'user' },
    })
  } catch (error) {
    const name = error instanceof DOMException ? error.name : ''
    if (name === 'NotAllowedError')
      throw new WebcamError('The camera is blocked. Allow it in the address bar and retry, or go on without it.')
    if (name === 'NotFoundError' || name === 'OverconstrainedError')
      throw new WebcamError('No camera was found. Connect one and retry, or go on without it.')
    throw new WebcamError(
      'The camera could not be opened; another program may be using it. Close that program and retry, or go on without it.',
    )
  }
}

async function loadModel(): Promise<(video: HTMLVideoElement) => Promise<Face | null>> {
  const { default: Human }: typeof import('@vladmandic/human') = await import(/* @vite-ignore */ LIBRARY)
  const off = { enabled: false }
  const human = new Human({
    modelBasePath: MODELS,
    // Without WebGL the processor does the work, too slowly to follow eyes.
    backend: hasWebGl() ? 'humangl' : 'cpu',
    cacheModels: false,
    debug: false,
    warmup: 'none',
    filter: off,
    gesture: off,
    body: off,
    hand: off,
    object: off,
    segmentation: off,
    face: {
      enabled: true,
      // The view moves with the face, so its earlier position in the image is of no use.
      detector: { modelPath: 'blazeface.json', rotation: false, maxDetected: 1, skipFrames: 0, skipTime: 0 },
      mesh: { enabled: true },
      iris: { enabled: true },
      emotion: { enabled: true, minConfidence: 0.01 },
      attention: off,
      description: off,
      antispoof: off,
      liveness: off,
    },
  })
  await human.load()
  const picture = document.createElement('canvas')
  const drawing = picture.getContext('2d', { willReadFrequently: false })
  let view: View | null = null
  return async (video) => {
    const camera = { width: video.videoWidth, height: video.videoHeight }
    if (camera.width === 0) return null
    const shown = view ?? wholeOf(camera)
    picture.width = PICTURE_WIDTH
    picture.height = Math.round((PICTURE_WIDTH * camera.height) / camera.width)
    drawing?.drawImage(video, shown.x, shown.y, shown.width, shown.height, 0, 0, picture.width, picture.height)
    const { face, error } = await human.detect(picture)
    if (error) throw new Error(error)
    const [seen] = face
    const [x = 0, y = 0, width = 0, height = 0] = seen?.boxRaw ?? []
    view = nextView(shown, seen ? { x, y, width, height } : null, camera)
    if (seen === undefined) return null
    const inCamera = (spot: Spot): Spot => [
      (shown.x + (spot[0] ?? 0) * shown.width) / camera.width,
      (shown.y + (spot[1] ?? 0) * shown.height) / camera.height,
    ]
    const features = featuresOf(seen.meshRaw.map(inCamera), seen.rotation?.angle)
    if (features === null) return null
    return { at: Date.now(), features, confidence: seen.faceScore, emo: emoOf(seen.emotion ?? []) }
  }
}

const hasWebGl = () => document.createElement('canvas').getContext('webgl2') !== null

type Spot = readonly (number | undefined)[]

/** Corners and iris centre of each eye among the 478 points of the face mesh, as the library numbers them. */
const EYES = [
  { outer: 33, inner: 133, iris: 473 },
  { outer: 263, inner: 362, iris: 468 },
]

/**
 * Features of the gaze: position of the irises as shares of the eyes' width, rotation of the head, and its position in
 * the image. Null when the irises are not detected.
 */
function featuresOf(mesh: readonly Spot[], angle: { yaw: number; pitch: number } | undefined): number[] | null {
  const eyes = EYES.map(({ outer, inner, iris }) => eyeOf(mesh[outer], mesh[inner], mesh[iris]))
  const [one, other] = eyes
  if (!one || !other) return null
  return [
    (one.across + other.across) / 2,
    (one.down + other.down) / 2,
    angle?.yaw ?? 0,
    angle?.pitch ?? 0,
    (one.x + other.x) / 2,
    (one.y + other.y) / 2,
  ]
}

function eyeOf(outer: Spot | undefined, inner: Spot | undefined, iris: Spot | undefined) {
  const [outerX, outerY] = outer ?? []
  const [innerX, innerY] = inner ?? []
  const [irisX, irisY] = iris ?? []
  if (outerX === undefined || innerX === undefined || irisX === undefined) return null
  if (outerY === undefined || innerY === undefined || irisY === undefined) return null
  const x = (outerX + innerX) / 2
  const y = (outerY + innerY) / 2
  const width = Math.hypot(outerX - innerX, outerY - innerY)
  return width > 0 ? { x, y, across: (irisX - x) / width, down: (irisY - y) / width } : null
}

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
