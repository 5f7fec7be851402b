import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { FoundMemories } from '../../../../platform/routes/memory-routes.ts'
import { ApiError, api } from '../../api.ts'

/** Debounce of the search, in milliseconds. */
const PAUSE_MS = 250
const MOST = 50

/** Number of changes to memories in this tab, after each of which a search is repeated. */
export const changes = signal(0)

/** Parameters of a search. */
export interface SearchFor {
  query: string
  namespace: string
  tag: string
}

/** Finds the best matches. Null without a query, and before the first answer. */
export function useSearch({ query, namespace, tag }: SearchFor) {
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
