import type { Calls } from '../calls/calls.ts'
import { GazewayError } from '../errors.ts'
import type { Identity } from '../identity/identity.ts'
import { record } from './convert/loose.ts'

/** Fields by which a request names what an earlier call made. */
const NAMING = /"(previous_response_id|input_file_id|file_id|batch_id)"\s*:\s*"([^"\\]{1,200})"/g
/** The same of several files, as the tools of a Response have them. */
const FILE_IDS = /"file_ids"\s*:\s*\[([^\]]*)/g
const QUOTED_ID = /^"([\w.:-]{1,200})"$/
/** At most so many are looked up for one request. */
const MOST = 1000

/** Who may see what upstreams keep for callers: whoever made it, and admins. */
export interface OwnObjects {
  /**
   * The upstream that keeps something which the caller has made; null where the trail does not know it, for admins alone.
   *
   * @throws GazewayError `not_found`
   */
  upstreamOf(id: string, caller: Caller): Promise<string | null>
  /** The upstream of the answer that a Response goes on from; null where the trail does not know it, or it begins anew. */
  keeperOf(request: object, caller: Caller): Promise<string | null>
  /** Refuses a request that names what another caller has made. @throws GazewayError `not_found` */
  requireOwn(request: { text: string }, caller: Caller): Promise<void>
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
    async keeperOf(request, caller) {
      const { previous_response_id: id } = record(request)
      return typeof id === 'string' ? ((await find(id, caller))?.upstream ?? null) : null
    },
    async requireOwn(request, caller) {
      if (isAdmin(caller)) return
      const named = namedIn(plainText(request))
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

/** The ids that a text names, each with its field. @throws GazewayError `validation_failed` for a list that is none of ids */
function namedIn(text: string): Map<string, string> {
  const named = new Map([...text.matchAll(NAMING)].map(([, field = '', id = '']) => [id, field]))
  for (const [, list = ''] of text.matchAll(FILE_IDS)) {
    if (list.trim() === '') continue
    for (const item of list.split(',')) {
      const id = QUOTED_ID.exec(item.trim())?.[1]
      if (id === undefined)
        throw new GazewayError('validation_failed', 'file_ids: accepted are ids of files.', { param: 'file_ids' })
      named.set(id, 'file_ids')
    }
  }
  return named
}

/**
 * A text of JSON without escapes, by which names and ids could be written otherwise. It is not parsed for that: of a field that
 * comes twice, that would hide one.
 */
const plainText = ({ text }: { text: string }): string =>
  text.includes('\\u') ? text.replace(/\\(?:u([\da-f]{4})|.)/gi, unescaped) : text

/** Quotes stay escaped: they do not end a string. */
function unescaped(written: string, code: string | undefined): string {
  if (code === undefined) return written
  const letter = String.fromCharCode(Number.parseInt(code, 16))
  return letter === '"' || letter === '\\' ? `\\${letter}` : letter
}

/** Whether a request may name what an earlier call made. */
export const mayNameObjects = ({ text }: { text: string }): boolean =>
  text.includes('_id"') || text.includes('_ids"') || text.includes('\\u')

const notFound = (id: string, param?: string): GazewayError =>
  new GazewayError('not_found', `There is no ${JSON.stringify(id.slice(0, 200))} that this key has made.`, {
    ...(param !== undefined && { param }),
  })
