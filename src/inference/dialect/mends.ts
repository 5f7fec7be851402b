import { knownBetas } from './betas.ts'
import { BLANK_TEXTS } from './blank-texts.ts'
import { EARLIER_REASONING } from './earlier-reasoning.ts'
import { EFFORT } from './effort.ts'
import { IMAGE_FILES } from './image-files.ts'
import { images, imageTypes } from './media.ts'
import type { Api, Mend, Refusal } from './mend.ts'
import { MESSAGE_FORM } from './message-form.ts'
import { OFFERED_TOOLS } from './offered-tools.ts'
import { CACHE_MARKS } from './refused-cache-marks.ts'
import { REQUEST_TERMS } from './request-terms.ts'
import { SAMPLERS } from './samplers.ts'
import { noDeveloper, noSystem, systemBetween, systemFirst } from './system-messages.ts'
import { TOOL_HINTS } from './tool-hints.ts'
import { TOOL_PAIRS } from './tool-pairs.ts'
import { TOOL_SCHEMAS } from './tool-schemas.ts'
import { TURNS } from './turn-order.ts'
import { UNREAD_IMAGES } from './unread-images.ts'

/** All mends. They are applied in this order, and an earlier one is tried first. */
const MENDS: readonly Mend[] = [
  ...REQUEST_TERMS,
  ...EARLIER_REASONING,
  ...EFFORT,
  noDeveloper,
  systemFirst,
  noSystem,
  systemBetween,
  ...TOOL_PAIRS,
  ...TURNS,
  ...BLANK_TEXTS,
  ...CACHE_MARKS,
  ...TOOL_HINTS,
  ...TOOL_SCHEMAS,
  ...OFFERED_TOOLS,
  ...SAMPLERS,
  ...IMAGE_FILES,
  ...UNREAD_IMAGES,
  images,
  imageTypes,
  ...MESSAGE_FORM,
]

const ofApi = (api: Api): readonly Mend[] => MENDS.filter(({ apis }) => apis.includes(api))
const BY_API: Readonly<Record<Api, readonly Mend[]>> = {
  chat: ofApi('chat'),
  messages: ofApi('messages'),
  responses: ofApi('responses'),
}
const isCertain = (mend: Mend): boolean => mend.isCertain === true
const CERTAIN: Readonly<Record<Api, readonly Mend[]>> = {
  chat: BY_API.chat.filter(isCertain),
  messages: BY_API.messages.filter(isCertain),
  responses: BY_API.responses.filter(isCertain),
}

/**
 * Mends that a request needs before it is sent.
 *
 * @param facts names of what is known of the upstream's model
 * @param isConverted true for a request of another API, which gets all mends that lose nothing
 * @param accepted names of mends that the upstream is known not to need
 */
export function knownMends(
  api: Api,
  facts: readonly string[],
  isConverted: boolean,
  accepted: readonly string[],
): readonly Mend[] {
  const certain = isConverted ? CERTAIN[api].filter(({ name }) => !accepted.includes(name)) : NONE
  if (facts.length === 0) return certain
  const known = BY_API[api].filter((mend) => facts.includes(mend.name) || certain.includes(mend))
  return api === 'messages' ? [...known, ...knownBetas(facts)] : known
}

const NONE: readonly Mend[] = []

/** Mends of an API that a refusal may be about, without those that were applied. */
export const mendsFor = (api: Api, refusal: Refusal, applied: readonly Mend[]): readonly Mend[] =>
  BY_API[api].filter((mend) => !applied.includes(mend) && mend.isRefused(refusal))
