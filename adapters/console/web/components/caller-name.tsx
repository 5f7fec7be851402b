import { useEffect, useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../src/identity/key.ts'
import { ApiError, api } from '../api.ts'
import { shortId } from '../format.ts'
import type { List } from '../paging.ts'
import { href } from '../router.ts'
import { session } from '../signed-in.ts'
import { useLive } from '../use-live.ts'

type Key = Pick<KeyRecord, 'id' | 'name'>

/** Display names of callers. */
export interface Names {
  /** Returns the name of a key if it is known, else a short form of the id. */
  of(id: string): string
  /** Known keys, newest first. */
  known: readonly Key[]
}

/** Largest page of the API. */
const KEYS = '/api/keys?limit=1000'
/** Maximum number of pages of older keys to read. */
const MAX_OLDER_PAGES = 20

/** Names of keys: all keys for an admin, the own key for anyone else. */
export function useNames(): Names {
  const { id: own = '', isAdmin = false } = session.value ?? {}
  const { data } = useLive<List<Key>>(isAdmin ? KEYS : null, { everyMs: 30_000 })
  const older = useOlder(data?.next_cursor ?? null)
  const known = [...(data?.items ?? []), ...older]
  return {
    known,
    of(id) {
      const name = known.find((key) => key.id === id)?.name
      if (id === own) return 'You'
      return name ?? (id === 'key_environment' ? 'GAZEWAY_API_KEY' : shortId(id))
    },
  }
}

/**
 * Loads the keys after the newest page. Loads them again only when that page ends with another key, because a key was
 * created.
 */
function useOlder(first: string | null): readonly Key[] {
  const [older, setOlder] = useState<readonly Key[]>([])

  useEffect(() => {
    const ending = new AbortController()
    const load = async () => {
      const found: Key[] = []
      let cursor = first
      for (let page = 0; cursor !== null && page < MAX_OLDER_PAGES; page++) {
        const next: List<Key> = await api.get(`${KEYS}&cursor=${encodeURIComponent(cursor)}`, { signal: ending.signal })
        found.push(...next.items)
        cursor = next.next_cursor
      }
      setOlder(found)
    }
    load().catch((error) => {
      // Ids are shown instead of names. Other requests of the page report the error.
      if (!ending.signal.aborted && !(error instanceof ApiError)) throw error
    })
    return () => ending.abort()
  }, [first])

  return older
}

/**
 * Options of a caller selection. Always includes `chosen`: the address may contain a wallet or a key that is not
 * listed.
 */
export function callerOptions(names: Names, chosen: string): { value: string; label: string }[] {
  const listed = names.known.map(({ id, name }) => ({ value: id, label: `${name} · ${shortId(id)}` }))
  if (chosen === '' || names.known.some(({ id }) => id === chosen)) return listed
  return [...listed, { value: chosen, label: names.of(chosen) }]
}

/** Name of a key or wallet, with the id as its title. The name of a key that may be seen leads to its page. */
export function Caller({ id, names }: { id: string; names: Names }) {
  const { id: own, isAdmin } = session.value ?? {}
  const isShown = id.startsWith('key_') && (isAdmin || id === own)
  const name = isShown ? <a href={href('keys', { id })}>{names.of(id)}</a> : names.of(id)
  return (
    <span class="caller" title={id}>
      {name}
    </span>
  )
}

/** Name of the key of a record that may have none. */
export function KeyLink({ id, names }: { id: string | null; names: Names }) {
  return id === null || id === '' ? <span class="muted">no key</span> : <Caller id={id} names={names} />
}
