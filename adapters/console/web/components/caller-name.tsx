import { useEffect, useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../src/identity/key.ts'
import { ApiError, api } from '../api.ts'
import { shortId } from '../format.ts'
import type { List } from '../paging.ts'
import { session } from '../signed-in.ts'
import { useLive } from '../use-live.ts'

type Key = Pick<KeyRecord, 'id' | 'name'>

/** Display names of callers. */
export interface Names {
  /** The name of a key, where it is known; else a short form of the id. */
  of(id: string): string
  /** All keys that are known, the newest first. */
  known: readonly Key[]
}

/** Largest page of the API. */
const KEYS = '/api/keys?limit=1000'
/** Most pages of older keys to read. */
const MOST_OLDER_PAGES = 20

/** The names of keys: of all for an admin, of one's own for everyone else. */
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

/** The keys after those of the newest page: asked for again only once that ends elsewhere, as a key was made. */
function useOlder(first: string | null): readonly Key[] {
  const [older, setOlder] = useState<readonly Key[]>([])

  useEffect(() => {
    const ending = new AbortController()
    const ask = async () => {
      const found: Key[] = []
      let cursor = first
      for (let page = 0; cursor !== null && page < MOST_OLDER_PAGES; page++) {
        const next: List<Key> = await api.get(`${KEYS}&cursor=${encodeURIComponent(cursor)}`, { signal: ending.signal })
        found.push(...next.items)
        cursor = next.next_cursor
      }
      setOlder(found)
    }
    ask().catch((error) => {
      // Their ids stand for their names; whatever else the page asks for says what is wrong.
      if (!ending.signal.aborted && !(error instanceof ApiError)) throw error
    })
    return () => ending.abort()
  }, [first])

  return older
}

/** The keys to choose from, and `chosen` in any case: a wallet, or a key that is not listed, can be in the address. */
export function callersToChoose(names: Names, chosen: string): { value: string; label: string }[] {
  const listed = names.known.map(({ id, name }) => ({ value: id, label: `${name} · ${shortId(id)}` }))
  if (chosen === '' || names.known.some(({ id }) => id === chosen)) return listed
  return [...listed, { value: chosen, label: names.of(chosen) }]
}

/** A key or a wallet by its name; its title has the id. */
export function Caller({ id, names }: { id: string; names: Names }) {
  return (
    <span class="caller" title={id}>
      {names.of(id)}
    </span>
  )
}
