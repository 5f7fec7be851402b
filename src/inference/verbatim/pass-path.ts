import { GazewayError } from '../../errors.ts'
import {
  type AdmitDeps,
  admitFree,
  admitUnbounded,
  billFor,
  type CallerContext,
  type ModelBody,
} from '../admit/admit.ts'
import { type Bill, NO_BILL } from '../admit/bill.ts'
import { type Caller, callerOf, mayNameObjects, type OwnObjects } from '../admit/own-objects.ts'
import { asksModel, type PassedPath } from '../api/passed-paths.ts'
import { admitting, type CallDeps } from '../call.ts'
import { errorEvent } from '../passages/error-event.ts'
import type { Receiver } from '../relay/receiver.ts'
import { billedReceiver } from '../settle/billed-receiver.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import { attemptPlaces } from './pass-path-attempts.ts'
import type { PathRequest } from './path-request.ts'
import type { Places, PlacesFor } from './places.ts'

/**
 * Forwards a request to the upstreams of its model or to that of the object in its path. Recorded, limited and charged
 * like every call. Status and body of the reply are unchanged, also for errors.
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
    const caller = await callerOf(context.callerId, admits.identity)
    const destinations = await placesFor(asked, caller)
    const { bill, end } = await billOf(admits, asked, destinations, context)
    const started = performance.now()
    const held = billedReceiver(receiver, bill, {
      errorEvent: (error, number) => errorEvent(asked.route.path, error, context.requestId, number),
      countTokens: deps.countTokens,
    })
    try {
      const passing = { held, bill, caller, context, objects }
      const { callId, usage, selection } = await attemptPlaces(deps, asked, destinations, passing)
      const billed = {
        callId,
        model: selection.candidate.model?.requested ?? '',
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

  async function placesFor({ route, id, body, holdsRequests }: PathRequest, caller: Caller): Promise<PlacesFor> {
    const { path } = route
    const named = id ?? (route.cost === 'unbounded' ? inputFileOf(body.json) : null)
    if (named !== null) {
      const upstream = await objects.upstreamOf(named, caller)
      const found = upstream === null ? places.first(path) : places.named(upstream, path)
      if (found !== null) return found
      throw new GazewayError('not_found', `The upstream ${upstream} that stores it is no longer configured.`)
    }
    if (!asksModel(route)) {
      // A batch executes the lines of its file, so these are checked too.
      // Without NULs, ids in UTF-16 and UTF-32 read as in UTF-8.
      if (holdsRequests) await objects.requireOwn({ text: body.bytes.toString('latin1').replaceAll('\0', '') }, caller)
      return places.first(path)
    }
    if (mayNameObjects(body)) await objects.requireOwn(body, caller)
    const model = requestedModel(route, body.json)
    if (model === null) return [{ ...places.first(path)[0], model: DEFAULT_MODEL, modelId: DEFAULT_MODEL.upstream }]
    const keeper = mayNameObjects(body) ? await objects.keeperOf(body.json, caller) : null
    return kept(places.ofModel(model, path), keeper)
  }
}

/**
 * Reads the model that a request names. Null for the upstream's default, where it has one.
 *
 * @throws GazewayError `validation_failed`
 */
export function requestedModel({ hasDefault }: PassedPath, { model }: ModelBody): string | null {
  if (hasDefault && (model ?? '') === '') return null
  if (typeof model !== 'string' || model === '')
    throw new GazewayError('validation_failed', 'model: missing; must be the name of a model.', { param: 'model' })
  if (model.length <= LONGEST_MODEL) return model
  throw new GazewayError('validation_failed', `model: too long; must be at most ${LONGEST_MODEL} characters.`, {
    param: 'model',
  })
}

/** The destinations at the upstream that stores what a request continues, if it is among them. */
function kept(all: PlacesFor, keeper: string | null): PlacesFor {
  const [able, ...others] = all.filter(({ relays }) => relays.upstream.provider.name === keeper)
  return able === undefined ? all : [able, ...others]
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
  places: PlacesFor,
  context: CallerContext,
): Promise<{ bill: Bill; end(): void }> {
  const path = `/v1${route.path}`
  const models = places.flatMap(({ model }) => model ?? [])
  if (models.length > 0) {
    const most = formType === null ? body.bytes.length : Math.ceil(body.bytes.length / BYTES_PER_RECORDED_TOKEN)
    const request = { ...body, bytes: body.bytes.subarray(0, most) }
    const bill = await billFor(admits, { path, request, models: () => models }, context)
    return { bill, end: bill.end }
  }
  const admitted = route.cost === 'unbounded' ? admitUnbounded : admitFree
  const counted = await admitted(admits, { path, models: [] }, context)
  return { bill: { ...NO_BILL, ...(counted && { headers: counted.headers }) }, end: () => counted?.end(0) }
}
