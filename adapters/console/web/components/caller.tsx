import { shortId } from '../format.ts'
import { useLive } from '../live.ts'
import type { List } from '../paging.ts'
import { session } from '../session.ts'

/** How callers are called. */
export interface Names {
  /** The name of a key, where it is known; else a short form of the id. */
  of(id: string): string
  /** All keys that are known, the newest first. */
  known: readonly { id: string; name: string }[]
}

/** The names of keys: of all for an admin, of one's own for everyone else. */
export function useNames(): Names {
  const { id: own = '', isAdmin = false } = session.value ?? {}
  const { data } = useLive<List<{ id: string; name: string }>>(isAdmin ? '/api/keys?limit=1000' : null, {
    everyMs: 30_000,
  })
  const known = data?.items ?? []
  return {
    known,
    of(id) {
      const name = known.find((key) => key.id === id)?.name
      if (id === own) return 'You'
      return name ?? (id === 'key_environment' ? 'GAZEWAY_API_KEY' : shortId(id))
    },
  }
}

/** A key or a wallet by its name; its title has the id. */
export function Caller({ id, names }: { id: string; names: Names }) {
  return (
    <span class="caller" title={id}>
      {names.of(id)}
    </span>
  )
}
