import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../src/identity/key.ts'
import { ApiError, api } from '../api.ts'
import { shortId } from '../format.ts'
import type { List } from '../paging.ts'
import { href } from '../router.ts'
import { session } from '../signed-in.ts'
import { useLive } from '../use-live.ts'

type Key = Pick<KeyRecord, 'id' | 'name'>

/** Largest page of the API. */
const KEYS = '/api/keys?limit=1000'
/** Maximum number of pages of older keys to read. */
const MAX_OLDER_PAGES = 20

/** True while a component shows names of keys. */
const isShown = signal(false)
/** Known keys, newest first. */
const known = signal<readonly Key[]>([], {
  watched: () => queueMicrotask(() => show(true)),
  unwatched: () => queueMicrotask(() => show(false)),
})

function show(is: boolean): void {
  isShown.value = is
}

/** Loads the names of keys while some are shown, for an admin. Stands once in the frame of all pages. */
export function KeyNames() {
  const path = isShown.value && session.value?.isAdmin ? KEYS : null
  const { data } = useLive<List<Key>>(path, { everyMs: 30_000 })
  const older = useOlder(data?.next_cursor ?? null)
  useEffect(() => {
    if (data) known.value = [...data.items, ...older]
  }, [data, older])
  // The next key that signs in may not see them.
  useEffect(
    () => () => {
      known.value = []
    },
    [],
  )
  return null
}

/** Name of a key if it is known, else a short form of its id. */
export function nameOf(id: string): string {
  const name = known.value.find((key) => key.id === id)?.name
  if (id === session.value?.id) return 'You'
  return name ?? (id === 'key_environment' ? 'GAZEWAY_API_KEY' : shortId(id))
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
export function callerOptions(chosen: string): { value: string; label: string }[] {
  const listed = known.value.map(({ id, name }) => ({ value: id, label: `${name} · ${shortId(id)}` }))
  if (chosen === '' || listed.some(({ value }) => value === chosen)) return listed
  return [...listed, { value: chosen, label: nameOf(chosen) }]
}

/** Name of a key or wallet, with the id as its title. The name of a key that may be seen leads to its page. */
export function Caller({ id }: { id: string }) {
  const { id: own, isAdmin } = session.value ?? {}
  const isShownTo = id.startsWith('key_') && (isAdmin || id === own)
  return (
    <span class="caller" title={id}>
      {isShownTo ? <a href={href('keys', { id })}>{nameOf(id)}</a> : nameOf(id)}
    </span>
  )
}

/** Name of the key of a record that may have none. */
export const KeyLink = ({ id }: { id: string | null }) =>
  id === null || id === '' ? <span class="muted">no key</span> : <Caller id={id} />
