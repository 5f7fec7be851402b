import type { IncomingMessage } from 'node:http'
import { GazewayError } from '../../src/errors.ts'

/**
 * The JSON body of a request, as text and parsed.
 *
 * @param limit the most bytes accepted
 * @throws GazewayError `unsupported_media_type`, `payload_too_large` or `invalid_json`; `cancelled` when the client goes
 *   away while it sends
 */
export async function readJson(incoming: IncomingMessage, limit: number): Promise<{ text: string; json: unknown }> {
  const type = incoming.headers['content-type'] ?? ''
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(type))
    throw new GazewayError('unsupported_media_type', 'The body must be JSON: send content-type application/json.')
  const text = await readText(incoming, limit)
  try {
    return { text, json: JSON.parse(text) }
  } catch (cause) {
    throw new GazewayError('invalid_json', 'The body is not valid JSON.', { cause })
  }
}

function readText(incoming: IncomingMessage, limit: number): Promise<string> {
  const tooLarge = () =>
    new GazewayError('payload_too_large', `The body is larger than ${limit} bytes (http.max_body_bytes).`)
  if (Number(incoming.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) {
        incoming.removeAllListeners('data')
        incoming.resume()
        reject(tooLarge())
      } else chunks.push(chunk)
    })
    incoming.on('end', () => resolve(chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString('utf8')))
    incoming.on('error', (cause) => reject(new GazewayError('cancelled', 'The client went away.', { cause })))
  })
}
