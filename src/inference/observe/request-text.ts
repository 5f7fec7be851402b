import { yieldToEventLoop } from '../../wire/yield-to-event-loop.ts'

/**
 * Fields that hold media in OpenAI's requests: `image_url`, its `url`, `input_audio.data`, `file_data`, the `result` of
 * image generation.
 */
const MEDIA_FIELDS = new Set(['image_url', 'url', 'data', 'file_data', 'result', 'b64_json'])
const DATA_URL = /^data:[^,\s]{0,200},/
/** Base64, with or without line breaks. */
const BASE64 = /^[\w+/\r\n-]+={0,2}$/
/** Shortest base64 that counts as media. Shorter values count as text. */
const SHORTEST_BASE64 = 256

/** Values serialized before the event loop is yielded. */
const VALUES_AT_ONCE = 500

/** An array or object being serialized: the names of an object, and its next value. */
interface Open {
  names: readonly string[] | null
  values: readonly unknown[]
  next: number
  /** True once a value was written. */
  begun: boolean
}

/**
 * Serializes a request without its media, and counts them. Base64 in other fields is text, as it is to the model.
 * Yields the event loop between parts, however the values nest.
 */
export async function requestText(request: unknown): Promise<{ text: string; media: number }> {
  const pieces: string[] = []
  let parts: string[] = []
  const open: Open[] = []
  let media = 0

  function write(name: string, value: unknown): void {
    if (typeof value === 'object' && value !== null) {
      const names = Array.isArray(value) ? null : Object.keys(value)
      open.push({ names, values: names === null ? (value as unknown[]) : Object.values(value), next: 0, begun: false })
      parts.push(names === null ? '[' : '{')
      return
    }
    const isLeftOut = typeof value === 'string' && MEDIA_FIELDS.has(name) && isMedium(value)
    if (isLeftOut) media++
    parts.push(isLeftOut ? '""' : (JSON.stringify(value) ?? 'null'))
  }

  write('', request)
  for (let written = 1; open.length > 0; written++) {
    if (written % VALUES_AT_ONCE === 0) {
      pieces.push(parts.join(''))
      parts = []
      await yieldToEventLoop()
    }
    const container = open.at(-1) as Open
    const { names, values, next } = container
    if (next === values.length) {
      parts.push(names === null ? ']' : '}')
      open.pop()
      continue
    }
    container.next++
    const name = names?.[next] ?? ''
    const value = values[next]
    if (names !== null && value === undefined) continue
    if (container.begun) parts.push(',')
    container.begun = true
    if (names !== null) parts.push(JSON.stringify(name), ':')
    write(name, value)
  }
  pieces.push(parts.join(''))
  return { text: pieces.join(''), media }
}

const isMedium = (value: string): boolean =>
  DATA_URL.test(value) || (value.length >= SHORTEST_BASE64 && BASE64.test(value.trimEnd()))
