import { GazewayError } from '../../errors.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { CHAT_LIMIT, limitsAt } from '../api/answer-limit.ts'
import { GENERATE_CONTENT } from '../api/gemini-endpoints.ts'

/** Advice of the wallet, which knows no API. */
const ADVICE = `lower ${CHAT_LIMIT}`

/**
 * Puts a refusal for lack of money into the words of its caller's API: the field that limits an answer. It is the one that
 * the request has, where there are several.
 *
 * @param endpoint path below `/v1`; nothing limits the answers of some, such as `/embeddings`
 * @returns the error
 */
export function nameLimit(error: unknown, endpoint: string, request: Fields): unknown {
  if (!(error instanceof GazewayError) || error.status !== 402) return error
  const names = endpoint === GENERATE_CONTENT ? ['maxOutputTokens'] : limitsAt(endpoint)
  const name = names.find((limit) => (request[limit] ?? null) !== null) ?? names[0]
  error.message = error.message.replace(ADVICE, name === undefined ? 'ask for less' : `lower ${name}`)
  return error
}
