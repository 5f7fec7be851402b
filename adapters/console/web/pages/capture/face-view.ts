/** Part of a camera's image, in pixels. */
export interface View {
  x: number
  y: number
  width: number
  height: number
}

/** Share of the view's width that the face should fill. */
const FILLED = 0.45
/** Below and above these shares, the view is computed again. */
const LEAST_FILLED = 0.3
const MAX_FILLED = 0.65
/** Distance that the face may move from the middle, as a share of the view, before the view follows. */
const MAX_MOVED = 0.12

/** The whole image. */
export const wholeOf = (picture: { width: number; height: number }): View => ({ x: 0, y: 0, ...picture })

/**
 * Computes the next view: the part around the face, so that small eye movements span many pixels. The view stays while
 * the face stays, because a moving view would move the eyes.
 *
 * @param face as shares of `view`; null without a face
 */
export function nextView(view: View, face: View | null, picture: { width: number; height: number }): View {
  if (face === null) return wholeOf(picture)
  const isWhole = view.width === picture.width
  const moved = Math.max(Math.abs(face.x + face.width / 2 - 0.5), Math.abs(face.y + face.height / 2 - 0.5))
  const fits = face.width >= LEAST_FILLED && face.width <= MAX_FILLED
  if (fits && (isWhole || moved <= MAX_MOVED)) return view
  const width = Math.min(picture.width, (face.width * view.width) / FILLED)
  // Same aspect ratio as the image, so that horizontal and vertical distances stay comparable.
  const height = (width * picture.height) / picture.width
  const centerX = view.x + (face.x + face.width / 2) * view.width
  const centerY = view.y + (face.y + face.height / 2) * view.height
  return {
    x: within(centerX - width / 2, picture.width - width),
    y: within(centerY - height / 2, picture.height - height),
    width,
    height,
  }
}

const within = (value: number, most: number) => Math.min(Math.max(0, value), most)
