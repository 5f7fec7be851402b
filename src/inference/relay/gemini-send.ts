import { isGeminiTarget } from '../api/gemini-endpoints.ts'
import type { Send } from './exchange.ts'

const BEARER = 'Bearer '

/**
 * Sends to a provider that has Google's own API beside one that is compatible with OpenAI's: the former takes the key in a
 * header of its own, and has no tokens.
 *
 * @param send sends below the base of Google's own API
 * @param compatible path of the other API below that base
 */
export const geminiSend =
  (send: Send, compatible: string): Send =>
  (request, listener) => {
    const { path, headers } = request
    if (!isGeminiTarget(path)) return send({ ...request, path: compatible + path }, listener)
    const { authorization = '', ...others } = headers
    const key = authorization.startsWith(BEARER) ? authorization.slice(BEARER.length) : null
    return send({ ...request, headers: key === null ? headers : { ...others, 'x-goog-api-key': key } }, listener)
  }
