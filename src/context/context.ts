import * as z from 'zod'
import type { CallContext } from '../calls/call-record.ts'
import { errorBody, GazewayError } from '../errors.ts'
import type { PlaceDwell } from '../gaze/dwell.ts'
import { Projects } from '../memory/memory-record.ts'
import { projectOf } from '../memory/project.ts'
import { cut } from '../text/cut.ts'
import { parseInput } from '../wire/validation.ts'
import type { Root } from './allowed-root.ts'
import { resolveFocus } from './confine.ts'
import { attentionByFile } from './file-attention.ts'
import { createExcerptReader, createTextReader } from './file-excerpt.ts'
import { fit } from './fit.ts'
import { distanceTo } from './focus-distance.ts'
import { type Form, jsonForm, textForm } from './form.ts'
import { layoutOf } from './layout.ts'
import { createOutline } from './outline.ts'
import type { ContextMemory, WorkContext } from './place.ts'
import { relatedFiles } from './related.ts'
import { renderContext } from './render.ts'
import { scoreFiles } from './score.ts'
import { createMatcher } from './search/matcher.ts'
import { findPassages } from './search/passages.ts'
import { createTreeReader, type ProjectTree } from './tree.ts'
import { type UsedContext, usedIn } from './used.ts'

export { Place, WorkContext } from './place.ts'
export { renderContext } from './render.ts'
export { UsedContext } from './used.ts'

/** Input of a work context. */
export const ContextInput = z.object({
  root: z
    .string()
    .min(1)
    .optional()
    .describe('Absolute path of the project, inside one that the client has open; by default the first of those.'),
  focus: z.string().min(1).optional().describe('A file or folder inside the root: it and its neighbours gain weight.'),
  query: z
    .string()
    .min(1)
    .max(2000)
    .optional()
    .describe('What the work is about: places and memories that match gain weight.'),
  projects: Projects,
  max_tokens: z.number().int().min(200).max(32_000).default(4000).describe('The result is never longer than this.'),
})
export type ContextInput = z.input<typeof ContextInput>

/** A memory as it is stored, as far as the context needs it. */
export interface StoredMemory {
  key: string
  namespace: string
  value: unknown
  tags: string[]
  updated_at: string
}

/** Selects the memories of a context. */
export interface MemoriesOf {
  query?: string
  project: string | null
  /** Those of all projects. */
  projects?: 'all'
  limit: number
}

/** Lets the caller of a context cancel it and follow its progress. */
export type Caller = Pick<CallContext, 'signal' | 'onStep'>

/** A context as it is sent with a question, and what it holds. */
export interface SentContext {
  text: string
  tokens: number
  used: UsedContext[]
}

/** Dependencies of the work context. */
export interface ContextDeps {
  /** Attention by place since a time; indexed, it is asked once or twice a call. */
  dwell: (query: { root: string; since: string }) => Promise<PlaceDwell[]>
  /** The memories of a project, and those of none, that match best; or the newest ones. */
  memories: (of: MemoriesOf) => Promise<StoredMemory[]>
  /** The root that a caller means. @throws see `createAllowRoot` */
  allowRoot: (asked: string | undefined, declared: readonly string[]) => Promise<Root>
  /** Told why attention and memories could not be read; the context goes without them. */
  onStoreFault: (error: unknown) => void
  countTokens: (text: string) => Promise<number> | number
  now: () => Date
  /** Gazeway's data folder, whose files are left out. */
  dataFolder?: string
}

/** Attention older than this has lost 99 % of its interest. */
const SINCE_MS = 7 * 24 * 3_600_000
const FILES = 50_000
const MEMORIES = 20
const MEMORY_LENGTH = 800
/** Fewest tokens of a place: its line has a name, a weight and a reason. */
const TOKENS_PER_PLACE = 8

/** Creates the work context service: where attention went in a project, and its changes, within a token budget. */
export function createContext(deps: ContextDeps) {
  const matcher = createMatcher(deps.dataFolder ?? null)
  const readTree = createTreeReader({ limit: FILES, dataFolder: deps.dataFolder ?? null })

  async function readDwell(roots: readonly string[], since: string): Promise<PlaceDwell[]> {
    const answers = await Promise.all(roots.map((root) => deps.dwell({ root, since })))
    const byPlace = new Map(answers.flat().map((row) => [`${row.path}\0${row.line_start}\0${row.line_end}`, row]))
    return [...byPlace.values()]
  }

  /**
   * Reads the project's attention and memories, and loads the tokenizer. It keeps this thread busy, so it runs while
   * git does.
   */
  async function readStored(roots: readonly string[], of: MemoriesOf, now: Date) {
    const since = new Date(now.getTime() - SINCE_MS).toISOString()
    const [held] = await Promise.all([
      Promise.all([readDwell(roots, since), deps.memories(of)]).catch(withoutStore),
      deps.countTokens(''),
    ])
    const [rows, memories, ...notes] = held
    return { attention: attentionByFile(rows, roots, now), memories, notes }
  }

  /** Falls back to files and git alone when the store does not answer. */
  function withoutStore(error: unknown): [rows: PlaceDwell[], memories: StoredMemory[], note: string] {
    deps.onStoreFault(error)
    const why = error instanceof GazewayError ? errorBody(error).message : 'the store does not answer.'
    return [[], [], `attention and memories are unknown: ${why}`]
  }

  /**
   * The context of a project as it is now.
   *
   * @param declared the roots that the client declared
   * @throws GazewayError `not_found` (param `root`), `forbidden_path` (a `root` that may not be read, a `focus` outside the
   *   root), `validation_failed` (a `max_tokens` outside 200–32000), `cancelled`
   */
  async function read(
    input: ContextInput,
    declared: readonly string[],
    { form, onlyRelated }: { form: Form; onlyRelated: boolean },
    { signal, onStep }: Caller,
  ): Promise<WorkContext> {
    const { focus: asked, query, projects, max_tokens: maxTokens } = parseInput(ContextInput, input)
    const now = deps.now()
    const { path: root, named } = await deps.allowRoot(input.root, declared)
    const roots = [...new Set([root, named])]
    const resolved = asked === undefined ? null : await resolveFocus(root, asked, roots)

    let reading: ReturnType<typeof readStored> | undefined
    const of: MemoriesOf = {
      project: await projectOf(root),
      limit: MEMORIES,
      ...(query !== undefined && { query }),
      ...(projects !== undefined && { projects }),
    }
    const stored = () => {
      reading ??= readStored(roots, of, now)
      return reading
    }
    const attend = async () => new Set([...(await stored()).attention.keys(), ...(resolved ? [resolved.path] : [])])
    const tree = await readTree(root, attend, signal)
    const { attention, memories, notes: ofStore } = await stored()
    const focus = resolved && asListed(resolved, tree.files)

    const hasSignal = focus !== null || attention.size > 0 || tree.changes.size > 0
    const matches = await matcher(root, tree, { query, hasSignal }, { signal, onStep })
    const { match, referred } = matches
    const { places } = layoutOf(tree.files)
    const distance = focus && distanceTo(focus.path, places.has(focus.path))
    const scored = await scoreFiles(root, tree, { attention, distance, match, referred, now })
    const chosen = onlyRelated ? relatedFiles(scored, matches) : scored
    const texts = createTextReader(root)
    const files = matches.found === null ? chosen : await findPassages(texts, chosen, matches.found)
    const limit = Math.ceil(maxTokens / TOKENS_PER_PLACE)
    const outline = createOutline(root, files, {
      layout: layoutOf(onlyRelated ? files.map(({ path }) => path) : tree.files),
      limit,
      commits: tree.commits.length,
      focus: focus?.path ?? null,
      now,
    })
    throwIfCancelled(signal)

    const notes = [
      ...(focus ? aboutFocus(focus, tree) : []),
      ...(tree.complete ? [] : [`more than ${FILES} files, or slow patterns in a .gitignore: the rest was not read`]),
      ...tree.notes,
      ...matches.notes,
      ...ofStore,
    ]
    return fit({
      root,
      generatedAt: now.toISOString(),
      notes,
      outline,
      memories: memories.map(shorten),
      maxTokens,
      form,
      incomplete: !tree.complete,
      countTokens: deps.countTokens,
      excerptOf: createExcerptReader(texts),
    })
  }

  return {
    /** The context as a structured result: as JSON, and as text, it is never longer than `max_tokens`. @throws see above */
    get: (input: ContextInput, declared: readonly string[], caller: Caller = {}) =>
      read(input, declared, { form: jsonForm, onlyRelated: false }, caller),

    /** The context as text for a model, never longer than `max_tokens`. @throws see above */
    async text(input: ContextInput, declared: readonly string[], caller: Caller = {}) {
      const context = await read(input, declared, { form: textForm, onlyRelated: false }, caller)
      return { text: renderContext(context), tokens: context.tokens }
    },

    /**
     * Returns the context to send to a model with a question, as text of at most `max_tokens` tokens. It holds only the
     * files and memories related to the question; the text is empty when there are none.
     *
     * @throws see above
     */
    async toSend(
      input: ContextInput & { query: string },
      declared: readonly string[],
      caller: Caller = {},
    ): Promise<SentContext> {
      const context = await read(input, declared, { form: textForm, onlyRelated: true }, caller)
      const used = await usedIn(context, deps.countTokens)
      return used.length === 0
        ? { text: '', tokens: 0, used }
        : { text: renderContext(context), tokens: context.tokens, used }
    },
  }
}

/** The focus as the project writes it: macOS stores names decomposed (NFD), people type them composed. */
function asListed(focus: { path: string; exists: boolean }, files: readonly string[]) {
  if (focus.exists) return focus
  const composed = focus.path.normalize('NFC')
  const listed = files.find((path) => `${path.normalize('NFC')}/`.startsWith(`${composed}/`))
  if (listed === undefined || listed.startsWith(focus.path)) return focus
  return { path: listed.split('/').slice(0, composed.split('/').length).join('/'), exists: true }
}

function aboutFocus(focus: { path: string; exists: boolean }, { files, complete }: ProjectTree): string[] {
  if (!focus.exists) return ['the focus does not exist; its neighbours are weighed']
  const inside = focus.path === '' ? '' : `${focus.path}/`
  if (!complete || files.some((path) => path === focus.path || path.startsWith(inside))) return []
  return [
    "the focus is none of the project's files: it is ignored, empty, or of another repository; ask with that as root",
  ]
}

/** A long value becomes its first 800 characters, as text. */
function shorten(memory: StoredMemory): ContextMemory {
  const { key, namespace, value, tags, updated_at } = memory
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const isLong = text.length > MEMORY_LENGTH
  return {
    key,
    namespace,
    value: isLong ? cut(text, 0, MEMORY_LENGTH) : value,
    ...(isLong && { cut: true as const }),
    ...(tags.length > 0 && { tags }),
    updated_at,
  }
}

function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new GazewayError('cancelled', 'The caller cancelled the work context.')
}
