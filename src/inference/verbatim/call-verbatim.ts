import { GazewayError } from '../../errors.ts'
import type { Identity } from '../../identity/identity.ts'
import type { CallerContext, ModelBody } from '../admit/admit.ts'
import { mayNameObjects } from '../admit/named-objects.ts'
import { type Caller, callerOf, type OwnObjects } from '../admit/own-objects.ts'
import { asksModel, type VerbatimPath } from '../api/verbatim-paths.ts'
import type { MakeCall } from '../call.ts'
import { verbatimPassage } from '../passages/verbatim-passage.ts'
import type { Receiver } from '../relay/receiver.ts'
import type { ClientRequest } from '../relay/request-body.ts'
import { atKeeper, type Candidate } from '../route/route.ts'
import { planOf, type VerbatimRoutes, type VerbatimWay } from '../route/verbatim-routes.ts'
import { type Affinity, affinityOf } from '../session/affinity.ts'
import type { DetachedAnswers } from '../settle/detached-answer.ts'

/** A request to a verbatim path. */
export interface PathRequest {
  route: VerbatimPath
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
 * Passes a request on to the upstreams of its model or to that of the object in its path. Recorded, limited and charged
 * like every call. Status and body of the reply are unchanged, also for errors.
 *
 * @returns at the end of the reply
 * @throws GazewayError as `MakeCall` and `OwnObjects`; `forbidden_path` for a request of unknown cost by a caller with
 *   limits; `conflict` for the deletion of an answer whose cost is not known yet; and when no reply came, before its first byte
 */
export type CallVerbatim = (asked: PathRequest, receiver: Receiver, context: CallerContext) => Promise<void>

/** Dependencies of verbatim paths. */
export interface CallVerbatimDeps {
  makeCall: MakeCall
  routes: VerbatimRoutes
  /** Routes of requests with a credential of their client. */
  ownRoutes: VerbatimRoutes
  objects: OwnObjects
  detached: Pick<DetachedAnswers, 'settleBeforeDeletion'>
  /** Finds a key by id. */
  identity(id: string): Identity | null | Promise<Identity | null>
}

/** Creates the function that passes requests on. */
export function createCallVerbatim({
  makeCall,
  routes: ofOurs,
  ownRoutes,
  objects,
  detached,
  identity,
}: CallVerbatimDeps): CallVerbatim {
  return async (asked, receiver, context) => {
    const { route, body: request, formType } = asked
    const caller = await callerOf(context.callerId, identity)
    const isPartial = route.lists === true && caller?.scopes.has('admin') !== true
    const visible = isPartial ? (ids: readonly string[]) => objects.visible(ids, caller) : null
    const way = { path: route.path, passage: verbatimPassage({ ...asked, visible }) }
    const routes = context.ownKey === undefined ? ofOurs : ownRoutes
    const plan = planOf(await candidatesFor(asked, way, { routes, caller, affinity: affinityOf(context) }))
    if (route.method === 'DELETE' && asked.id !== null) await detached.settleBeforeDeletion(asked.id)
    const verbatim = { cost: route.cost, formType }
    const call = { endpoint: route.path, request, retries: 0, needsText: false, verbatim }
    await makeCall(call, plan, receiver, context)
  }

  async function candidatesFor(
    { route, id, body, holdsRequests }: PathRequest,
    way: VerbatimWay,
    { routes, caller, affinity }: { routes: VerbatimRoutes; caller: Caller; affinity: Affinity | null },
  ): Promise<readonly Candidate[]> {
    // A batch executes the lines of its file, so these are checked too.
    // Without NULs, ids in UTF-16 and UTF-32 read as in UTF-8.
    const text = holdsRequests ? body.bytes.toString('latin1').replaceAll('\0', '') : body.text
    const naming = { endpoint: route.path, text }
    const mayName = mayNameObjects(naming)
    if (mayName) await objects.requireOwn(naming, caller)
    const named = id ?? (route.cost === 'unbounded' ? inputFileOf(body.json) : null)
    if (named !== null) {
      const upstream = await objects.upstreamOf(named, caller)
      const found = upstream === null ? routes.first(way) : routes.named(upstream, way)
      if (found !== null) return found
      throw new GazewayError('not_found', `The upstream ${upstream} that stores it is no longer configured.`)
    }
    if (!asksModel(route)) return routes.first(way)
    const model = requestedModel(route, body.json)
    if (model === null) return routes.first(way, 'default model')
    return atKeeper(routes.ofModel(model, way, affinity), mayName ? await objects.keeperOf(body.json, caller) : null)
  }
}

/**
 * Reads the model that a request names. Null for the upstream's default, where it has one.
 *
 * @throws GazewayError `validation_failed`
 */
export function requestedModel({ hasDefault }: VerbatimPath, { model }: ModelBody): string | null {
  if (hasDefault && (model ?? '') === '') return null
  if (typeof model !== 'string' || model === '')
    throw new GazewayError('validation_failed', 'model: missing; must be the name of a model.', { param: 'model' })
  if (model.length <= LONGEST_MODEL) return model
  throw new GazewayError('validation_failed', `model: too long; must be at most ${LONGEST_MODEL} characters.`, {
    param: 'model',
  })
}

/** Longest model name, as on the converted endpoints. */
const LONGEST_MODEL = 256

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
