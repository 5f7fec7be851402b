import { useState } from 'preact/hooks'
import type { Page } from '../../../src/store/page.ts'
import { type Live, useLive } from './use-live.ts'

/** A list as the API gives it. */
export type List<T> = Page<T>

/** One page of a list, and the way to the others. */
export interface Paged<T, L extends List<T> = List<T>> extends Live<L> {
  items: T[]
  total: number
  /** Number of the first item shown, from 1; 0 where there is none. */
  first: number
  next: (() => void) | null
  previous: (() => void) | null
}

/**
 * A list of the API, a page at a time, newest first.
 *
 * @param path may have a query; another path starts at the first page. Null asks nothing.
 */
export function usePage<T, L extends List<T> = List<T>>(
  path: string | null,
  { limit = 25, everyMs = 3000 }: { limit?: number; everyMs?: number } = {},
): Paged<T, L> {
  const [way, setWay] = useState<{ path: string | null; cursors: string[] }>({ path, cursors: [] })
  const cursors = way.path === path ? way.cursors : []
  const cursor = cursors.at(-1)
  const query = `limit=${limit}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
  const live = useLive<L>(path === null ? null : `${path}${path.includes('?') ? '&' : '?'}${query}`, { everyMs })
  const items = live.data?.items ?? []
  const following = live.data?.next_cursor ?? null
  return {
    ...live,
    items,
    total: live.data?.total ?? 0,
    first: items.length === 0 ? 0 : cursors.length * limit + 1,
    next: following === null ? null : () => setWay({ path, cursors: [...cursors, following] }),
    previous: cursors.length === 0 ? null : () => setWay({ path, cursors: cursors.slice(0, -1) }),
  }
}
