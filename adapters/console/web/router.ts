import { signal } from '@preact/signals'

/** Place in the console, from the fragment of the address: `#/tasks/task_1?status=open`. */
export interface Place {
  page: string
  /** Part after the page's name; null without one. */
  id: string | null
  query: URLSearchParams
}

/** Props of every page. */
export type PageProps = Omit<Place, 'page'>

const HOME = 'overview'

/** Current place. Also changes with the browser's back and forward buttons. */
export const place = signal(read())

addEventListener('hashchange', () => {
  place.value = read()
})

/** Builds the address of a place, for links: `href('tasks', { id, query: { status: 'open' } })`. */
export function href(page: string, to: { id?: string | null; query?: Record<string, string | null | undefined> } = {}) {
  return `#/${page}${to.id ? `/${encodeURIComponent(to.id)}` : ''}${queryOf(to.query ?? {})}`
}

/** Builds the address of the present place with other values in its query; null removes one. */
export function addressWith(change: Readonly<Record<string, string | null>>): string {
  const { page, id, query } = place.value
  return href(page, { id, query: { ...Object.fromEntries(query), ...change } })
}

/** Builds a query with its question mark from the values that are given; empty without any. */
export function queryOf(values: Readonly<Record<string, string | null | undefined>>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

/** Goes to a place. @param replace leaves no step in the browser's history, for example for a filter */
export function go(address: string, replace = false): void {
  if (replace) location.replace(address)
  else location.hash = address
  // The event comes later. Until then, a field that shows the address would be rendered with the old text.
  place.value = read()
}

function read(): Place {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [page, ...rest] = path.split('/')
  return { page: page || HOME, id: rest.length > 0 ? decoded(rest.join('/')) : null, query: new URLSearchParams(query) }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
