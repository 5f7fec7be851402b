import type { Fields } from '../../text/typed-reader.ts'
import { limitsAt } from '../api/answer-limit.ts'
import { UNNOTED } from '../convert/changes.ts'
import type { Written } from '../passages/write-request.ts'
import { refusedBetas } from './betas.ts'
import { isLimitFact, isOfModel, limitFact } from './limit-facts.ts'
import { lowerLimit } from './lower-limit.ts'
import type { Api, Mend, Refusal } from './mend.ts'
import { mendsFor } from './mends.ts'

const ENDPOINTS: Readonly<Record<Api, string>> = {
  chat: '/chat/completions',
  messages: '/messages',
  responses: '/responses',
}

const LOWERED = 'lower_limit'

/**
 * Finds the mend to try after a refusal.
 *
 * @param applied mends that the refused request already had
 * @param refused the refused request
 * @param refused.own the same without what Gazeway has added to it
 * @param refused.headers its headers of the client
 * @param limit limit of the answer that Gazeway has added. Null for none
 * @returns null when the refusal is about something else, or the request has nothing to mend
 */
export function nextMend(
  api: Api,
  refusal: Refusal,
  applied: readonly Mend[],
  { body, own, headers }: { body: Fields; own: Fields; headers: Written['headers'] },
  limit: number | null,
): Mend | null {
  const found = mendsFor(api, refusal, applied).find((mend) => Object.keys(mend.fields(body, UNNOTED, own)).length > 0)
  const mend = found ?? (api === 'messages' ? refusedBetas(refusal, headers) : null)
  if (mend !== null) return mend
  const isLowered = applied.some(({ name }) => name === LOWERED || isLimitFact(name))
  return limit === null || isLowered ? null : loweredLimit(api, refusal, limit)
}

/** Lowers the limit: for this call alone, unless it is above what the model ever gives. */
function loweredLimit(api: Api, refusal: Refusal, limit: number): Mend | null {
  const lower = lowerLimit(refusal, limit)
  if (lower === null) return null
  return {
    ...(isOfModel(refusal) ? { name: limitFact(lower) } : { name: LOWERED, isOfCall: true }),
    apis: [api],
    isRefused: () => false,
    fields(body, note) {
      const name = limitsAt(ENDPOINTS[api]).find((one) => (body[one] ?? null) !== null)
      if (name === undefined) return {}
      note(name, 'lowered')
      return { [name]: lower }
    },
  }
}
