import type { CallSession } from '../../calls/call-session.ts'
import { isTrace } from '../../calls/call-session.ts'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { MessagesRequest } from '../api/requests.ts'

/** Mark at which Anthropic's prompt cache keeps what is before it, for five minutes. */
const MARK = { cache_control: { type: 'ephemeral' } } as const
/** Turns of the user at whose ends Gazeway marks: the newest, and the one that the request before ended with. */
const MARKED_TURNS = 2

/** Blocks that take no mark, besides blank texts. */
const UNMARKED: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking'])

const isMarked = ({ cache_control }: Fields): boolean => (cache_control ?? null) !== null

/** Tells whether a request of any API marks anything for the provider's cache. */
export function hasMarks({ cache_control, system, tools, messages, input }: Fields): boolean {
  if (isMarked({ cache_control }) || hasMarked(system) || hasMarked(tools)) return true
  return hasMarkedTurn(messages) || hasMarkedTurn(input)
}

const hasMarked = (list: unknown): boolean => objectsOrNone(list).some(isMarked)

const hasMarkedTurn = (turns: unknown): boolean =>
  objectsOrNone(turns).some((turn) => isMarked(turn) || hasMarked(turn.content) || hasMarked(turn.output))

/** The last mark among blocks or parts, as a field. Empty when there is none. */
export const markIn = (content: unknown): Fields =>
  present({ cache_control: objectsOrNone(content).findLast(isMarked)?.cache_control })

/**
 * Content with a mark at its end.
 *
 * @param mark as {@link markIn} gives it; content stays as it is without one, and where its end takes none
 */
export function withMark(content: unknown, mark: Fields): unknown {
  if (!isMarked(mark)) return content
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOrNone(content)
  const last = blocks.at(-1)
  if (last === undefined || UNMARKED.has(last.type) || (last.type === 'text' && !/\S/.test(String(last.text))))
    return content
  return [...blocks.slice(0, -1), { ...last, ...mark }]
}

/**
 * Marks a converted request for Anthropic's prompt cache, where its client cannot: the end of the instructions, or of the
 * tools, and the last turns of the user, so that the next request reads what this one wrote. At most three of the four
 * marks that Anthropic allows.
 *
 * Writing costs a quarter more than reading again, so only conversations that go on are marked: sessions from their second
 * turn, and those of known agents at once.
 */
export function withCacheMarks(request: MessagesRequest, session: CallSession): MessagesRequest {
  const given = request as unknown as Fields
  const messages = objectsOrNone(given.messages)
  if (!goesOn(messages, session) || hasMarks(given)) return request
  const users = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : [])).slice(-MARKED_TURNS)
  const tools = objectsOrNone(given.tools)
  const hasSystem = (given.system ?? null) !== null
  return {
    ...given,
    ...(hasSystem && { system: withMark(given.system, MARK) }),
    ...(!hasSystem && tools.length > 0 && { tools: [...tools.slice(0, -1), { ...tools.at(-1), ...MARK }] }),
    messages: messages.map((message, index) =>
      users.includes(index) ? { ...message, content: withMark(message.content, MARK) } : message,
    ),
  } as unknown as MessagesRequest
}

/** Models whose prompts are cached where a mark says so. */
const CACHED_BY_MARK = /claude/
/** Items of a Responses request, besides messages, that a model made. */
const MADE: ReadonlySet<unknown> = new Set(['reasoning', 'function_call', 'custom_tool_call'])

/**
 * Mark of a whole request, by which OpenRouter marks the end of each prompt for a Claude model itself: for the sessions that
 * {@link withCacheMarks} marks, in chat completions and responses (`cache_control` of `ChatRequest` and `ResponsesRequest` in
 * `@openrouter/sdk` 1.3.19).
 *
 * @param accepts forms that the provider takes, as in its preset
 * @param sent request as the provider gets it
 * @returns its field; none where the client marks the request itself
 */
export function wholeMark(accepts: readonly string[], model: string, sent: object, session: CallSession): Fields {
  if (!accepts.includes('cache_marks') || !CACHED_BY_MARK.test(model)) return {}
  const given = sent as Fields
  const turns = [...objectsOrNone(given.messages), ...objectsOrNone(given.input)]
  return goesOn(turns, session) && !hasMarks(given) ? MARK : {}
}

function goesOn(turns: readonly Fields[], { session_id, client }: CallSession): boolean {
  if (session_id === null || isTrace(session_id)) return false
  return client !== null || turns.some(({ role, type }) => role === 'assistant' || MADE.has(type))
}
