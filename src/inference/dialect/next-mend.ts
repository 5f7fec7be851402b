import type { Fields } from '../../text/typed-reader.ts'
import { limitsAt } from '../api/answer-limit.ts'
import { GENERATE_CONTENT } from '../api/gemini-endpoints.ts'
import { UNNOTED } from '../convert/reported-changes.ts'
import type { Written } from '../passages/write-request.ts'
import { refusedBetas } from './betas.ts'
import { isLimitFact, isOfModel, limitFact } from './limit-facts.ts'
import { lowerLimit } from './lower-limit.ts'
import { apiOf, type Mend, type Refusal } from './mend.ts'
import { mendsFor } from './mends.ts'

const LOWERED = 'lower_limit'

/**
 * Finds the mend to try after a refusal. A request of Google's own API has no other than a lower limit.
 *
 * @param path endpoint that refused it, below `/v1`
 * @param applied mends that the refused request already had
 * @param refused the refused request
 * @param refused.own the same without what Gazeway has added to it
 * @param refused.headers its headers of the client
 * @param limit limit of the answer that Gazeway has added. Null for none
 * @returns null when the refusal is about something else, or the request has nothing to mend
 */
export function nextMend(
  path: string,
  refusal: Refusal,
  applied: readonly Mend[],
  { body, own, headers }: { body: Fields; own: Fields; headers: Written['headers'] },
  limit: number | null,
): Mend | null {
  const api = apiOf(path)
  const mends = api === null ? [] : mendsFor(api, refusal, applied)
  const found = mends.find((mend) => Object.keys(mend.fields(body, UNNOTED, own)).length > 0)
  const mend = found ?? (api === 'messages' ? refusedBetas(refusal, headers) : null)
  if (mend !== null) return mend
  const isLowered = applied.some(({ name }) => name === LOWERED || isLimitFact(name))
  return limit === null || isLowered ? null : loweredLimit(path, refusal, limit)
}

/** Lowers the limit: for this call alone, unless it is above what the model ever gives. */
function loweredLimit(path: string, refusal: Refusal, limit: number): Mend | null {
  const lower = lowerLimit(refusal, limit)
  if (lower === null) return null
  const api = apiOf(path)
  return {
    ...(isOfModel(refusal) ? { name: limitFact(lower) } : { name: LOWERED, isOfCall: true }),
    apis: api === null ? [] : [api],
    isRefused: () => false,
    fields(body, note) {
      const name = limitsAt(path).find((one) => (body[one] ?? null) !== null)
      if (name === undefined) return {}
      note(path === GENERATE_CONTENT ? 'generationConfig.maxOutputTokens' : name, 'lowered')
      return { [name]: lower }
    },
  }
}
