import type { Calls } from '../calls/calls.ts'
import { GazewayError } from '../errors.ts'
import type { Identity } from '../identity/identity.ts'
import { readable } from './relay/request-body.ts'

/** Fields by which a request names what an earlier call made. */
const NAMING = /"(previous_response_id|input_file_id|file_id|batch_id)"\s*:\s*"([^"\\]{1,200})"/g
/** At most so many are looked up for one request. */
const MOST = 100

/** Who may see what upstreams keep for callers: whoever made it, and admins. */
export interface OwnObjects {
  /**
   * The upstream that keeps something which the caller has made; null where the trail does not know it, for admins alone.
   *
   * @throws GazewayError `not_found`
   */
  upstreamOf(id: string, caller: Caller): Promise<string | null>
  /** Refuses a request that names what another caller has made. @throws GazewayError `not_found` */
  requireOwn(request: { text: string; json: object }, caller: Caller): Promise<void>
  /** Of ids, those that the caller may see. */
  visible(ids: readonly string[], caller: Caller): Promise<ReadonlySet<string>>
}

type Caller = Pick<Identity, 'id' | 'scopes'> | null

export function createOwnObjects(calls: Pick<Calls, 'ownerOf'>): OwnObjects {
  const isAdmin = (caller: Caller): boolean => caller?.scopes.has('admin') === true
  const find = (id: string, caller: Caller) => calls.ownerOf(id, caller?.id ?? null)

  return {
    async upstreamOf(id, caller) {
      const owner = await find(id, caller)
      if (!isAdmin(caller) && owner?.isOwn !== true) throw notFound(id)
      return owner?.upstream ?? null
    },
    async requireOwn(request, caller) {
      if (isAdmin(caller)) return
      const text = plainText(request)
      const named = new Map([...text.matchAll(NAMING)].map(([, field = '', id = '']) => [id, field]))
      if (named.size > MOST)
        throw new GazewayError('validation_failed', `It names ${named.size} objects; accepted are up to ${MOST}.`)
      for (const [id, field] of named) {
        const owner = await find(id, caller)
        if (owner?.isOwn === false) throw notFound(id, field)
      }
    },
    async visible(ids, caller) {
      if (isAdmin(caller)) return new Set(ids)
      const seen = new Set<string>()
      for (const id of ids) if ((await find(id, caller))?.isOwn === true) seen.add(id)
      return seen
    },
  }
}

/** A request without escapes, by which names and ids could be written otherwise. */
const plainText = ({ text, json }: { text: string; json: object }): string =>
  text.includes('\\u') ? readable(() => JSON.stringify(json)) : text

/** Whether a request may name what an earlier call made. */
export const mayNameObjects = ({ text }: { text: string }): boolean => text.includes('_id"') || text.includes('\\u')

const notFound = (id: string, param?: string): GazewayError =>
  new GazewayError('not_found', `There is no ${JSON.stringify(id.slice(0, 200))} that this key has made.`, {
    ...(param !== undefined && { param }),
  })
