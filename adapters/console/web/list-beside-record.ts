import { signal } from '@preact/signals'
import { href, place } from './router.ts'
import { session } from './signed-in.ts'

/** Pages that show one of their records beside the list of all where there is room. */
const PAGES = ['sessions', 'calls', 'tasks', 'reviews', 'escrow', 'memory', 'keys']
/** Width from which a record is shown beside its list. */
const wide = matchMedia('(min-width: 2000px)')
const isWide = signal(wide.matches)
wide.addEventListener('change', () => {
  isWide.value = wide.matches
})

/** Id in the address of the list that a record is from. Groups have a list of their own among the keys. */
export const listIdOf = (page: string, id: string | null): string | null =>
  page === 'keys' && (id === 'groups' || id?.startsWith('grp_')) ? 'groups' : null

/** Tells whether the page of the address shows a record beside the list that it is from. */
export function isBeside({ page, id }: { page: string; id: string | null } = place.value): boolean {
  return mayBeBeside(page) && id !== listIdOf(page, id)
}

/** Tells whether a page shows its records beside their list at the present width. Only admins have a list of keys. */
export const mayBeBeside = (page: string): boolean =>
  isWide.value && PAGES.includes(page) && (page !== 'keys' || session.value?.isAdmin === true)

/** Query of the list in view. Beside a record, the address holds it as `list`. */
export const listQuery = (): URLSearchParams =>
  isBeside() ? new URLSearchParams(place.value.query.get('list') ?? '') : place.value.query

/** Builds the present address with other values in the query of the list in view; null removes one. */
export function listAddress(change: Readonly<Record<string, string | null>>): string {
  const { page, id, query } = place.value
  const list = changed(listQuery(), change)
  return href(page, {
    id,
    query: isBeside() ? { ...Object.fromEntries(query), list: `${list}` } : Object.fromEntries(list),
  })
}

/** Address of the list that the record of the address is from, as it is beside it. */
export function listAddressOfRecord(): string {
  const { page, id } = place.value
  return href(page, { id: listIdOf(page, id), query: isBeside() ? Object.fromEntries(listQuery()) : {} })
}

/** Address of a row, which keeps the list as it is where the row is shown beside it. */
export function besideList(address: string): string {
  const { page, id } = place.value
  const list = String(listQuery())
  const [, to = null] = address.split(/[?]/, 1)[0]?.split(`#/${page}/`) ?? []
  if (list === '' || !mayBeBeside(page) || to === null || listIdOf(page, to) !== listIdOf(page, id)) return address
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams({ list })}`
}

function changed(query: URLSearchParams, change: Readonly<Record<string, string | null>>): URLSearchParams {
  const values = { ...Object.fromEntries(query), ...change }
  return new URLSearchParams(Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1])))
}
