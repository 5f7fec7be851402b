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

const SEARCHES: readonly Search[] = [
  async (text, signal) => {
    const { items } = await api.get<List<KeyRecord>>('/api/keys?limit=1000', { signal })
    return items
      .filter(({ id, name }) => holds(name, text) || holds(id, text))
      .map(({ id, name }) => ({
        group: 'Keys',
        label: name,
        note: shortId(id),
        address: href('keys', { id }),
      }))
  },
  async (text, signal) => {
    const { items } = await api.get<List<GroupRecord>>('/api/groups?limit=1000', { signal })
    return items
      .filter(({ name }) => holds(name, text))
      .map(({ id, name }) => ({ group: 'Keys', label: name, note: 'group', address: href('keys', { id }) }))
  },
  async (text, signal) => {
    const { items } = await api.get<{ items: ShownUpstream[] }>('/api/upstreams', { signal })
    return items
      .filter(({ name }) => holds(name, text))
      .map(({ name }) => ({
        group: 'Upstreams',
        label: name,
        note: 'upstream',
        address: name === 'default' ? href('settings', { id: 'providers' }) : href('upstreams', { id: name }),
      }))
  },
  async (text, signal) => {
    if (text.length > LONGEST_BRANCH) return []
    const named = await Promise.all(
      (['branch', 'repository'] as const).map(async (what) => {
        const path = `/api/coding-sessions${queryOf({ [what]: text, limit: '1' })}`
        const { total } = await api.get<List<CodingSession>>(path, { signal })
        return { what, total }
      }),
    )
    return named
      .filter(({ total }) => total > 0)
      .map(({ what }) => ({
        group: 'Sessions',
        label: text,
        note: what,
        address: href('sessions', { query: { [what]: text } }),
      }))
  },
  async (text, signal) => {
    if (text.length > LONGEST_SESSION) return []
    const { items } = await api.get<List<CallRecord>>(`/api/calls${queryOf({ session: text, limit: '1' })}`, { signal })
    return items.map(({ caller_id: key }) => ({
      group: 'Sessions',
      label: text,
      note: 'coding session',
      address: href('sessions', { id: text, query: { key } }),
    }))
  },
  async (text, signal) => {
    const path = `/api/sessions/search?q=${encodeURIComponent(text)}`
    const { items } = await api.get<{ items: { id: string; title: string | null; source: string }[] }>(path, { signal })
    return items.map(({ id, title, source }) => ({
      group: 'Sessions',
      label: title ?? shortId(id),
      note: source,
      address: href('calls', { query: { session: id } }),
    }))
  },
  async (text, signal) => {
    const { items } = await api.get<List<Task>>(`/api/tasks?limit=${SEARCHED}`, { signal })
    return items
      .filter(({ id, title }) => holds(title, text) || holds(id, text))
      .map(({ id, title, status }) => ({ group: 'Tasks', label: title, note: status, address: href('tasks', { id }) }))
  },
  async (text, signal) => {
    const { items } = await api.get<List<Escrow>>(`/api/wallet/escrow?limit=${SEARCHED}`, { signal })
    return items
      .filter(({ id, task_id }) => holds(id, text) || holds(task_id, text))
      .map(({ id, status }) => ({
        group: 'Escrows',
        label: shortId(id),
        note: status,
        address: href('escrow', { id }),
      }))
  },
  async (text, signal) => {
    // Receipts have no names.
    if (!/[0-9a-f]{6}/.test(text)) return []
    const path = `/api/wallet/metered/usage?limit=${SEARCHED}`
    const { items } = await api.get<List<ReceiptRecord>>(path, { signal })
    return items
      .filter(({ call_id, upstream_call_id }) => holds(call_id, text) || holds(upstream_call_id ?? '', text))
      .map(({ call_id, upstream_call_id, model }) => ({
        group: 'Receipts',
        label: shortId(call_id),
        note: model,
        address: href('calls', { id: upstream_call_id ?? call_id }),
      }))
  },
  async (text, signal) => {
    const body = { query: text, filters: { projects: 'all' }, limit: MAX_SHOWN }
    const { results } = await api.post<FoundMemories>('/api/memory/search', body, { signal })
    return results.map(({ memory: { key, namespace, project } }) => ({
      group: 'Memories',
      label: key,
      note: namespace,
      address: href('memory', { id: key, query: { in: namespace, project } }),
    }))
  },
  async (text, signal) => {
    const { items } = await api.get<{ items: { key: string; description: string }[] }>('/api/config/keys', { signal })
    return items
      .filter(({ key }) => holds(key, text))
      .map(({ key, description }) => ({
        group: 'Settings',
        label: key,
        note: description,
        address: href('settings', { id: 'all', query: { words: key } }),
      }))
  },
]

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
