import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { Memory } from '../../../../../src/memory/records/memory-record.ts'
import type { FoundMemories } from '../../../../platform/routes/memory-routes.ts'
import { ApiError, api } from '../../api.ts'
import { count } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { queryOf } from '../../router.ts'

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

/** Debounce of the search, in milliseconds. */
const PAUSE_MS = 250
const MOST = 50

/** Number of changes to memories in this tab, after each of which a search is repeated. */
export const changes = signal(0)

interface SearchFor {
  query: string
  namespace: string
  tag: string
}

/** Finds the best matches. Null without a query, and before the first answer. */
function useSearch({ query, namespace, tag }: SearchFor) {
  const [found, setFound] = useState<FoundMemories | null>(null)
  const [error, setError] = useState<ApiError | null>(null)

  useEffect(() => {
    if (query === '') {
      setFound(null)
      setError(null)
      return
    }
    const ending = new AbortController()
    const search = async () => {
      const filters = { projects: 'all', ...(namespace && { namespace }), ...(tag && { tags: [tag] }) }
      try {
        setFound(await api.post('/api/memory/search', { query, filters, limit: MOST }, { signal: ending.signal }))
        setError(null)
      } catch (fault) {
        if (ending.signal.aborted) return
        if (!(fault instanceof ApiError)) throw fault
        setError(fault)
      }
    }
    const timer = setTimeout(search, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [query, namespace, tag, changes.value])

  return { found, error, reload: () => changes.value++ }
}

/** Converts a value to text for display and editing. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
