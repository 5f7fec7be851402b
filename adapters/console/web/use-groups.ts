import type { GroupRecord } from '../../../src/identity/group.ts'
import { shortId } from './format.ts'
import type { List } from './paging.ts'
import { useLive } from './use-live.ts'

/** Groups of keys: the newest, up to a page of the API. */
export type Groups = ReturnType<typeof useGroups>

/** All groups, for admins. @param isNeeded false loads none */
export function useGroups(isNeeded = true) {
  const { data } = useLive<List<GroupRecord>>(isNeeded ? '/api/groups?limit=1000' : null, { everyMs: 10_000 })
  const known = data?.items ?? []
  /** Name of a group if it is known, else a short form of its id. */
  const nameOf = (id: string): string => known.find((group) => group.id === id)?.name ?? shortId(id)
  return { known, nameOf }
}

/** Options of a group selection: all groups, and always the chosen one. */
export function groupOptions({ known, nameOf }: Groups, chosen: string): { value: string; label: string }[] {
  const listed = known.map(({ id, name }) => ({ value: id, label: name }))
  const isListed = chosen === '' || known.some(({ id }) => id === chosen)
  return isListed ? listed : [...listed, { value: chosen, label: nameOf(chosen) }]
}
