import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Hono } from 'hono'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { CallerContext, ModelBody } from '../../../src/inference/admit/admit.ts'
import { LINKING_FIELDS, VERBATIM_PATHS, type VerbatimPath } from '../../../src/inference/api/verbatim-paths.ts'
import type { OpenCalls } from '../../../src/inference/inference.ts'
import { type CallVerbatim, type PathRequest, requestedModel } from '../../../src/inference/verbatim/call-verbatim.ts'

import { isObject } from '../../../src/text/json.ts'
import { type Arrival, arrivalOf } from '../../web/arrival.ts'
import { type BodyLimit, modelBodyLimit } from '../../web/body-limit.ts'
import type { Frame, FrameContext } from '../../web/frame-context.ts'
import { ALREADY_SENT, receiverOf } from '../../web/http-receiver.ts'
import { parseJson, readBytes, readJson } from '../../web/json-body.ts'
import { COMPACT, compact } from '../compact.ts'
import { relayOnce } from '../relay-once.ts'
import { callContext } from './chat-completions-route.ts'

/** Name in a path, without dot segments. */
const NAME = /^(?!\.+$)[\w.:-]{1,200}$/
const FORM = /^multipart\/form-data\b/i
/** Client headers that select the version and features of the upstream's API. */
const FORWARDED = /^(?:anthropic-|openai-beta$)/

/** Registers the routes of `/v1` whose requests go to an upstream unchanged. */
export function verbatimPathRoutes(app: Hono<Frame>, calls: OpenCalls, gateway: Gateway): void {
  const callVerbatim: CallVerbatim = (...asked) => calls.current().callVerbatim(...asked)
  for (const route of VERBATIM_PATHS) {
    const call = route.path === COMPACT ? compact(calls, gateway) : callVerbatim
    app.on(route.method, `/v1${route.path.replace(/\{(\w+)\}/, ':$1')}`, async (c) => {
      await passed(c, route, call, gateway)
      return ALREADY_SENT
    })
  }
}

/** Finds the verbatim path at a path of `/v1`, without an id. */
export const verbatimPathAt = (method: string, path: string): VerbatimPath | undefined =>
  VERBATIM_PATHS.find((route) => route.method === method && `/v1${route.path}` === path)

/**
 * Refuses a JSON request that could not be forwarded, before it is paid for.
 *
 * @returns its model; null for the upstream's default
 * @throws GazewayError `unsupported_media_type`, `invalid_json` or `validation_failed`
 */
export function checkVerbatim(route: VerbatimPath, headers: IncomingHttpHeaders, bytes: Buffer): string | null {
  const { json } = parseJson(headers, bytes)
  if (!isObject(json)) throw notAnObject()
  return requestedModel(route, json as ModelBody)
}

async function passed(c: FrameContext, route: VerbatimPath, call: CallVerbatim, gateway: Gateway): Promise<void> {
  const arrival = arrivalOf(c)
  const { incoming } = arrival
  const { named, target } = targetOf(c, route)
  const limit = modelBodyLimit(gateway, arrival.callerId)
  const read = await bodyOf(route, incoming, limit)
  const { body, formType } = read
  const id = route.path.includes('{id}') ? named : null
  const asked: PathRequest = { route, target, id, ...read }
  const context = callContext(arrival, body.json, forwardedHeaders(arrival))
  if (!isRepeatable(route, formType)) {
    refuseKeyed(incoming, route)
    return call(asked, receiverOf(arrival, gateway.upstream.provider.timeoutMs), context)
  }
  const once = { path: `/v1${target}`, text: body.text, stream: body.json.stream === true }
  await relayOnce(arrival, gateway, once, (receiver) => call(asked, receiver, context))
}

/**
 * Tells whether a reply can be stored for an `Idempotency-Key`: JSON, from a JSON request without a name in its path.
 */
const isRepeatable = ({ body, path }: VerbatimPath, formType: string | null): boolean =>
  body === 'json' && formType === null && !path.includes('{') && path !== '/audio/speech'

function refuseKeyed({ headers }: IncomingMessage, { method, path }: VerbatimPath): void {
  if (method !== 'POST' || headers['idempotency-key'] === undefined) return
  throw new GazewayError(
    'validation_failed',
    `Idempotency-Key: replies of /v1${path} cannot be replayed; omit the header.`,
    { param: 'Idempotency-Key' },
  )
}

/** Builds the upstream path with the name in it. @throws GazewayError `not_found` for a name that no upstream uses */
function targetOf(c: FrameContext, { path }: VerbatimPath): { named: string | null; target: string } {
  const { search } = new URL(c.req.url)
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? []
  if (parameter === undefined) return { named: null, target: path + search }
  const named = c.req.param(parameter) ?? ''
  if (!NAME.test(named)) throw new GazewayError('not_found', `There is nothing at ${c.req.path.slice(0, 200)}.`)
  return { named, target: path.replace(`{${parameter}}`, named) + search }
}

const NO_BODY = { bytes: Buffer.alloc(0), text: '', json: {} }

async function bodyOf(
  route: VerbatimPath,
  incoming: IncomingMessage,
  limit: BodyLimit,
): Promise<Pick<PathRequest, 'body' | 'formType' | 'holdsRequests'>> {
  if (route.body === 'none') {
    incoming.resume()
    return { body: NO_BODY, formType: null, holdsRequests: false }
  }
  const type = incoming.headers['content-type'] ?? ''
  if (route.body === 'form' || (route.body === 'any' && FORM.test(type))) {
    if (!FORM.test(type) || incoming.headers['content-encoding'] !== undefined)
      throw new GazewayError(
        'unsupported_media_type',
        'The body must be a form: send content-type multipart/form-data.',
      )
    const bytes = await readBytes(incoming, limit)
    const form = await formIn(bytes, type)
    const holdsRequests = route.makes === true && (await mayHoldRequests(form))
    return { body: { bytes, text: '', json: modelIn(form) }, formType: type, holdsRequests }
  }
  const body = await readJson(incoming, limit)
  if (!isObject(body.json)) throw notAnObject()
  return { body: { ...body, json: body.json as ModelBody }, formType: null, holdsRequests: false }
}

const notAnObject = () => new GazewayError('validation_failed', 'body: must be a JSON object.')

/** @throws GazewayError `validation_failed` */
const formIn = (bytes: Buffer, type: string): Promise<FormData> =>
  new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData().catch((cause: unknown) => {
    throw new GazewayError('validation_failed', 'The body is not a valid multipart/form-data form.', { cause })
  })

/**
 * Tells whether a form may contain batch requests: its purpose is `batch`, or a file begins like JSON. Some providers
 * detect a batch by its content.
 */
async function mayHoldRequests(form: FormData): Promise<boolean> {
  if (form.getAll('purpose').includes('batch')) return true
  for (const [, value] of form) {
    const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(await value.arrayBuffer())
    if (bytes[bytes.findIndex((byte) => !BLANK.includes(byte))] === OBJECT) return true
  }
  return false
}

/** White space, and the bytes of byte order marks and of padding, also in UTF-16 and UTF-32. */
const BLANK = [...Buffer.from(' \t\r\n\ufeff'), 0x00, 0xfe, 0xff]
const [OBJECT] = Buffer.from('{')

/** Reads the model, the `stream` flag and the addresses of recordings of a form. @throws GazewayError `validation_failed` */
function modelIn(form: FormData): ModelBody {
  const models = form.getAll('model')
  const [model] = models
  // Servers differ in which of several values they use.
  if (models.length > 1 || (model !== undefined && typeof model !== 'string'))
    throw new GazewayError('validation_failed', 'model: must be a single model name.', { param: 'model' })
  return {
    ...(model !== undefined && { model }),
    ...(form.get('stream') === 'true' && { stream: true }),
    ...Object.fromEntries(LINKING_FIELDS.flatMap((name) => (form.has(name) ? [[name, oneOrAll(form, name)]] : []))),
  }
}

/** Value of a field of a form; a list of several. */
function oneOrAll(form: FormData, name: string): unknown {
  const values = form.getAll(name)
  return values.length === 1 ? values[0] : values
}

function forwardedHeaders({ incoming }: Arrival): CallerContext['headers'] {
  const given = Object.entries(incoming.headers).filter(
    (header): header is [string, string] => FORWARDED.test(header[0]) && typeof header[1] === 'string',
  )
  return Object.fromEntries(given)
}
