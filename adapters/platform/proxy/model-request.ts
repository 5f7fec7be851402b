import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { GazewayError } from '../../../src/errors.ts'
import type { Identity } from '../../../src/identity/identity.ts'
import { type ModelBody, unboundedRefusal } from '../../../src/inference/admit/admit.ts'
import type { ClientRequest } from '../../../src/inference/relay/request-body.ts'
import { isObject, parseJson as tryJson } from '../../../src/text/json.ts'
import type { BodyLimit } from '../../web/body-limit.ts'
import { parseJson, readBytes } from '../../web/json-body.ts'

/** Endpoints of agent gateways that call a model, even if their requests name none. */
const ASKING =
  /^\/v1\/(?:(?:.+\/)?(?:completions|responses|runs|embeddings|rerank|submit_tool_outputs)|messages|(?:audio|images)\/.+)$/
/**
 * Endpoints whose cost has no known limit: they call models later, give access to models past this gateway, or name the
 * model in their path (`/v1/engines/MODEL/completions`, `/v1/models/MODEL:generateContent`). Its name may have colons and
 * slashes itself.
 */
const UNBOUNDED =
  /^\/v1\/(?:(?:messages\/)?batches|fine_tuning|fine-tunes|realtime|videos|evals|containers|engines|deployments)(?:\/|$)|^\/v1\/.+:[^/]+$/s
/** Endpoints among {@link ASKING} that take forms. */
const TAKES_FORMS = /^\/v1\/(?:audio|images)\//
/** Possible starts of a JSON object, as lenient servers accept them. */
const OBJECT_BEGINS = /^[\s\ufeff]*(?:\{|$)/
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i

/** POST below `/v1`. Its body is read only as far as needed to tell whether it calls a model. */
export type ReadPost =
  | { asksModel: true; endpoint: string; request: ClientRequest<ModelBody> }
  /** `bytes`: the body, if it was read; null when it is still unread. */
  | { asksModel: false; bytes: Buffer | null }

/**
 * Tells whether a request calls a model, whatever type it declares: by its endpoint, in any spelling, or by the model
 * in its JSON. Reads at most the first piece of other bodies.
 *
 * @param of.path path as sent, with its query
 * @throws GazewayError `forbidden_path` as `unboundedRefusal`, `unsupported_media_type` for a body that another server
 *   may read as JSON and this one cannot, `invalid_json`, `validation_failed`, and as `readBytes`
 */
export async function readPost(
  incoming: IncomingMessage,
  { caller, path, limit }: { caller: Identity; path: string; limit: BodyLimit },
): Promise<ReadPost> {
  const { headers } = incoming
  requirePlain(headers)
  const endpoint = endpointOf(path)
  const refusal = UNBOUNDED.test(endpoint) ? unboundedRefusal(caller, endpoint) : null
  if (refusal) throw refusal
  if (ASKING.test(endpoint)) return readAsking(headers, endpoint, await readBytes(incoming, limit))
  if (!(await beginsAsObject(incoming))) return { asksModel: false, bytes: null }
  const bytes = await readBytes(incoming, limit)
  const text = bytes.toString('utf8')
  const json = tryJson(text)
  if (isObject(json) && namesModel(json))
    return { asksModel: true, endpoint: named(endpoint), request: { bytes, text, json } }
  // Lenient servers accept more than JSON: comments, NaN, a byte order mark.
  if (json === undefined && /"model"|'model'|\bmodel\s*:|\\u/i.test(text)) parseJson(headers, bytes)
  return { asksModel: false, bytes }
}

/** Tells whether a server, also one that ignores the case of names, reads a model in a body. */
const namesModel = (json: Record<string, unknown>): boolean =>
  (json.model ?? null) !== null || Object.keys(json).some((name) => isReadAs(name, 'model'))

/** Reads the body of a model request. A form, such as a recording, is billed by its length. */
function readAsking(headers: IncomingHttpHeaders, endpoint: string, bytes: Buffer): ReadPost {
  const isForm = TAKES_FORMS.test(endpoint) && /^multipart\/form-data\b/i.test(headers['content-type'] ?? '')
  const body = isForm ? { bytes, text: '', json: {} } : parseJson(headers, bytes)
  if (!isObject(body.json)) throw new GazewayError('validation_failed', 'body: must be a JSON object.')
  return { asksModel: true, endpoint: named(endpoint), request: { ...body, json: body.json } }
}

/** Normalizes a path as most servers do: decoded, in lower case, without parameters and empty segments. */
function endpointOf(path: string): string {
  const [pathname = ''] = path.split('?')
  const plain = decoded(pathname)
    .toLowerCase()
    .replaceAll(/;[^/]*/g, '')
  return plain.replaceAll(/\/+/g, '/').replace(/\/$/, '')
}

/** Decodes a path or a part of it. @throws GazewayError `validation_failed` */
export function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch (cause) {
    throw new GazewayError('validation_failed', 'The path contains a % that is not a valid escape.', {
      param: 'path',
      cause,
    })
  }
}

/** Endpoint below `/v1`, as in call records. */
const named = (endpoint: string): string => endpoint.slice('/v1'.length)

/** @throws GazewayError `unsupported_media_type` for a body that must be decoded first */
function requirePlain(headers: IncomingHttpHeaders): void {
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = headers
  const charset = CHARSET.exec(type)?.[1] ?? ''
  if (/^(?:identity)?$/i.test(encoding) && /^(?:utf-?8|us-ascii|iso-8859-1)?$/i.test(charset)) return
  throw new GazewayError(
    'unsupported_media_type',
    'Bodies below /v1 must be uncompressed UTF-8: omit content-encoding and other charsets.',
  )
}

/** Checks the first piece of a body, and puts it back for the next reader. */
async function beginsAsObject(incoming: IncomingMessage): Promise<boolean> {
  const { 'content-length': length, 'transfer-encoding': transfer } = incoming.headers
  if (transfer === undefined && Number(length ?? 0) === 0) return false
  const first = await firstPiece(incoming)
  return first !== null && OBJECT_BEGINS.test(first.toString('utf8'))
}

function firstPiece(incoming: IncomingMessage): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const gone = (cause?: unknown) => {
      stop()
      reject(new GazewayError('cancelled', 'The client disconnected.', { cause }))
    }
    function look(): void {
      const piece: Buffer | null = incoming.read()
      if (piece === null && !incoming.readableEnded) return
      stop()
      if (piece !== null) incoming.unshift(piece)
      resolve(piece)
    }
    const end = () => {
      stop()
      resolve(null)
    }
    function stop(): void {
      incoming.off('readable', look).off('end', end).off('error', gone).off('close', gone)
    }
    if (incoming.destroyed) return gone()
    incoming.on('readable', look).on('end', end).on('error', gone).on('close', gone)
  })
}

/** Tells whether servers that ignore the case of names read a field as another one: those in Go, such as Ollama. */
const isReadAs = (name: string, field: string): boolean => name !== field && name.toUpperCase().toLowerCase() === field
