import { cut } from '../../text/cut.ts'
import { parseJson } from '../../text/json.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { errorInBody } from '../api/reported-error.ts'
import { bodyText } from '../passages/upstream-reply.ts'
import type { WholeReply } from '../relay/exchange.ts'
import { wording } from './error-wording.ts'
import type { Refusal } from './mend.ts'
import { readsNoImages } from './unread-images.ts'

/** Statuses by which upstreams refuse a request for its form. Chat templates that fail answer 500. */
const REFUSALS: ReadonlySet<number> = new Set([400, 402, 405, 413, 422, 500, 501])

/** Longest parts of a reason that are read, in letters: upstreams may quote the request, also before they say why. */
const READ = { beginning: 6000, end: 1999 }

/** Words about a field as such, and not about its value's range. */
const AS_SUCH =
  /unsupported|unrecogni[sz]ed|unknown|unexpected|not (?:supported|permitted|allowed)|extra (?:inputs|fields)|does not support|deprecated/i

/** OpenAI about an item that it does not keep: https://github.com/anomalyco/opencode/issues/7724 */
const NO_ITEM = wording(/item with id .*not found/i)

/** Reads an error reply that may be about the form of the request. Null for any other reply. */
export function refusalIn(reply: WholeReply): Refusal | null {
  const { status } = reply
  if (!REFUSALS.has(status) && status !== 404) return null
  const message = endsOf(errorReason(reply))
  const refusal = { status, message, isAsSuch: AS_SUCH.test(message), field: refusedBy(reply) }
  // OpenRouter looks for a provider that takes what the request holds.
  return status !== 404 || isWithoutItem(refusal) || readsNoImages(refusal.message) ? refusal : null
}

const endsOf = (reason: string): string =>
  reason.length > READ.beginning + READ.end ? `${cut(reason, 0, READ.beginning)}\n${cut(reason, -READ.end)}` : reason

/** Tells whether a refusal is about an item that the provider does not have. */
export const isWithoutItem = ({ status, message }: Refusal): boolean => status === 404 && NO_ITEM.test(message)

/** Field that an error refers to. Null when it names none. */
export function refusedBy(reply: WholeReply): string | null {
  if (reply.status !== 400 && reply.status !== 422) return null
  const { param } = fieldsOrNone(errorInBody(parseJson(bodyText(reply))))
  return typeof param === 'string' ? param : null
}

/** Reason in an error reply: its usual fields, with what OpenRouter's provider said; otherwise the whole text. */
export function errorReason(reply: WholeReply): string {
  const text = bodyText(reply)
  const body = parseJson(text)
  const { message, metadata } = fieldsOrNone(errorInBody(body) ?? body)
  if (typeof message !== 'string') return text
  const { raw } = fieldsOrNone(metadata)
  return typeof raw === 'string' ? `${message} ${raw}` : message
}
