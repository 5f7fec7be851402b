import { signal } from '@preact/signals'
import type { Memory } from '../../../../../src/memory/records/memory-record.ts'
import type { FoundMemories } from '../../../../platform/routes/memory-routes.ts'
import { api } from '../../api.ts'
import { count } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { queryOf } from '../../router.ts'
import { useTyped } from '../../use-typed.ts'

/** Filter of memories as typed. Empty for all. */
export interface MemoryFilter {
  words: string
  namespace: string
  tag: string
}

/** Memories that match a filter: a page of all, or with words the best matches and their excerpts by id. */
export function useMemories({ words, namespace, tag: typed }: MemoryFilter) {
  const [query, tag] = [words.trim(), typed.trim()]
  const filter = queryOf({ namespace, tag })
  const page = usePage<Memory>(query === '' ? `/api/memory${filter}` : null)
  const { found, error, reload } = useSearch({ query, namespace, tag })
  if (query === '') return { list: page, summary: '', excerpts: null, reload: page.reload }

  const items = found?.results.map(({ memory }) => memory) ?? []
  const best = found && found.total > items.length ? `, showing the best ${items.length}` : ''
  return {
    list: { data: found && { items }, error, loading: found === null && error === null, reload },
    summary: found && `${count(found.total)} ${found.total === 1 ? 'match' : 'matches'}${best}`,
    excerpts: new Map(found?.results.map(({ memory, excerpt }) => [memory.id, excerpt])),
    reload,
  }
}

const MOST = 50

/** Number of changes to memories in this tab, after each of which a search is repeated. */
export const changes = signal(0)

/** Finds the best matches. Null without a query, and before the first answer. */
function useSearch({ query, namespace, tag }: { query: string; namespace: string; tag: string }) {
  const filters = { projects: 'all', ...(namespace && { namespace }), ...(tag && { tags: [tag] }) }
  const body = { query, filters, limit: MOST }
  const asked = query === '' ? null : JSON.stringify([body, changes.value])
  const search = (signal: AbortSignal) => api.post<FoundMemories>('/api/memory/search', body, { signal })
  return { ...useTyped(asked, search), reload: () => changes.value++ }
}

/** Converts a value to text for display and editing. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
