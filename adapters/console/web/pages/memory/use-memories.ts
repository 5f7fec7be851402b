import type { Memory } from '../../../../../src/memory/records/memory-record.ts'
import { count } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { queryOf } from '../../router.ts'
import { useSearch } from './use-search.ts'

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
  const isFiltered = query !== '' || filter !== ''
  const page = usePage<Memory>(query === '' ? `/api/memory${filter}` : null)
  const { found, error, reload } = useSearch({ query, namespace, tag })
  if (query === '') return { list: page, isFiltered, summary: '', excerpts: null, reload: page.reload }

  const items = found?.results.map(({ memory }) => memory) ?? []
  const best = found && found.total > items.length ? `, showing the best ${items.length}` : ''
  return {
    list: { data: found && { items }, error, loading: found === null && error === null, reload },
    isFiltered,
    summary: found && `${count(found.total)} ${found.total === 1 ? 'match' : 'matches'}${best}`,
    excerpts: new Map(found?.results.map(({ memory, excerpt }) => [memory.id, excerpt])),
    reload,
  }
}
