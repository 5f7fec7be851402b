import { useState } from 'preact/hooks'
import type { Page } from '../../../src/store/page.ts'
import { type Live, useLive } from './use-live.ts'

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

/**
 * Loads a list of the API page by page, newest first.
 *
 * @param path may have a query; another path starts at the first page. Null sends no request.
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
