import { GazewayError } from '../errors.ts'
import type { Identity } from '../identity/identity.ts'
import { type AdmitDeps, admitFree, admitUnbounded, billFor, type CallerContext, type ModelBody } from './admit.ts'
import { limitsAt } from './answer-limit.ts'
import { type Bill, NO_BILL } from './bill.ts'
import { type BilledReceiver, billedReceiver } from './billed-receiver.ts'
import { billedFields } from './call-bound.ts'
import { admitting, type CallDeps } from './call-model.ts'
import { upstreamFailure } from './failure.ts'
import { restMs } from './fallback.ts'
import { formWithModel } from './form-model.ts'
import { NOTHING } from './observe.ts'
import { mayNameObjects, type OwnObjects } from './own-objects.ts'
import { type PassedReply, passReply } from './pass-path-reply.ts'
import { asksModel, type PassedPath } from './passed-paths.ts'
import type { Place, Places } from './places.ts'
import type { ModelChoice } from './provider.ts'
import { errorEvent } from './relay/error-event.ts'
import type { Receiver } from './relay/receiver.ts'
import { type ClientRequest, requestBody } from './relay/request-body.ts'
import { endingOf } from './relay/send.ts'
import { type BegunCall, beginCall } from './settle.ts'
import { askForUsage } from './usage-request.ts'

/** A request to a passed-through path. */
export interface PathRequest {
  route: PassedPath
  /** Path below `/v1` as sent, with its query. */
  target: string
  /** Id in the path. Null without one. */
  id: string | null
  /** The body. For a form, `json` contains its model, and `text` is empty. */
  body: ClientRequest<ModelBody>
  /** Content type of a body that is not JSON. Null for JSON or no body. */
  formType: string | null
  /** Tells whether its file may be the input of a batch, whatever its `purpose` is. */
  holdsRequests: boolean
}

/**
 * Forwards a request to the upstream of its model or of the object in its path. Recorded, limited and charged like
 * every call. Status and body of the reply are unchanged, also for errors.
 *
 * @returns at the end of the reply
 * @throws GazewayError as `billFor` and `OwnObjects`; `forbidden_path` for a request of unknown cost by a caller with
 *   limits; and when no reply came, before its first byte
 */
export type PassPath = (asked: PathRequest, receiver: Receiver, context: CallerContext) => Promise<void>

/** Creates the forwarding, under the bills of the callers. */
export function createPassPath(deps: CallDeps, objects: OwnObjects, places: Places): PassPath {
  const admits = admitting(deps)

  return async (asked, receiver, context) => {
    const caller = context.callerId === null ? null : await admits.identity(context.callerId)
    const place = await placeOf(asked, caller)
    const { bill, end } = await billOf(admits, asked, place, context)
    const started = performance.now()
    const held = billedReceiver(receiver, bill, {
      errorEvent: (error, number) => errorEvent(asked.route.path, error, context.requestId, number),
      countTokens: deps.countTokens,
    })
    try {
      const call = beginCall(
        deps,
        {
          provider: place.relay.provider,
          path: asked.route.path,
          model: place.model,
          stream: asked.body.json.stream === true,
          request: asked.body.json,
          bill,
        },
        context,
      )
      const passed = await sendAndPass(asked, { place, held, call, bill, caller, context })
      const { callId, usage } = await call.settle(passed)
      const billed = {
        callId,
        model: place.model?.requested ?? '',
        path: `/v1${asked.route.path}`,
        usage,
        latencyMs: Math.round(performance.now() - started),
      }
      const charged = await bill.settle(billed).catch((fault) => {
        if (!held.fail(fault)) throw fault
        return null
      })
      held.finish(callId, charged)
    } finally {
      end()
    }
  }

  async function placeOf({ route, id, body, holdsRequests }: PathRequest, caller: Identity | null): Promise<Place> {
    const named = id ?? (route.cost === 'unbounded' ? inputFileOf(body.json) : null)
    if (named !== null) {
      const upstream = await objects.upstreamOf(named, caller)
      const place = upstream === null ? places.first() : places.named(upstream)
      if (place !== null) return place
      throw new GazewayError('not_found', `The upstream ${upstream} that stores it is no longer configured.`)
    }
    if (!asksModel(route)) {
      // A batch executes the lines of its file, so these are checked too.
      if (holdsRequests) await objects.requireOwn({ text: body.bytes.toString('latin1') }, caller)
      return places.first()
    }
    if (mayNameObjects(body)) await objects.requireOwn(body, caller)
    const { model } = body.json
    if (typeof model === 'string' && model.length > LONGEST_MODEL)
      throw new GazewayError('validation_failed', `model: too long; must be at most ${LONGEST_MODEL} characters.`, {
        param: 'model',
      })
    if (typeof model === 'string' && model !== '') return places.ofModel(model)
    if (route.hasDefault && (model ?? '') === '') return { ...places.first(), model: DEFAULT_MODEL }
    throw new GazewayError('validation_failed', 'model: missing; must be the name of a model.', { param: 'model' })
  }

  /** Sends the request and passes the reply on. A request without an answer is recorded too. */
  async function sendAndPass(asked: PathRequest, { place, ...passing }: Sending): Promise<PassedReply> {
    const { relay, model, rest } = place
    const { held, call, bill, context } = passing
    const { route, target, body } = asked
    try {
      const { written, type } = await bodyOf(asked, model, bill)
      const request = {
        method: route.method,
        body: written,
        stream: body.json.stream === true,
        via: context.via,
        headers: { ...context.headers, ...(type !== null && { 'content-type': type }) },
      }
      const reply = await relay.open(target, request, held)
      if (reply.kind === 'whole') rest(restMs(reply))
      return await passReply(asked, { ...passing, provider: relay.provider, objects }, reply)
    } catch (cause) {
      const error = upstreamFailure(cause, relay.provider, endingOf(held))
      error.callId = call.callId
      await call.settle({ httpStatus: null, error, ...NOTHING, isHad: false })
      throw error
    }
  }
}

interface Sending {
  place: Place
  held: BilledReceiver
  call: BegunCall
  bill: Bill
  caller: Identity | null
  context: CallerContext
}

/** Longest model name, as on the converted endpoints. */
const LONGEST_MODEL = 256

/** Model of a request that names none; the upstream's default answers. */
const DEFAULT_MODEL: ModelChoice = { requested: '', upstream: '', catalogue: {} }

/**
 * Input file of a batch.
 *
 * @throws GazewayError `validation_failed`
 */
function inputFileOf({ input_file_id }: ModelBody): string {
  if (typeof input_file_id === 'string' && input_file_id !== '') return input_file_id
  throw new GazewayError('validation_failed', 'input_file_id: missing; must be the id of a file.', {
    param: 'input_file_id',
  })
}

/** Lower bound for a recording: Opus at 6 kbit/s has 750 bytes per second, and a second is 10 tokens. */
const BYTES_PER_RECORDED_TOKEN = 16

async function billOf(
  admits: AdmitDeps,
  { route, body, formType }: PathRequest,
  { model }: Place,
  context: CallerContext,
): Promise<{ bill: Bill; end(): void }> {
  const path = `/v1${route.path}`
  if (model !== null) {
    const most = formType === null ? body.bytes.length : Math.ceil(body.bytes.length / BYTES_PER_RECORDED_TOKEN)
    const request = { ...body, bytes: body.bytes.subarray(0, most) }
    const bill = await billFor(admits, { path, request, models: () => [model] }, context)
    return { bill, end: bill.end }
  }
  const admitted = route.cost === 'unbounded' ? admitUnbounded : admitFree
  const counted = await admitted(admits, { path, model: null }, context)
  return { bill: { ...NO_BILL, ...(counted && { headers: counted.headers }) }, end: () => counted?.end(0) }
}

/**
 * The client's bytes, when the fields that determine the bill occur once in them. Otherwise rewritten, with the
 * upstream's model id, and the token limit if one is needed. A form is rewritten only for another model id.
 *
 * @returns the body, and the content type of a form
 */
async function bodyOf(
  { route, body, formType }: PathRequest,
  model: ModelChoice | null,
  { isBounded, answerLimit }: Bill,
): Promise<{ written: Buffer | string | null; type: string | null }> {
  if (route.body === 'none') return { written: null, type: null }
  const isNamed = model !== null && model.upstream !== ''
  if (formType !== null) {
    const form = { written: body.bytes, type: formType }
    return isNamed && model.upstream !== body.json.model ? formWithModel(form, model.upstream) : form
  }
  const { json } = body
  const [limit] = limitsAt(route.path)
  const fields = {
    ...(isBounded && billedFields(json)),
    ...(isNamed && { model: model.upstream }),
    ...(route.path === '/completions' && json.stream === true && askForUsage(json)),
    ...(limit !== undefined && answerLimit !== null && { [limit]: answerLimit }),
  }
  return { written: await requestBody(body, fields), type: null }
}
