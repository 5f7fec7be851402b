import { fieldsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { RESPONSES_LIMIT } from '../api/answer-limit.ts'
import type { ClientRequest } from '../relay/request-body.ts'
import { documentedName } from './gemini-names.ts'
import { withNumbers } from './gemini-numbers.ts'
import { wrongType } from './request-reader.ts'

/** Names at the top of a request that Gazeway sets: what its path says, and what its bill depends on. */
const SET = ['stream', 'n', RESPONSES_LIMIT] as const
const CONFIG = 'generationConfig'

/**
 * A Gemini request in the form that all requests have within Gazeway: with the model and `stream`, which its path says, and
 * the limits of the answer at the top. The body of its client stays beside them.
 *
 * @throws GazewayError `invalid_request` for a field of these names, which Google's API does not have
 */
export function geminiRequest<Body extends object>(
  request: ClientRequest<Body>,
  { model, stream }: { model: string; stream: boolean },
): ClientRequest<Body> {
  for (const name of SET) if (name in request.json) throw wrongType(name, 'absent: Google’s API does not have it')
  const config = membersOf(membersOf(request.json)[CONFIG])
  const { maxOutputTokens: limit, candidateCount: count } = withNumbers(config)
  const edits = {
    model,
    stream,
    ...((limit ?? null) !== null && { [RESPONSES_LIMIT]: whole(limit, `${CONFIG}.maxOutputTokens`) }),
    ...((count ?? null) !== null && { n: whole(count, `${CONFIG}.candidateCount`) }),
  }
  return { ...request, json: { ...request.json, ...edits }, edits: { ...request.edits, ...edits } }
}

/** Fields that a request has within Gazeway alone. */
const OWN = { model: undefined, stream: undefined, n: undefined, [RESPONSES_LIMIT]: undefined }

/**
 * Fields to set in the body of a request to Google's own API: those of Gazeway alone are removed.
 *
 * @param isBounded true for a request whose cost is limited: its limits are then written once, in one spelling
 */
export const contentFields =
  (request: Fields, isBounded: boolean) =>
  (body: Fields): Fields => {
    if (!isBounded) return OWN
    const { [RESPONSES_LIMIT]: limit, n } = request
    const config = { ...membersOf(membersOf(body)[CONFIG]), maxOutputTokens: limit, candidateCount: n }
    return { ...OWN, [CONFIG]: config, generation_config: undefined }
  }

/** Members of an object by the names of Google's reference. */
const membersOf = (value: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fieldsOrNone(value)).map(([name, member]) => [documentedName(name), member]))

function whole(value: unknown, path: string): number {
  if (Number.isSafeInteger(value) && (value as number) > 0) return value as number
  throw wrongType(path, 'a whole number above 0')
}
