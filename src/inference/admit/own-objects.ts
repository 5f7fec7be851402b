import type { Calls } from '../../calls/calls.ts'
import { GazewayError } from '../../errors.ts'
import type { Identity } from '../../identity/identity.ts'
import { record } from '../../text/loose.ts'

/** Fields that refer to an object of an earlier call, in any case: some servers ignore it. */
const NAMING = /"(previous_response_id|input_file_id|file_id|batch_id)"\s*:\s*"([^"\\]{1,200})"/giu
/** Lists of file ids, as in the tools of a Response. */
const FILE_IDS = /"file_ids"\s*:\s*\[([^\]]*)/giu
const QUOTED_ID = /^"([\w.:-]{1,200})"$/
/** Maximum number of ids looked up per request. */
const MOST = 1000

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
   * Rejects a request that refers to an object of another caller.
   *
   * @throws GazewayError `not_found`
   */
  requireOwn(request: { text: string }, caller: Caller): Promise<void>
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

export function createOwnObjects(calls: Pick<Calls, 'ownerOf'>): OwnObjects {
  const isAdmin = (caller: Caller): boolean => caller?.scopes.has('admin') === true
  const find = (id: string, caller: Caller) => calls.ownerOf(id, caller?.id ?? null)

  return {
    async upstreamOf(id, caller) {
      const owner = await find(id, caller)
      if (!isAdmin(caller) && owner?.isOwn !== true) throw notFound(id)
      return owner?.upstream ?? null
    },
    async keeperOf(request, caller) {
      const { previous_response_id: id } = record(request)
      return typeof id === 'string' ? ((await find(id, caller))?.upstream ?? null) : null
    },
    async requireOwn(request, caller) {
      if (isAdmin(caller)) return
      const named = namedIn(plainText(request))
      if (named.size > MOST)
        throw new GazewayError(
          'validation_failed',
          `The request names ${named.size} objects; at most ${MOST} are allowed.`,
        )
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

/**
 * Ids in a text, each with its field.
 *
 * @throws GazewayError `validation_failed` for a list that contains anything but ids
 */
function namedIn(text: string): Map<string, string> {
  const named = new Map([...text.matchAll(NAMING)].map(([, field = '', id = '']) => [id, field]))
  for (const [, list = ''] of text.matchAll(FILE_IDS)) {
    if (list.trim() === '') continue
    for (const item of list.split(',')) {
      const id = QUOTED_ID.exec(item.trim())?.[1]
      if (id === undefined)
        throw new GazewayError('validation_failed', 'file_ids: must contain only file ids.', { param: 'file_ids' })
      named.set(id, 'file_ids')
    }
  }
  return named
}

/**
 * Removes the escapes from a JSON text, which could disguise names and ids. The text is not parsed: if a field occurs
 * twice, parsing would hide one of the two.
 */
const plainText = ({ text }: { text: string }): string =>
  text.includes('\\u') ? text.replace(/\\(?:u([\da-f]{4})|.)/gi, unescaped) : text

/** Quotes stay escaped, so that they do not end a string. */
function unescaped(written: string, code: string | undefined): string {
  if (code === undefined) return written
  const letter = String.fromCharCode(Number.parseInt(code, 16))
  return letter === '"' || letter === '\\' ? `\\${letter}` : letter
}

/** Tells whether a request may refer to an object of an earlier call. */
export const mayNameObjects = ({ text }: { text: string }): boolean =>
  /_[iI][dD][sS\u017f]?"/.test(text) || text.includes('\\u')

const notFound = (id: string, param?: string): GazewayError =>
  new GazewayError('not_found', `There is no ${JSON.stringify(id.slice(0, 200))} that was created with this key.`, {
    ...(param !== undefined && { param }),
  })
