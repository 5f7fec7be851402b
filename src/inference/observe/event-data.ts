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
  content_block?: unknown
  sequence_number?: number
}

/** Addition of one chunk of a chat completion. Mostly text, but providers differ. */
export type Delta = Readonly<Record<string, unknown>>

/** Parses the `data` lines of an event. Null for `[DONE]`, comments and anything but JSON. */
export function eventData(event: Buffer): EventData | null {
  const data = event
    .toString('utf8')
    .split(/\r\n?|\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trimStart())
    .join('\n')
  if (!data.startsWith('{')) return null
  try {
    return JSON.parse(data)
  } catch {
    return null
  }
}
