import type { Calls } from '../../calls/calls.ts'
import { GazewayError } from '../../errors.ts'
import type { Identity } from '../../identity/identity.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { type NamedObject, type NamingRequest, namedObjects } from './named-objects.ts'

/** Maximum number of ids looked up per request. */
const MOST = 20_000

/** Access control for objects stored at upstreams: visible to the caller who created them, and to admins. */
export interface OwnObjects {
  /**
   * Finds the upstream that stores an object of the caller. Null when the trail does not know it, for admins only.
   *
   * @throws GazewayError `not_found`
   */
  upstreamOf(id: string, caller: Caller): Promise<string | null>
  /**
   * Finds the upstream of the Response that a request continues. Null when the trail does not know it, or the request
   * continues none.
   */
  keeperOf(request: object, caller: Caller): Promise<string | null>
  /**
   * Rejects a request that refers to an object of another caller. Allows ids that no recorded call created.
   *
   * @throws GazewayError `not_found`
   */
  requireOwn(request: NamingRequest, caller: Caller): Promise<void>
  /** Filters ids by visibility to the caller. */
  visible(ids: readonly string[], caller: Caller): Promise<ReadonlySet<string>>
}

export type Caller = Pick<Identity, 'id' | 'scopes'> | null

const NO_SCOPES: Identity['scopes'] = new Set()

/**
 * Finds the owner of what a caller creates: a key, or a payer without one. Null for tools on this machine.
 *
 * @param identity finds a key by id
 */
export async function callerOf(
  callerId: string | null,
  identity: (id: string) => Identity | null | Promise<Identity | null>,
): Promise<Caller> {
  if (callerId === null) return null
  return (await identity(callerId)) ?? { id: callerId, scopes: NO_SCOPES }
}

export function createOwnObjects(calls: Pick<Calls, 'ownersOf'>): OwnObjects {
  const isAdmin = (caller: Caller): boolean => caller?.scopes.has('admin') === true
  const owners = (ids: readonly string[], caller: Caller) => calls.ownersOf(ids, caller?.id ?? null)
  const find = async (id: string, caller: Caller) => (await owners([id], caller)).get(id)

  return {
    async upstreamOf(id, caller) {
      const owner = await find(id, caller)
      if (!isAdmin(caller) && owner?.isOwn !== true) throw notFound(id)
      return owner?.upstream ?? null
    },
    async keeperOf(request, caller) {
      const { previous_response_id: id } = fieldsOrNone(request)
      return typeof id === 'string' ? ((await find(id, caller))?.upstream ?? null) : null
    },
    async requireOwn(request, caller) {
      if (isAdmin(caller)) return
      const named = namedObjects(request)
      if (named.size > MOST)
        throw new GazewayError(
          'validation_failed',
          `The request names ${named.size} objects; at most ${MOST} are allowed.`,
        )
      const found = await owners([...named.keys()], caller)
      for (const [id, object] of named) if (found.get(id)?.isOwn === false) throw notFound(id, object)
    },
    async visible(ids, caller) {
      if (isAdmin(caller)) return new Set(ids)
      const found = await owners(ids, caller)
      return new Set(ids.filter((id) => found.get(id)?.isOwn === true))
    },
  }
}

const notFound = (id: string, { kind, field }: Partial<NamedObject> = {}): GazewayError =>
  new GazewayError(
    'not_found',
    `There is no ${kind ?? 'object'} ${JSON.stringify(id.slice(0, 200))} that was created with this key.`,
    { ...(field && { param: field }) },
  )
