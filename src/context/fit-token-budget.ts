import { cut } from '../text/cut.ts'
import { defused } from '../text/defuse-client-tags.ts'
import { NOTICE } from '../text/untrusted-text-notice.ts'
import { type Form, measure } from './context-format.ts'
import type { Candidate, Outline } from './outline.ts'
import type { ContextMemory, Place, WorkContext } from './work-context.ts'

/**
 * Shares of the token budget:
 *
 * - the root's name: at most a quarter
 * - memories: a fifth
 * - names of places: a fifth before the first excerpt, and at least a tenth after the excerpts
 * - one excerpt: two fifths
 */
const ROOT_SHARE = 0.25
const MEMORY_SHARE = 0.2
const NAMES_SHARE = 0.2
const LATER_NAMES_SHARE = 0.1
const EXCERPT_SHARE = 0.4

const EXCERPTS = 32
const FEWEST_LINES = 3
const MAX_LINES = 200
/** Tokens that a line of an excerpt has at least, on average. */
const TOKENS_PER_LINE = 5
/** Consecutive places (or excerpts) that do not fit, after which the budget counts as full. */
const MISSES = 10
const EXCERPT_MISSES = 3

/** Input of {@link fit}. */
export interface FitInput {
  root: string
  generatedAt: string
  notes: string[]
  outline: Outline
  /** Best first. */
  memories: ContextMemory[]
  maxTokens: number
  /** The format whose tokens count against the budget. */
  form: Form
  /** True when part of the tree was not read. */
  incomplete: boolean
  countTokens: (text: string) => Promise<number> | number
  /** Reads lines of a file as an excerpt; null when the file may not or cannot be shown. */
  excerptOf: (path: string, from: number, to: number) => Promise<string | null>
}

/** Tokens that are left, and the steps that can be undone, the last one first. */
interface Budget {
  tokensLeft: number
  /** Spends the tokens of a piece; false when it does not fit. */
  take(piece: string): Promise<boolean>
  undo: Array<() => void>
}

function createBudget(maxTokens: number, countTokens: FitInput['countTokens']): Budget {
  const budget: Budget = {
    tokensLeft: maxTokens,
    async take(piece) {
      const tokens = await countTokens(piece)
      if (tokens > budget.tokensLeft) return false
      budget.tokensLeft -= tokens
      return true
    },
    undo: [],
  }
  return budget
}

/**
 * Fills the budget greedily, in this order:
 *
 * 1. memories 2. places by weight 3. excerpts of the places with the highest weight 4. more places 5. the top level of
 * the tree
 *
 * The context stays within `maxTokens` in each of its forms.
 */
export async function fit(input: FitInput): Promise<WorkContext> {
  const { outline, maxTokens, countTokens, form } = input
  const context: WorkContext = {
    root: await shownRoot(input),
    generated_at: input.generatedAt,
    notice: NOTICE,
    notes: [],
    places: [],
    memories: [],
    tokens: maxTokens,
    truncated: false,
  }
  const budget = createBudget(maxTokens, countTokens)
  await budget.take(form.frame(context))
  for (const note of input.notes) if (await budget.take(form.note(note))) context.notes.push(note)
  const allMemories = await addMemories(context, budget, input)
  const { chosen, hasDirectory, add } = createPlacing(context, budget, input)
  const later = await add(outline.candidates, budget.tokensLeft * (1 - NAMES_SHARE))
  await addExcerpts(chosen, budget, input, budget.tokensLeft * LATER_NAMES_SHARE)
  const left = await add(later, 0)
  context.truncated = input.incomplete || outline.more || !allMemories || left.length > 0
  await add(
    outline.overview.filter(({ place }) => !hasDirectory(place.path)),
    0,
  )
  sortPlaces(context.places)

  // The sum of the pieces can be below the size of the whole. Then the pieces that were added last are removed.
  while ((await measure(context, form, countTokens)) > maxTokens && budget.undo.length > 0) {
    budget.undo.pop()?.()
    context.truncated = true
  }
  return context
}

/** @returns false when some did not fit */
async function addMemories(
  context: WorkContext,
  budget: Budget,
  { memories, form, countTokens }: FitInput,
): Promise<boolean> {
  const floor = budget.tokensLeft * (1 - MEMORY_SHARE)
  for (const memory of memories) {
    const piece = form.memory(memory, context.memories.length === 0)
    const affordable = budget.tokensLeft - (await countTokens(piece)) >= floor
    if (!affordable || !(await budget.take(piece))) continue
    context.memories.push(memory)
    budget.undo.push(() => context.memories.pop())
  }
  return context.memories.length === memories.length
}

/** Places the candidates in the tree of the context, each below its directories. */
function createPlacing(context: WorkContext, budget: Budget, { outline, form }: FitInput) {
  const chosen = new Map<Candidate, Place>()
  const directories = new Map<string, Place>()

  async function addPlace(candidate: Candidate): Promise<boolean> {
    if (chosen.has(candidate)) return true
    if (candidate.file && !(await addPlace(candidate.file))) return false
    const place: Place = { ...candidate.place }
    const missing = foldersOf(place)
      .filter((path) => !directories.has(path))
      .map(outline.directory)
    const [outermost = place, ...inner] = [...missing, place]
    const around = (candidate.file && chosen.get(candidate.file)) ?? directories.get(foldersOf(outermost).at(-1) ?? '')
    const isFirst = around !== undefined && around.children === undefined
    const piece = [form.place(outermost, isFirst), ...inner.map((each) => form.place(each, true))].join('')
    if (!(await budget.take(piece))) return false
    attach(outermost, around)
    for (const each of inner) attach(each, directories.get(foldersOf(each).at(-1) ?? ''))
    chosen.set(candidate, place)
    return true
  }

  function attach(place: Place, around: Place | undefined): void {
    if (around) around.children ??= []
    const siblings = around?.children ?? context.places
    siblings.push(place)
    if (place.kind === 'directory') directories.set(place.path, place)
    budget.undo.push(() => {
      siblings.splice(siblings.indexOf(place), 1)
      if (around && siblings.length === 0) delete around.children
    })
  }

  return {
    chosen: chosen as ReadonlyMap<Candidate, Place>,
    hasDirectory: (path: string) => directories.has(path),
    /** @returns the candidates that did not fit, and those not tried because `floor` or fewer tokens are left */
    async add(candidates: readonly Candidate[], floor: number): Promise<Candidate[]> {
      const left: Candidate[] = []
      let misses = 0
      for (const candidate of candidates) {
        const added = budget.tokensLeft > floor && misses < MISSES && (await addPlace(candidate))
        misses = added ? 0 : misses + 1
        if (!added) left.push(candidate)
      }
      return left
    },
  }
}

/** Adds excerpts of the chosen places, until `floor` tokens are left; of a file whose regions are chosen, only those. */
async function addExcerpts(
  chosen: ReadonlyMap<Candidate, Place>,
  budget: Budget,
  input: FitInput,
  floor: number,
): Promise<void> {
  const quoted = new Set([...chosen.keys()].map(({ file }) => file))
  const wanted = [...chosen].filter(([candidate]) => candidate.lines && !quoted.has(candidate))
  let misses = 0
  for (const [{ lines }, place] of wanted.slice(0, EXCERPTS)) {
    const excerpt = lines && (await input.excerptOf(lines.path, lines.from, lastLine(lines, input.maxTokens)))
    if (!excerpt) continue
    misses = (await addExcerpt(place, defused(excerpt).split('\n'), budget, { ...input, floor })) ? 0 : misses + 1
    if (misses === EXCERPT_MISSES) return
  }
}

function lastLine({ from, to }: { from: number; to: number }, maxTokens: number): number {
  const most = Math.min(MAX_LINES, Math.ceil((maxTokens * EXCERPT_SHARE) / TOKENS_PER_LINE))
  return Math.min(to, from + most - 1)
}

/** Adds as many of the lines as fit: fewer in proportion, until they do. */
async function addExcerpt(
  place: Place,
  lines: readonly string[],
  budget: Budget,
  { form, countTokens, maxTokens, floor }: FitInput & { floor: number },
): Promise<boolean> {
  const allowed = Math.min(maxTokens * EXCERPT_SHARE, budget.tokensLeft - floor)
  for (let kept = lines; ; ) {
    const text = kept.join('\n')
    const piece = form.excerpt(text, place)
    const tokens = await countTokens(piece)
    if (tokens <= allowed && (await budget.take(piece))) {
      place.excerpt = text
      budget.undo.push(() => delete place.excerpt)
      return true
    }
    if (kept.length <= FEWEST_LINES) return false
    const fewer = Math.min(kept.length - 1, Math.floor((kept.length * allowed) / tokens))
    kept = kept.slice(0, Math.max(FEWEST_LINES, fewer))
  }
}

/** The path of the root; the beginning of a very long path is cut. */
async function shownRoot({ root, maxTokens, countTokens }: FitInput): Promise<string> {
  let shown = root
  while ((await countTokens(shown)) > maxTokens * ROOT_SHARE) shown = `…${cut(shown, Math.ceil(shown.length / 4))}`
  return shown
}

/** The directories that contain a place, outermost first. */
function foldersOf({ path, kind }: Place): string[] {
  const parts = path
    .slice(0, kind === 'region' ? path.lastIndexOf('#') : undefined)
    .split('/')
    .slice(0, -1)
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'))
}

function sortPlaces(places: Place[]): void {
  places.sort((a, b) => b.weight - a.weight || (a.path < b.path ? -1 : 1))
  for (const place of places) sortPlaces(place.children ?? [])
}
