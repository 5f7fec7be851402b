import { randomBytes } from 'node:crypto'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { incompleteReason } from '../api/finish-reason.ts'
import type { ResponseRequest } from '../api/requests.ts'
import type { CallReasoning } from '../reasoning/reasoning.ts'
import type { BegunResponse } from './begun-response.ts'
import type { ResponseObject } from './chat-to-response.ts'
import type { ResponseEvent, ResponseEvents } from './chat-to-response-events.ts'
import type { OutputItem } from './response-items.ts'

/** Last item of a request for the summary of its conversation, which answers with one item and no text. */
const TRIGGER = 'compaction_trigger'

/** Asks a model for the summary that it will go on from. */
const PROMPT = `Summarise this conversation, for a model that goes on with it and sees nothing else of it. Write down:
- what the user asked for, in the user's own words where they matter;
- what was done, found and decided, and why;
- files, commands, names, values and errors that are needed again;
- what is still to be done, in order.
Write only the summary. Call no tools.`

/** Tells whether a Responses request asks for the summary of its conversation. */
export const asksForSummary = ({ input }: { input?: unknown }): boolean =>
  Array.isArray(input) && isTrigger(fieldsOrNone(input.at(-1)))

const isTrigger = ({ type }: Fields): boolean => type === TRIGGER

/** Adds the item that asks for a summary. */
export const askingForSummary = (input: readonly unknown[]): unknown[] => [...input, { type: TRIGGER }]

/** Items that stay beside the summary of a conversation: the messages of the user. */
export const besideSummary = (input: readonly Fields[]): Fields[] =>
  input.filter(({ type, role }) => (type ?? 'message') === 'message' && role === 'user')

/**
 * Asks for a summary in words. The tools stay, since the cache of the provider holds them; none may be called.
 */
export function summaryRequest(request: ResponseRequest): ResponseRequest {
  const { text: _, ...rest } = request
  // An item of another type stays, so that it is refused by its place.
  const input = (request.input as unknown[]).filter((item) => !isTrigger(fieldsOrNone(item)))
  const prompt = { type: 'message', role: 'user', content: PROMPT }
  const hasTools = objectsOrNone(request.tools).length > 0
  return { ...rest, input: [...input, prompt], ...(hasTools && { tool_choice: 'none' }) } as ResponseRequest
}

/** Events of a Response that a client may get before the summary is whole. */
const EARLY: ReadonlySet<string> = new Set([
  'response.created',
  'response.in_progress',
  'error',
  'response.failed',
  'response.output_item.done',
])

/**
 * Converts the events of a Response whose text is a summary to those of one with a single compaction item, which holds the
 * summary sealed. The item comes once the summary is whole.
 *
 * @param options.begun the Response that its provider cut off, whose items come first
 */
export function summaryEvents(
  events: ResponseEvents,
  options: { seal: CallReasoning['sealSummary']; begun: BegunResponse | null },
): ResponseEvents {
  const { seal, begun } = options
  const earlier = begun?.items.length ?? 0
  let number = begun?.sequence ?? 0
  let summary = ''
  let isCut = false
  let sealed = ''

  const numbered = (all: readonly ResponseEvent[]) =>
    all.map((event) => ({ ...event, sequence_number: number++ }) as ResponseEvent)
  const early = (all: readonly ResponseEvent[]) =>
    numbered(
      all.filter((event) => EARLY.has(event.type) && !('output_index' in event && event.output_index >= earlier)),
    )

  return {
    start: () => early(events.start()),
    push(chunk) {
      const made = events.push(chunk)
      for (const event of made) if (event.type === 'response.output_text.delta') summary += event.delta
      isCut ||= incompleteReason(chunk.choices?.[0]?.finish_reason) !== null
      return early(made)
    },
    fault() {
      if (summary.trim() === '') return 'the summary of the conversation is empty'
      if (isCut) return 'the summary of the conversation was cut off'
      sealed = seal(summary)
      return sealed === '' ? 'the summary of the conversation cannot be sealed; the log says why' : null
    },
    finish() {
      const all = events.finish()
      const { response } = all.at(-1) as { response: ResponseObject }
      const item = compactionItem(sealed)
      const output = [...response.output.slice(0, earlier), item]
      return [
        ...early(all.slice(0, -1)),
        ...numbered([
          { type: 'response.output_item.added', output_index: earlier, item },
          { type: 'response.output_item.done', output_index: earlier, item },
          { type: 'response.completed', response: { ...response, output, output_text: '' } },
        ] as ResponseEvent[]),
      ]
    },
    fail: (error) => early(events.fail(error)),
  }
}

const compactionItem = (sealed: string): OutputItem =>
  ({ type: 'compaction', id: `cmp_${randomBytes(24).toString('hex')}`, encrypted_content: sealed }) as never
