import { giveWay } from '../wire/give-way.ts'

/** Where OpenAI's requests hold media: `image_url`, its `url`, `input_audio.data`, `file_data`, a drawn picture's `result`. */
const MEDIA_FIELDS = new Set(['image_url', 'url', 'data', 'file_data', 'result', 'b64_json'])
const DATA_URL = /^data:[^,\s]{0,200},/
/** In lines or not. */
const BASE64 = /^[\w+/\r\n-]+={0,2}$/
/** What is shorter is counted as the text that it may be. */
const SHORTEST_BASE64 = 256

/** Values that are written before others get their turn. */
const VALUES_AT_ONCE = 500

/** An array or object whose values are being written: the names of an object, and which of its values comes next. */
interface Open {
  names: readonly string[] | null
  values: readonly unknown[]
  next: number
  /** Whether one of them was written. */
  begun: boolean
}

/**
 * A request as JSON without its media, and how many there are. Elsewhere base64 is text, as it is to the model. A request of
 * many values keeps nobody waiting, however they nest.
 */
export async function requestText(request: unknown): Promise<{ text: string; media: number }> {
  const parts: string[] = []
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
    if (written % VALUES_AT_ONCE === 0) await giveWay()
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
  return { text: parts.join(''), media }
}

const isMedium = (value: string): boolean =>
  DATA_URL.test(value) || (value.length >= SHORTEST_BASE64 && BASE64.test(value.trimEnd()))
