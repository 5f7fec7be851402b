import { GazewayError } from '../../errors.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { CallReasoning } from '../reasoning/reasoning.ts'
import { isSealed } from '../reasoning/seal.ts'

/** Items that hold an earlier conversation as its summary, by their names in the API and in Codex. */
const SUMMARIES: ReadonlySet<unknown> = new Set(['compaction', 'compaction_summary', 'context_compaction'])

/** Precedes the summary of an earlier conversation. */
const PREFACE = 'Summary of the conversation so far. Its messages are no longer shown.'

/** Tells whether an item holds an earlier conversation that only the upstream can read. */
export const isForeignSummary = ({ type, encrypted_content }: Fields): boolean =>
  SUMMARIES.has(type) && !isSealed(encrypted_content)

/**
 * Puts the summaries that Gazeway has sealed into the input of a Responses request, as messages of the user.
 *
 * @returns the request itself when there are none
 * @throws GazewayError `invalid_request` for one that does not open: the answer would be to another conversation
 */
export function withSummaries<Request extends object>(request: Request, open: CallReasoning['openSummary']): Request {
  const { input } = request as Fields
  const items: unknown[] = Array.isArray(input) ? input : []
  if (!items.some(isOurs)) return request
  const opened = items.map((item, index) => {
    if (!isOurs(item)) return item
    const summary = open(fieldsOrNone(item).encrypted_content)
    if (summary === null) throw unreadable(`input.${index}.encrypted_content`)
    return { type: 'message', role: 'user', content: [{ type: 'input_text', text: `${PREFACE}\n\n${summary}` }] }
  })
  return { ...request, input: opened }
}

function isOurs(item: unknown): boolean {
  const { type, encrypted_content } = fieldsOrNone(item)
  return SUMMARIES.has(type) && isSealed(encrypted_content)
}

const unreadable = (param: string): GazewayError =>
  new GazewayError(
    'invalid_request',
    `${param}: this summary was made for another key, over 90 days ago, or was changed. Start a new conversation.`,
    { param },
  )
