import { useEffect, useRef } from 'preact/hooks'
import type { Page } from '../../../src/store/page.ts'
import { listAddress, listQuery } from './list-beside-record.ts'
import { addressWith, go, place } from './router.ts'
import { type Live, type Polling, useLive } from './use-live.ts'

/** List as the API returns it. */
export type List<T> = Page<T>

/** Page of a list, and functions to move to other pages. */
export interface Paged<T, L extends List<T> = List<T>> extends Live<L> {
  items: T[]
  total: number
  /** Number of the first item shown, from 1; 0 for an empty page. */
  first: number
  next: (() => void) | null
  previous: (() => void) | null
}

/** Pages before those that were reached in this tab, by the cursor of the later one; null is the first page. */
const earlier = new Map<string, { cursor: string | null; first: number }>()

/**
 * Loads a list of the API page by page, newest first. The address holds the page as `after` and `first`.
 *
 * @param path may have a query; another one starts at the first page. Null sends no request.
 * @param options.isPart true for a list within a record, whose page is not that of the list beside it
 */
export function usePage<T, L extends List<T> = List<T>>(
  path: string | null,
  { limit = 25, isPart = false, ...polling }: Polling & { limit?: number; isPart?: boolean } = {},
): Paged<T, L> {
  const given = isPart ? place.value.query : listQuery()
  const addressOf = isPart ? addressWith : listAddress
  const filtered = useRef(path)
  const isOther = filtered.current !== path
  useEffect(() => {
    filtered.current = path
    if (isOther && given.has('after')) go(addressOf({ after: null, first: null }), true)
  }, [path])
  const cursor = isOther ? null : given.get('after')
  const first = cursor === null ? 1 : Number(given.get('first')) || 1
  const query = `limit=${limit}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
  const live = useLive<L>(path === null ? null : `${path}${path.includes('?') ? '&' : '?'}${query}`, polling)
  const items = live.data?.items ?? []
  const following = live.data?.next_cursor ?? null
  const turnTo = (to: { cursor: string | null; first: number }) =>
    go(addressOf({ after: to.cursor, first: to.cursor && String(to.first) }), true)
  return {
    ...live,
    items,
    total: live.data?.total ?? 0,
    first: items.length === 0 ? 0 : first,
    next:
      following === null
        ? null
        : () => {
            earlier.set(following, { cursor, first })
            turnTo({ cursor: following, first: first + items.length })
          },
    // After a reload, the pages before are not known: the list begins at its first page.
    previous: cursor === null ? null : () => turnTo(earlier.get(cursor) ?? { cursor: null, first: 1 }),
  }
}
