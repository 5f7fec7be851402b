import { mediaWithOwnInput } from '../../providers/cost.ts'
import type { Medium } from '../../providers/preset.ts'
import type { PricedModel, Prices } from '../../providers/prices.ts'
import { type MediaTokens, NO_MEDIA_COUNTED, NO_MEDIA_REPORTED } from '../../providers/token-usage.ts'
import { carriedMedia } from '../observe/carried-media.ts'
import type { ReportedTerms } from '../observe/reported-terms.ts'

const NONE: ReadonlySet<Medium> = new Set()

/**
 * Finds the tokens of speech, images and videos of a call. A part of its prompt that is not counted may be of any medium
 * in the request.
 *
 * @param terms what the answer states. Null where it states nothing
 */
export function mediaOfCall(
  { path, request }: { path: string; request: unknown },
  terms: ReportedTerms | null | undefined,
  model: PricedModel,
  prices: Prices,
): MediaTokens {
  const counted = terms?.media ?? NO_MEDIA_REPORTED
  const open = mediaWithOwnInput(model, prices).filter((medium) => counted[medium].input === null)
  const carried = open.length === 0 ? NONE : carriedMedia(path, request)
  if (counted === NO_MEDIA_REPORTED && carried.size === 0) return NO_MEDIA_COUNTED
  const of = (medium: Medium) => ({
    input: carried.has(medium) ? counted[medium].input : (counted[medium].input ?? 0),
    output: counted[medium].output,
  })
  return { audio: of('audio'), image: of('image'), video: of('video') }
}
