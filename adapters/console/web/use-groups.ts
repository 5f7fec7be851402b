import type { GroupRecord } from '../../../src/identity/group.ts'
import { shortId } from './format.ts'
import type { List } from './paging.ts'
import { useLive } from './use-live.ts'

/** Groups of keys. */
export interface Groups {
  /** Newest groups, up to a page of the API. */
  known: readonly GroupRecord[]
  /** Returns the name of a group if it is known, else a short form of the id. */
  nameOf(id: string): string
}

/** All groups, for admins. @param isNeeded false loads none */
export function useGroups(isNeeded = true): Groups {
  const { data } = useLive<List<GroupRecord>>(isNeeded ? '/api/groups?limit=1000' : null, { everyMs: 10_000 })
  const known = data?.items ?? []
  return { known, nameOf: (id) => known.find((group) => group.id === id)?.name ?? shortId(id) }
}

/** Options of a group selection: all groups, and always the chosen one. */
export function groupOptions({ known, nameOf }: Groups, chosen: string): { value: string; label: string }[] {
  const listed = known.map(({ id, name }) => ({ value: id, label: name }))
  const isListed = chosen === '' || known.some(({ id }) => id === chosen)
  return isListed ? listed : [...listed, { value: chosen, label: nameOf(chosen) }]
}
