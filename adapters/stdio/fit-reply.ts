import { cut, shorten } from '../../src/text/cut.ts'
import { createTokenCounter } from '../../src/text/token-counter.ts'
import { yieldToEventLoop } from '../../src/wire/yield-to-event-loop.ts'
import { MAX_CHARACTERS, MAX_TOKENS } from './reply-limits.ts'

/** Characters that are counted before other work goes on. */
const PIECE = 1000
/**
 * Limits of text length, entries of a list, fields of an object, and depth, tried in order until the reply fits. No object
 * of a tool's own has more than 50 fields: until the last step these stay.
 */
const STEPS = [
  { characters: 80_000, entries: 10_000, fields: 10_000, levels: 100 },
  { characters: 40_000, entries: 2000, fields: 2000, levels: 100 },
  { characters: 20_000, entries: 1000, fields: 1000, levels: 50 },
  { characters: 10_000, entries: 500, fields: 500, levels: 20 },
  { characters: 5000, entries: 200, fields: 200, levels: 10 },
  { characters: 2000, entries: 100, fields: 100, levels: 8 },
  { characters: 500, entries: 50, fields: 50, levels: 7 },
  { characters: 300, entries: 20, fields: 50, levels: 6 },
  { characters: 100, entries: 20, fields: 50, levels: 6 },
  { characters: 40, entries: 10, fields: 50, levels: 6 },
  { characters: 200, entries: 5, fields: 5, levels: 6 },
]

const countTokens = createTokenCounter({ remember: 64 })

/** The kept part of a reply. */
interface Fitted {
  output: Record<string, unknown>
  /** Note for the model about what was cut; null when nothing was. */
  note: string | null
}

/**
 * Cuts a tool's output to at most {@link MAX_TOKENS} and {@link MAX_CHARACTERS}: long texts, long lists and objects, and deep levels. A page of a
 * list keeps all its items, because its cursor leads to the items after them.
 */
export async function fitReply(output: Record<string, unknown>): Promise<Fitted> {
  if (await fits(JSON.stringify(output))) return { output, note: null }
  for (const step of STEPS) {
    const places: string[] = []
    const kept = trim(output, { ...step, places, at: '' }) as Record<string, unknown>
    const note = `Cut to fit into ${MAX_TOKENS} tokens and ${MAX_CHARACTERS} characters: ${shorten([...new Set(places)].join(', '), 500)}. Request less, or narrow the query.`
    if (await fits(JSON.stringify({ cut: note, ...kept }))) return { output: kept, note }
  }
  throw new Error('A reply has more fields than can be cut.')
}

/** Cuts a text to the tokens of a reply. */
export async function fitText(text: string): Promise<string> {
  if (await fits(text)) return text
  for (const { characters } of STEPS)
    if (await fits(text.slice(0, characters))) return `${cut(text, 0, characters)}\n(cut off)`
  return '(cut off)'
}

/** Tells whether a text fits into a reply. Counting in pieces overestimates slightly. */
async function fits(text: string): Promise<boolean> {
  if (Buffer.byteLength(text) <= MAX_TOKENS) return true
  if (text.length > MAX_CHARACTERS) return false
  let tokens = 0
  for (let at = 0; at < text.length && tokens <= MAX_TOKENS; at += PIECE) {
    tokens += await countTokens(text.slice(at, at + PIECE))
    await yieldToEventLoop()
  }
  return tokens <= MAX_TOKENS
}

interface Trim {
  characters: number
  entries: number
  fields: number
  levels: number
  /** Paths of the fields that were cut. */
  places: string[]
  at: string
}

function trim(value: unknown, how: Trim): unknown {
  const { characters, entries, fields, levels, places, at } = how
  const note = (isCut: boolean) => {
    if (isCut) places.push(at)
  }
  if (typeof value === 'string') {
    note(value.length > characters)
    return shorten(value, characters)
  }
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) {
    note(true)
    return shorten(JSON.stringify(value), characters)
  }
  const inner = (name: string) => ({ ...how, levels: levels - 1, at: name })
  if (Array.isArray(value)) {
    note(value.length > entries)
    return value.slice(0, entries).map((item) => trim(item, inner(`${at}[]`)))
  }
  const all = Object.entries(value)
  note(all.length > fields)
  const isPage = 'next_cursor' in value
  return Object.fromEntries(
    all.slice(0, fields).map(([name, field]) => {
      // The cursor continues after the last item, so no item may be omitted.
      if (isPage && Array.isArray(field)) return [name, field.map((item) => trim(item, inner(`${name}[]`)))]
      return [name, trim(field, inner(at === '' ? name : `${at}.${name}`))]
    }),
  )
}
