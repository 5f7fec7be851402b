import { FRAMING_TAGS } from '../../text/client-tags.ts'

/** An opening or closing tag of a client. The context that a question takes along is the user's text. */
const TAG = new RegExp(`<(/?)((?!work_context)(?:${FRAMING_TAGS}))(?:\\s[^<>]{0,200})?>`, 'giu')
/** Line above the instructions of a project, as Codex sends them. */
const HEADING = /^# AGENTS\.md instructions.*$/gm

/**
 * Removes what clients add to a person's text: blocks such as `<system-reminder>…</system-reminder>`. A tag that is never
 * closed stays.
 */
export function withoutFraming(text: string): string {
  const tags = [...text.matchAll(TAG)].map((match) => {
    const [whole, slash, name = ''] = match
    return { isEnd: slash === '/', name: name.toLowerCase(), from: match.index, to: match.index + whole.length }
  })
  if (tags.length === 0) return text
  const lastEnd = new Map(tags.filter(({ isEnd }) => isEnd).map(({ name, from }) => [name, from]))
  let own = ''
  let kept = 0
  let open: string | null = null
  for (const { isEnd, name, from, to } of tags) {
    if (open === null && !isEnd && (lastEnd.get(name) ?? -1) > from) {
      own += text.slice(kept, from)
      open = name
    }
    if (open !== name || !isEnd) continue
    open = null
    kept = to
  }
  return (own + text.slice(kept)).replace(HEADING, '').trim()
}
