import type { CallRecord } from '../../../../src/calls/call-record.ts'
import type { CodingSession } from '../../../../src/coding-sessions/coding-session.ts'
import type { Escrow } from '../../../../src/escrow/escrow.ts'
import type { GroupRecord } from '../../../../src/identity/group.ts'
import type { KeyRecord } from '../../../../src/identity/key.ts'
import type { Task } from '../../../../src/tasks/tasks.ts'
import { secretIn } from '../../../../src/text/secret-text.ts'
import type { ReceiptRecord } from '../../../../src/wallet/receipts/receipt.ts'
import type { FoundMemories } from '../../../platform/routes/memory-routes.ts'
import type { ShownUpstream } from '../../../platform/routes/upstream-routes.ts'
import { ApiError, api } from '../api.ts'
import { shortId } from '../format.ts'
import { shownGroups } from '../page-list.ts'
import type { List } from '../paging.ts'
import { href, queryOf } from '../router.ts'
import { type Session, session } from '../signed-in.ts'

/** Place that a text leads to. */
export interface Found {
  group: string
  label: string
  /** Mark that tells it from others of the same label. */
  note: string
  address: string
}

/** Maximum number of places of one group. */
const MAX_SHOWN = 5
/** Tasks, escrows and receipts that are searched, newest first. */
const SEARCHED = 200
/** Longest id of a session, as clients name it. */
const LONGEST_SESSION = 128
/** Longest name of a branch. */
const LONGEST_BRANCH = 255
/** Shortest text that is searched for in records. */
const SHORTEST = 2

/** Pages by the prefix of an id. */
const BY_PREFIX: ReadonlyMap<string, { group: string; note: string; page: string }> = new Map([
  ['call', { group: 'Calls', note: 'call', page: 'calls' }],
  ['task', { group: 'Tasks', note: 'task', page: 'tasks' }],
  ['swarm', { group: 'Tasks', note: 'swarm', page: 'swarm' }],
  ['key', { group: 'Keys', note: 'key', page: 'keys' }],
  ['grp', { group: 'Keys', note: 'group', page: 'keys' }],
  ['esc', { group: 'Escrows', note: 'escrow', page: 'escrow' }],
  ['rev', { group: 'Reviews', note: 'review', page: 'reviews' }],
])

const ACTIONS: readonly Found[] = [
  { label: 'Make, edit or revoke a key', address: href('keys') },
  { label: 'Show keys that were not used for 30 days', address: href('keys', { query: { unused: '30' } }) },
  { label: 'Add a provider and its key', address: href('upstreams', { id: 'new' }) },
  { label: 'Edit routes, test an upstream', address: href('upstreams') },
  { label: 'Divide a goal into tasks', address: href('swarm') },
  { label: 'Show failed calls', address: href('calls', { query: { status: 'error' } }) },
  { label: 'Show refused calls', address: href('calls', { query: { status: 'refused' } }) },
].map((action) => ({ group: 'Actions', note: '', ...action }))

/** Pages that the signed-in key may see, and actions on them. */
function placesOf({ isInference = false }: Pick<Session, 'isInference'>): Found[] {
  const groups = shownGroups(isInference)
  const pages = groups.flatMap(({ label: note, pages: shown }) =>
    shown.map(({ name, label }) => ({ group: 'Pages', label, note, address: href(name) })),
  )
  return isInference ? pages : [...pages, ...ACTIONS]
}

/** Finds pages and actions, and the page of an id, without a request. */
export function findPlaces(text: string): Found[] {
  const byId = BY_PREFIX.get(/^([a-z]+)_[\w-]+$/.exec(text)?.[1] ?? '')
  const named = placesOf(session.value ?? {}).filter(({ label }) => holds(label, text))
  if (byId === undefined) return named
  const { page, ...kind } = byId
  return [{ ...kind, label: text, address: href(page, { id: text }) }, ...named]
}

/**
 * Finds settings, keys, groups, upstreams, tasks, escrows, receipts, sessions and memories. Kinds that this key may not read are
 * omitted. A secret is not asked for: proxies log addresses, and a search of memories may send it to a provider.
 */
export async function findRecords(text: string, signal: AbortSignal): Promise<{ found: Found[]; error: unknown }> {
  if (text.length < SHORTEST || secretIn(text) !== null) return { found: [], error: null }
  const kinds = await Promise.allSettled(SEARCHES.map((search) => readable(search(text, signal))))
  const found = kinds.flatMap((kind) => (kind.status === 'fulfilled' ? kind.value.slice(0, MAX_SHOWN) : []))
  const [error = null] = kinds.flatMap((kind) => (kind.status === 'rejected' ? [kind.reason as unknown] : []))
  return { found, error }
}

type Search = (text: string, signal: AbortSignal) => Promise<Found[]>

/**
 * Search of a list of the API, whose items are compared here.
 *
 * @param namesOf texts of an item, one of which holds what is searched for
 */
const listed =
  <Item>(path: string, namesOf: (item: Item) => (string | null)[], foundOf: (item: Item) => Found): Search =>
  async (text, signal) => {
    const { items } = await api.get<{ items: Item[] }>(path, { signal })
    return items.filter((item) => namesOf(item).some((name) => name !== null && holds(name, text))).map(foundOf)
  }

const place = (group: string, label: string, note: string, ...to: Parameters<typeof href>): Found => ({
  group,
  label,
  note,
  address: href(...to),
})

const SEARCHES: readonly Search[] = [
  listed<KeyRecord>(
    '/api/keys?limit=1000',
    ({ id, name }) => [name, id],
    ({ id, name }) => place('Keys', name, shortId(id), 'keys', { id }),
  ),
  listed<GroupRecord>(
    '/api/groups?limit=1000',
    ({ name }) => [name],
    ({ id, name }) => place('Keys', name, 'group', 'keys', { id }),
  ),
  listed<ShownUpstream>(
    '/api/upstreams',
    ({ name }) => [name],
    ({ name }) =>
      name === 'default'
        ? place('Upstreams', name, 'upstream', 'settings', { id: 'providers' })
        : place('Upstreams', name, 'upstream', 'upstreams', { id: name }),
  ),
  async (text, signal) => (await Promise.all(['branch', 'repository'].map((what) => named(what, text, signal)))).flat(),
  async (text, signal) => {
    if (text.length > LONGEST_SESSION) return []
    const { items } = await api.get<List<CallRecord>>(`/api/calls${queryOf({ session: text, limit: '1' })}`, { signal })
    return items.map(({ caller_id: key }) =>
      place('Sessions', text, 'coding session', 'sessions', { id: text, query: { key } }),
    )
  },
  async (text, signal) => {
    const path = `/api/sessions/search?q=${encodeURIComponent(text)}`
    const { items } = await api.get<{ items: { id: string; title: string | null; source: string }[] }>(path, { signal })
    return items.map(({ id, title, source }) =>
      place('Sessions', title ?? shortId(id), source, 'calls', { query: { session: id } }),
    )
  },
  listed<Task>(
    `/api/tasks?limit=${SEARCHED}`,
    ({ id, title }) => [title, id],
    ({ id, title, status }) => place('Tasks', title, status, 'tasks', { id }),
  ),
  listed<Escrow>(
    `/api/wallet/escrow?limit=${SEARCHED}`,
    ({ id, task_id }) => [id, task_id],
    ({ id, status }) => place('Escrows', shortId(id), status, 'escrow', { id }),
  ),
  // Receipts have no names.
  async (text, signal) => (/[0-9a-f]{6}/.test(text) ? findReceipts(text, signal) : []),
  async (text, signal) => {
    const body = { query: text, filters: { projects: 'all' }, limit: MAX_SHOWN }
    const { results } = await api.post<FoundMemories>('/api/memory/search', body, { signal })
    return results.map(({ memory: { key, namespace, project } }) =>
      place('Memories', key, namespace, 'memory', { id: key, query: { in: namespace, project } }),
    )
  },
  listed<{ key: string; description: string }>(
    '/api/config/keys',
    ({ key }) => [key],
    ({ key, description }) => place('Settings', key, description, 'settings', { id: 'all', query: { words: key } }),
  ),
]

const findReceipts = listed<ReceiptRecord>(
  `/api/wallet/metered/usage?limit=${SEARCHED}`,
  ({ call_id, upstream_call_id }) => [call_id, upstream_call_id],
  ({ call_id, upstream_call_id, model }) =>
    place('Receipts', shortId(call_id), model, 'calls', { id: upstream_call_id ?? call_id }),
)

/** Sessions of a branch or a repository of this name, if there are some. */
async function named(what: string, text: string, signal: AbortSignal): Promise<Found[]> {
  if (text.length > LONGEST_BRANCH) return []
  const path = `/api/coding-sessions${queryOf({ [what]: text, limit: '1' })}`
  const { total } = await api.get<List<CodingSession>>(path, { signal })
  return total > 0 ? [place('Sessions', text, what, 'sessions', { query: { [what]: text } })] : []
}

/** Result of a search; nothing where the key may not read those records. */
async function readable(search: Promise<Found[]>): Promise<Found[]> {
  try {
    return await search
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return []
    throw error
  }
}

const holds = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase())
