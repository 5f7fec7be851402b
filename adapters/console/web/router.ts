import { signal } from '@preact/signals'

/** Place in the console, from the address's fragment: `#/tasks/task_1?status=open`. */
export interface Place {
  page: string
  /** Part after the page's name; null without one. */
  id: string | null
  query: URLSearchParams
}

/** Props of every page. */
export type PageProps = Omit<Place, 'page'>

const HOME = 'overview'

/** The place that is shown; changes with the browser's back and forward buttons, too. */
export const place = signal(read())

addEventListener('hashchange', () => {
  place.value = read()
})

/** The address of a place, for links: `href('tasks', { id, query: { status: 'open' } })`. */
export function href(page: string, to: { id?: string | null; query?: Record<string, string | null | undefined> } = {}) {
  const given = Object.entries(to.query ?? {}).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const query = new URLSearchParams(given).toString()
  return `#/${page}${to.id ? `/${encodeURIComponent(to.id)}` : ''}${query && `?${query}`}`
}

/** Goes to a place. @param replace keeps the step out of the browser's history, as for a filter */
export function go(address: string, replace = false): void {
  if (replace) location.replace(address)
  else location.hash = address
  // The event comes later: a field that shows what the address says must not be drawn with the old words until then.
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
