import { isTrace, LONGEST_SESSION_ID, TRACE } from '../../calls/call-session.ts'
import { isObject, parseJson } from '../../text/json.ts'

/** A request, as far as it may say which session it belongs to. */
export interface SessionRequest {
  /** By lower-case name. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Readonly<Record<string, unknown>>
}

/** Reads a word of the client. Null when the request does not have it. */
export type Word = (request: SessionRequest) => string | null

/** Largest JSON in a header or field that is parsed, in characters. */
const LARGEST_JSON = 16_384
/** Printable characters, none of them outer spaces. Neither `.` nor `..`: an address drops them, so they have no page. */
const PRINTABLE = /^(?!\.\.?$)[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
/** Session in `metadata.user_id` of Claude Code before version 2.1. */
const SESSION_OF_USER = /^user_\w+_account_[\w-]*_session_([\w-]+)$/
/** Trace id of https://www.w3.org/TR/trace-context/, other than that of no trace. */
const TRACE_ID = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-/
/** Beginning of sessions that stand for an end user. */
const USER = 'user:'

/** Reads a header. */
export const header =
  (name: string): Word =>
  ({ headers }) =>
    bounded(headers[name])

/** Reads a field of the body, or of an object in it. */
export const field =
  (name: string, inner?: string): Word =>
  ({ body }) => {
    const value = body[name]
    if (inner === undefined) return bounded(value)
    return isObject(value) ? bounded(value[inner]) : null
  }

/** Says `word` where another word is said. */
export const saidBy =
  (other: Word, word: string): Word =>
  (request) =>
    other(request) === null ? null : word

/** Reads the session in Anthropic's `metadata.user_id`: JSON, or the text of older clients. */
export const sessionOfUser: Word = ({ body }) => {
  const { metadata } = body
  const user = isObject(metadata) ? metadata.user_id : undefined
  if (typeof user !== 'string' || user.length > LARGEST_JSON) return null
  return memberOf(user, 'session_id') ?? bounded(SESSION_OF_USER.exec(user)?.[1])
}

/** Reads the end user's name as a session: all of a user's calls, where nothing finer is said. */
export const endUser: Word = (request) => {
  const user = field('user')(request) ?? field('metadata', 'user_id')(request)
  return user === null ? null : bounded(USER + user)
}

/** Reads the trace as a session. */
export const trace: Word = ({ headers: { traceparent } }) => {
  const id = typeof traceparent === 'string' ? TRACE_ID.exec(traceparent)?.[1] : undefined
  return id === undefined ? null : TRACE + id
}

/** Tells whether a session is one conversation, as far as known. */
export const isConversation = (sessionId: string | null): boolean =>
  sessionId !== null && !isTrace(sessionId) && !sessionId.startsWith(USER)

/** Reads the first word that a request has. */
export function firstWord(words: readonly Word[], request: SessionRequest): string | null {
  for (const word of words) {
    const said = word(request)
    if (said !== null) return said
  }
  return null
}

/** Reads a member of a JSON object, if it is text that fits a record. */
export function memberOf(json: unknown, member: string): string | null {
  if (typeof json !== 'string' || !json.startsWith('{') || json.length > LARGEST_JSON) return null
  const value = parseJson(json)
  return isObject(value) ? bounded(value[member]) : null
}

/** The word, if it is text that fits a record. */
function bounded(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > LONGEST_SESSION_ID) return null
  return PRINTABLE.test(value) ? value : null
}
