import { isObject } from '../../text/json.ts'
import { errorInBody } from '../api/reported-error.ts'

/** The fields of an event that a relay reads. */
export interface EventData {
  type?: string
  usage?: unknown
  response?: { id?: unknown; usage?: unknown; status?: string; error?: unknown }
  error?: unknown
  message?: unknown
  code?: unknown
  choices?: Array<{ delta?: Delta | null; text?: unknown } | null>
  delta?: unknown
  candidates?: unknown
  content_block?: unknown
  sequence_number?: number
}

/** Addition of one chunk of a chat completion. Mostly text, but providers differ. */
export type Delta = Readonly<Record<string, unknown>>

/**
 * Parses the `data` lines of an event. Null for `[DONE]`, comments and anything but JSON. An error body that stands in a
 * list, or in the stream without `data:`, counts as an event.
 */
export function eventData(event: Buffer): EventData | null {
  const text = event.toString('utf8')
  const data = isOneLine(text) ? text.slice(FIELD.length, -2).trimStart() : dataLines(text)
  if (data.startsWith('{')) return parsed(data)
  return data === '[DONE]' || !BODY.test(data || text) ? null : errorBodyIn(data || text)
}

const FIELD = 'data:'

/** Tells whether an event is one line of data, as most are. */
const isOneLine = (text: string): boolean =>
  text.startsWith(FIELD) && text.endsWith('\n\n') && text.indexOf('\n') === text.length - 2 && !text.includes('\r')

const dataLines = (text: string): string =>
  text
    .split(/\r\n?|\n/)
    .filter((line) => line.startsWith(FIELD))
    .map((line) => line.slice(FIELD.length).trimStart())
    .join('\n')

/** Beginning of a body that may be an error. */
const BODY = /^\s*[[{]/

function errorBodyIn(text: string): EventData | null {
  const body: unknown = parsed(text)
  const whole = Array.isArray(body) ? body[0] : body
  return isObject(whole) && errorInBody(whole) !== undefined ? whole : null
}

function parsed(data: string): EventData | null {
  try {
    return JSON.parse(data)
  } catch {
    return null
  }
}
