import { signal } from '@preact/signals'
import { href, place } from './router.ts'

/** Pages that show one of their records beside the list of all where there is room. */
const PAGES = ['sessions', 'calls', 'tasks', 'reviews']
/** Width from which a record is shown beside its list. */
const wide = matchMedia('(min-width: 2000px)')
const isWide = signal(wide.matches)
wide.addEventListener('change', () => {
  isWide.value = wide.matches
})

/** Tells whether the page of the address shows a record beside the list that it is from. */
export const isBeside = (): boolean => mayBeBeside(place.value.page) && place.value.id !== null

/** Tells whether a page shows its records beside their list at the present width. */
export const mayBeBeside = (page: string): boolean => isWide.value && PAGES.includes(page)

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

/** Address of a row, which keeps the list as it is where the row is shown beside it. */
export function besideList(address: string): string {
  const list = String(listQuery())
  if (list === '' || !mayBeBeside(place.value.page) || !address.startsWith(`#/${place.value.page}/`)) return address
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams({ list })}`
}

function changed(query: URLSearchParams, change: Readonly<Record<string, string | null>>): URLSearchParams {
  const values = { ...Object.fromEntries(query), ...change }
  return new URLSearchParams(Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1])))
}
