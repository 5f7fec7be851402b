import type { Candidate, Outline } from './outline.ts'
import type { ContextMemory, Place, WorkContext } from './place.ts'
import { excerptBlock, header, MEMORIES, MORE, memoryLine, noteLine, placeLine, renderContext } from './render.ts'

/** Bytes of JSON that may be spent per token of text: a line of ~25 tokens is ~300 bytes as a place, an excerpt 4–5. */
export const JSON_BYTES_PER_TOKEN = 12

/** Shares of the budget: memories at most a fifth, names of places half before the first excerpt, one excerpt a quarter. */
const MEMORY_SHARE = 0.2
const NAMES_SHARE = 0.5
const EXCERPT_SHARE = 0.25

const EXCERPTS = 32
const FEWEST_LINES = 3
const MOST_LINES = 200
/** After so many places in a row that did not fit, the budget is full. */
const MISSES = 10
const EXCERPT_MISSES = 3

/** What is to be fitted, and how it is counted. */
export interface FitInput {
  root: string
  generatedAt: string
  notes: string[]
  outline: Outline
  /** Best first. */
  memories: ContextMemory[]
  maxTokens: number
  /** Whether part of the tree was not read at all. */
  incomplete: boolean
  countTokens: (text: string) => Promise<number> | number
  /** The lines of a file as an excerpt; null when it may not or cannot be shown. */
  excerptOf: (path: string, from: number, to: number) => Promise<string | null>
}

/**
 * Fills the budget greedily: memories, then places by weight, then excerpts of the weightiest, then more places, then the
 * top level of the tree. The text rendering never has more than `maxTokens` tokens, and places and memories as JSON never
 * more than 12 bytes for each of them.
 */
export async function fit(input: FitInput): Promise<WorkContext> {
  const { root, outline, maxTokens, countTokens } = input
  const context: WorkContext = {
    root,
    generated_at: input.generatedAt,
    places: [],
    memories: [],
    tokens: 0,
    truncated: false,
    notes: [],
  }
  const chosen = new Map<Candidate, Place>()
  const directories = new Map<string, Place>()
  const undo: Array<() => void> = []
  let tokensLeft = maxTokens
  let bytesLeft = maxTokens * JSON_BYTES_PER_TOKEN

  async function take(text: string, values: unknown[]): Promise<boolean> {
    const bytes = values.reduce((sum: number, value) => sum + Buffer.byteLength(JSON.stringify(value)) + 1, 0)
    if (bytes > bytesLeft) return false
    const tokens = await countTokens(`${text}\n`)
    if (tokens > tokensLeft) return false
    tokensLeft -= tokens
    bytesLeft -= bytes
    return true
  }

  async function addMemories(): Promise<boolean> {
    const floor = tokensLeft * (1 - MEMORY_SHARE)
    let missed = 0
    for (const memory of input.memories) {
      const text = context.memories.length === 0 ? `${MEMORIES}\n${memoryLine(memory)}` : memoryLine(memory)
      const affordable = tokensLeft - (await countTokens(text)) >= floor
      if (affordable && (await take(text, [memory]))) {
        context.memories.push(memory)
        undo.push(() => context.memories.pop())
      } else missed++
    }
    return missed === 0
  }

  async function addPlace(candidate: Candidate): Promise<boolean> {
    if (chosen.has(candidate)) return true
    if (candidate.file && !(await addPlace(candidate.file))) return false
    const place: Place = { ...candidate.place, children: [] }
    const missing = foldersOf(place)
      .filter((path) => !directories.has(path))
      .map(outline.directory)
    const added = [...missing, place]
    if (!(await take(added.map(placeLine).join('\n'), added))) return false
    for (const each of added) attach(each, candidate.file && each === place ? chosen.get(candidate.file) : undefined)
    chosen.set(candidate, place)
    return true
  }

  function attach(place: Place, file: Place | undefined): void {
    const siblings = file?.children ?? directories.get(foldersOf(place).at(-1) ?? '')?.children ?? context.places
    siblings.push(place)
    if (place.kind === 'directory') directories.set(place.path, place)
    undo.push(() => siblings.splice(siblings.indexOf(place), 1))
  }

  /** @returns the candidates that did not fit, or were not tried because less than `floor` tokens are left */
  async function addPlaces(candidates: Candidate[], floor: number): Promise<Candidate[]> {
    const left: Candidate[] = []
    let misses = 0
    for (const candidate of candidates) {
      const added = tokensLeft > floor && misses < MISSES && (await addPlace(candidate))
      misses = added ? 0 : misses + 1
      if (!added) left.push(candidate)
    }
    return left
  }

  async function addExcerpts(): Promise<void> {
    const quoted = new Set([...chosen.keys()].map(({ file }) => file))
    const wanted = [...chosen].filter(([candidate]) => candidate.lines && !quoted.has(candidate))
    let misses = 0
    for (const [{ lines }, place] of wanted.slice(0, EXCERPTS)) {
      const excerpt = lines && (await input.excerptOf(lines.path, lines.from, lastLine(lines)))
      if (!excerpt) continue
      misses = (await addExcerpt(place, excerpt.split('\n'))) ? 0 : misses + 1
      if (misses === EXCERPT_MISSES) return
    }
  }

  function lastLine({ from, to }: { from: number; to: number }): number {
    const most = Math.min(MOST_LINES, Math.max(MOST_LINES / 20, Math.floor(maxTokens / 100)))
    return Math.min(to, from + most - 1)
  }

  /** Adds as many of the lines as fit, by halves. */
  async function addExcerpt(place: Place, lines: string[]): Promise<boolean> {
    for (let kept = lines; ; kept = kept.slice(0, Math.max(FEWEST_LINES, kept.length >> 1))) {
      const text = kept.join('\n')
      const block = excerptBlock(text, place.signals.language)
      if ((await countTokens(block)) <= maxTokens * EXCERPT_SHARE && (await take(block, [{ excerpt: text }]))) {
        place.excerpt = text
        undo.push(() => delete place.excerpt)
        return true
      }
      if (kept.length <= FEWEST_LINES) return false
    }
  }

  await take(`${header(context)}\n${MORE}`, [])
  for (const note of input.notes) if (await take(noteLine(note), [note])) context.notes.push(note)
  const allMemories = await addMemories()
  const later = await addPlaces(outline.candidates, tokensLeft * (1 - NAMES_SHARE))
  await addExcerpts()
  const left = await addPlaces(later, 0)
  context.truncated = input.incomplete || outline.more || !allMemories || left.length > 0
  await addPlaces(
    outline.overview.filter(({ place }) => !directories.has(place.path)),
    0,
  )
  sortPlaces(context.places)

  // The pieces were counted apart; together they rarely count for more, and then what weighs least goes.
  context.tokens = await countTokens(renderContext(context))
  while (context.tokens > maxTokens && undo.length > 0) {
    undo.pop()?.()
    context.truncated = true
    context.tokens = await countTokens(renderContext(context))
  }
  return context
}

/** The directories above a place, outermost first. */
function foldersOf({ path, kind }: Place): string[] {
  const parts = path
    .slice(0, kind === 'region' ? path.lastIndexOf('#') : undefined)
    .split('/')
    .slice(0, -1)
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'))
}

function sortPlaces(places: Place[]): void {
  places.sort((a, b) => b.weight - a.weight || (a.path < b.path ? -1 : 1))
  for (const place of places) sortPlaces(place.children)
}
