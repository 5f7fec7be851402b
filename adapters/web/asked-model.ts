import type { IncomingMessage } from 'node:http'
import { parseJson } from '../../src/text/json.ts'
import { inTime } from '../../src/wire/with-timeout.ts'
import type { BodyLimit } from './body-limit.ts'
import { bodyRead, readBytes } from './json-body.ts'

/** Largest body that is read for a model's name, in bytes: of a caller with a key, and of a stranger. */
const LARGEST_READ = { known: 256 * 1024, stranger: 16 * 1024 }
/** Bodies this small are not counted: at most a second passes until they are released. */
const UNCOUNTED: BodyLimit = {
  bytes: LARGEST_READ.known,
  setting: 'http.max_body_bytes',
  callerId: null,
  buffered: null,
}
/** Longest wait for the rest of a body, in milliseconds. */
const WAIT_MS = 1000
const LONGEST_MODEL = 256

/**
 * Finds the model in the JSON body of a refused request. A body that was not read yet is read only if it is small, and
 * smaller still without a key, so that requests of strangers cost little more.
 *
 * @param callerId id of the caller's key; null without one
 * @returns null when the body names no model, or is not known
 */
export async function askedModel(incoming: IncomingMessage, callerId: string | null): Promise<string | null> {
  const bytes =
    bodyRead(incoming) ?? (await unread(incoming, callerId === null ? LARGEST_READ.stranger : LARGEST_READ.known))
  const body = bytes === null ? undefined : parseJson(bytes.toString())
  if (typeof body !== 'object' || body === null || !('model' in body)) return null
  return typeof body.model === 'string' && body.model !== '' ? body.model.slice(0, LONGEST_MODEL) : null
}

async function unread(incoming: IncomingMessage, largest: number): Promise<Buffer | null> {
  if (incoming.readableDidRead || !(Number(incoming.headers['content-length']) <= largest)) return null
  // A client that disconnects has no model to record.
  const reading = readBytes(incoming, UNCOUNTED).catch(() => null)
  return (await inTime(WAIT_MS, reading)) ?? null
}
