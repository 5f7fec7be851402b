import { isAscii, isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { GazewayError } from '../../src/errors.ts'
import { type JsonOutline, outlineOf } from '../../src/text/json-members.ts'
import { BYTES_EACH, structureBytes } from '../../src/text/json-structure.ts'
import { gatherBytes } from '../../src/wire/gathered-bytes.ts'
import { joinInTurns, LARGE_JSON, outlineInTurns, parseInTurns } from '../../src/wire/large-json.ts'
import { decoded, decodeLarge } from '../../src/wire/large-text.ts'
import { type BodyLimit, tooLarge } from './body-limit.ts'

/** JSON body of a request: as bytes, as text, and parsed. */
export interface JsonBody {
  bytes: Buffer
  text: string
  json: unknown
  /** Gives the outline of the text, which is made once. */
  outline: () => JsonOutline
}

/** Requires room for so many bytes of memory that a body takes once it is parsed. */
type RequireMemory = (bytes: number) => void

/**
 * Reads the JSON body of a request.
 *
 * @throws GazewayError `unsupported_media_type`, `payload_too_large`, `too_many_bodies` or `invalid_json`; `cancelled`
 *   when the client disconnects while it sends
 */
export function readJson(incoming: IncomingMessage, limit: BodyLimit): Promise<JsonBody> {
  requirePlainJson(incoming.headers)
  const { callerId, buffered } = limit
  const requireMemory = (bytes: number) => buffered?.take({ request: incoming, callerId }, bytes)
  return receive(incoming, limit).then((bytes) =>
    parseJsonBytes(bytes, bytes.length > LARGEST_UNCOUNTED ? requireMemory : undefined),
  )
}

/**
 * Parses JSON in UTF-8, a large text in turns with other work.
 *
 * @param requireMemory called before it is parsed
 * @throws GazewayError `invalid_json`; what `requireMemory` throws
 */
export const parseJsonBytes = (bytes: Buffer, requireMemory?: RequireMemory): JsonBody | Promise<JsonBody> =>
  bytes.length > LARGE_JSON ? parseLarge(bytes, requireMemory) : parseBytes(bytes, requireMemory)

/** Parses the JSON body of a request whose bytes were read before. @throws GazewayError as {@link readJson} */
export function parseJson(headers: IncomingHttpHeaders, bytes: Buffer): JsonBody {
  requirePlainJson(headers)
  return parseBytes(bytes)
}

function parseBytes(bytes: Buffer, requireMemory?: RequireMemory): JsonBody {
  const text = textOf(bytes)
  let made: JsonOutline | undefined
  const outline = () => {
    made ??= outlineOf(text)
    return made
  }
  try {
    requireMemory?.(outline().parts * BYTES_EACH)
    return { bytes, text, json: JSON.parse(text), outline }
  } catch (cause) {
    return refuseSyntax(cause)
  }
}

/** Decodes UTF-8. @throws GazewayError `invalid_json` */
function textOf(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (!isUtf8(bytes)) throw notUtf8()
  return bytes.length > LARGEST_UNCOUNTED ? decoded(bytes) : bytes.toString()
}

/** Parses a large body in turns with other requests. */
async function parseLarge(bytes: Buffer, requireMemory?: RequireMemory): Promise<JsonBody> {
  const large = await decodeLarge(bytes)
  if (large === null) throw notUtf8()
  try {
    const outline = await outlineInTurns(large)
    requireMemory?.(outline.parts * BYTES_EACH)
    return { bytes, text: large.text, json: await parseInTurns(large, outline), outline: () => outline }
  } catch (cause) {
    return refuseSyntax(cause)
  }
}

const notUtf8 = (): GazewayError => new GazewayError('invalid_json', 'The body is not valid JSON: it is not UTF-8.')

function refuseSyntax(cause: unknown): never {
  if (cause instanceof GazewayError) throw cause
  throw new GazewayError('invalid_json', 'The body is not valid JSON.', { cause })
}

/**
 * Reads an optional body. A missing body counts as `{}`, whatever its declared type.
 *
 * @throws GazewayError as `readJson`
 */
export async function readOptionalJson(incoming: IncomingMessage, limit: BodyLimit): Promise<JsonBody> {
  const { 'content-length': length = '0', 'transfer-encoding': transfer } = incoming.headers
  if (transfer === undefined && Number(length) === 0)
    return { bytes: Buffer.alloc(0), text: '', json: {}, outline: () => outlineOf('') }
  return readJson(incoming, limit)
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i

function requirePlainJson(headers: IncomingHttpHeaders): void {
  const type = headers['content-type'] ?? ''
  const charset = CHARSET.exec(type)?.[1] ?? 'utf-8'
  if (!JSON_TYPE.test(type) || !/^utf-?8$/i.test(charset))
    throw new GazewayError(
      'unsupported_media_type',
      'The body must be JSON in UTF-8: send content-type application/json.',
    )
  if (!/^(?:identity)?$/i.test(headers['content-encoding'] ?? ''))
    throw new GazewayError('unsupported_media_type', 'The body must not be compressed: send no content-encoding.')
}

/** Largest body that is kept with its request, in bytes. */
const LARGEST_KEPT = 256 * 1024
const BODY = Symbol('body')

/** A request with its body, if that was read and is small. */
type Read = IncomingMessage & { [BODY]?: Buffer }

/** Returns a body that was read by {@link readBytes}. Null for one that is large or was not read. */
export const bodyRead = (incoming: IncomingMessage): Buffer | null => (incoming as Read)[BODY] ?? null

/** Largest body that is not counted, in bytes. A connection costs as much. */
export const LARGEST_UNCOUNTED = 64 * 1024

/**
 * Reads the body of a request. A small one stays with the request: the record of a refusal names its model.
 *
 * @throws GazewayError `payload_too_large`, `too_many_bodies`; `cancelled` when the client disconnects while it sends
 */
export async function readBytes(incoming: IncomingMessage, limit: BodyLimit): Promise<Buffer> {
  const { callerId, buffered } = limit
  const bytes = await receive(incoming, limit)
  if (bytes.length > LARGEST_UNCOUNTED) buffered?.take({ request: incoming, callerId }, structureBytes(bytes))
  return bytes
}

function receive(incoming: IncomingMessage, limit: BodyLimit): Promise<Buffer> {
  const { callerId, buffered } = limit
  const owner = { request: incoming, callerId }
  const announced = Number(incoming.headers['content-length'] ?? 0)
  return new Promise((resolve, reject) => {
    if (announced > limit.bytes) throw tooLarge(limit)
    if (announced > LARGEST_UNCOUNTED) buffered?.requireRoom(owner, announced)
    const gathered = gatherBytes()
    let size = 0
    function count(bytes: number): void {
      const before = size
      size += bytes
      if (size > limit.bytes) throw tooLarge(limit)
      if (size > LARGEST_UNCOUNTED) buffered?.take(owner, before > LARGEST_UNCOUNTED ? bytes : size)
    }
    function refuse(error: unknown): void {
      buffered?.release(incoming)
      gathered.take()
      incoming.removeAllListeners('data').resume()
      reject(error)
    }
    function onData(chunk: Buffer): void {
      try {
        count(chunk.length)
        gathered.push(chunk)
      } catch (error) {
        refuse(error)
      }
    }
    function onEnd(): void {
      // The request lives as long as its call, and holds its listeners; beyond that, too, where it is old, see
      // `onReplyClosed`.
      incoming.off('data', onData).off('end', onEnd).off('error', gone)
      const received = gathered.take()
      if (size > LARGE_JSON) {
        resolve(joinInTurns(received, size))
        return
      }
      const bytes = received.length === 1 && received[0] ? received[0] : Buffer.concat(received)
      if (size <= LARGEST_KEPT) (incoming as Read)[BODY] = bytes
      resolve(bytes)
    }
    const gone = (cause?: unknown) => reject(new GazewayError('cancelled', 'The client disconnected.', { cause }))
    incoming.on('data', onData).on('end', onEnd)
    // The client may have disconnected while the key was looked up. The event was emitted then, before this listener.
    if (incoming.destroyed) gone()
    else incoming.on('error', gone)
  })
}
