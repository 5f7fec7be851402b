import { parseAccept } from 'hono/utils/accept'

/** Formats of text that programs and agents ask for. */
const FOR_PROGRAMS = ['application/json', 'text/markdown']

/** Tells whether a client, such as a browser's address bar, prefers HTML: it names HTML, and nothing for programs before it. */
export function wantsHtml(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes('text/html')) return false
  const named = parseAccept(accept).filter(({ q }) => q > 0)
  const first = named.find(({ type }) => type === 'text/html' || FOR_PROGRAMS.includes(type))
  return first?.type === 'text/html'
}
