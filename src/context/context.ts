import * as z from 'zod'
import { type Base, logged } from '../base.ts'
import type { CallContext } from '../calls/call-record.ts'
import { errorBody, GazewayError } from '../errors.ts'
import type { PlaceDwell } from '../gaze/dwell.ts'
import type { Gaze } from '../gaze/gaze.ts'
import type { Memories } from '../memory/memory.ts'
import { Projects } from '../memory/records/memory-record.ts'
import { resolveFocus } from '../repository/confine.ts'
import { homeFolder } from '../text/home-folder.ts'
import { parseInput } from '../wire/validation.ts'
import { createAllowRoot, movedDirectory, type Root } from './allowed-root.ts'
import { askedOf, compose, type Known, type Request, type StoredMemory } from './compose.ts'
import { type Form, jsonForm, textForm } from './context-format.ts'
import { attentionByFile } from './file-attention.ts'
import { createTreeReader, MAX_FILES, type ProjectTree } from './project-tree.ts'
import { renderContext } from './render.ts'
import { createMatcher } from './search/matcher.ts'
import { type UsedContext, usedIn } from './used-context.ts'
import type { WorkContext } from './work-context.ts'

export type { StoredMemory } from './compose.ts'
export { renderContext } from './render.ts'
export { UsedContext } from './used-context.ts'
export { Place, WorkContext } from './work-context.ts'

/** Input of a work context. */
export const ContextInput = z.object({
  root: z
    .string()
    .min(1)
    .optional()
    .describe('Absolute path of the project, inside an open one; by default the first.'),
  focus: z.string().min(1).optional().describe('A file or folder inside the root: it and its neighbours gain weight.'),
  query: z
    .string()
    .min(1)
    .max(2000)
    .optional()
    .describe('What the work is about: places and memories that match gain weight.'),
  projects: Projects,
  max_tokens: z.number().int().min(200).max(32_000).default(4000).describe('Budget of the result.'),
})
export type ContextInput = z.input<typeof ContextInput>

/** Selects the memories of a context. */
export interface MemoriesOf {
  query?: string | undefined
  /** Folders whose projects are meant. */
  roots: readonly string[]
  /** Set to read the memories of all projects. */
  projects?: 'all' | undefined
  /** Key whose own memories are trusted too; null for the tools of this machine. */
  reader: string | null
  limit: number
}

/** Caller of a context, which can cancel it and follow its progress. This machine's tools when `callerId` is absent. */
export type Caller = Pick<CallContext, 'signal' | 'onStep'> & Partial<Pick<CallContext, 'callerId'>>

/** A context as text to send with a question, and the files and memories in it. */
export interface SentContext {
  text: string
  tokens: number
  used: UsedContext[]
}

/** Dependencies of the work context. */
export interface ContextDeps {
  /** Reads attention by place since a time. Called up to twice a call, so it needs an index. */
  dwell: (query: { root: string; since: string }) => Promise<PlaceDwell[]>
  /** Reads the best matching memories of some projects and of no project that `reader` trusts; without a query, the newest. */
  memories: (of: MemoriesOf) => Promise<StoredMemory[]>
  /** Returns the root that a caller means. @throws see `createAllowRoot` */
  allowRoot: (asked: string | undefined, declared: readonly string[]) => Promise<Root>
  /** Called with the error when attention and memories could not be read. The context is then made without them. */
  onStoreFault: (error: unknown) => void
  /** Says that memories come from a copy; null when they do not. */
  offlineNote?: () => string | null
  countTokens: (text: string) => Promise<number> | number
  now: () => Date
  /** Gazeway's data folder; its files never appear in a context. */
  dataFolder?: string
}

/** Attention older than this has lost 99 % of its interest. */
const SINCE_MS = 7 * 24 * 3_600_000
const MEMORIES = 20

/** Most recently seen places that the work context ranks. */
const WEIGHED_PLACES = 2000

/**
 * The work context service. Its functions throw GazewayError `not_found` (param `root`), `forbidden_path` (a `root` that
 * may not be read, a `focus` outside the root), `validation_failed` (a `max_tokens` outside 200–32000), `cancelled`.
 */
export interface Context {
  /**
   * Work context of a project as a structured result. Its JSON and its text both stay within `max_tokens`.
   *
   * @param declaredRoots the roots that the client declared
   */
  get(input: ContextInput, declaredRoots: readonly string[], caller?: Caller): Promise<WorkContext>
  /** Work context as text for a model, within `max_tokens`. */
  text(
    input: ContextInput,
    declaredRoots: readonly string[],
    caller?: Caller,
  ): Promise<{ text: string; tokens: number }>
  /**
   * Part of the work context that is sent with a question to a model elsewhere, as text of at most `max_tokens` tokens. It
   * holds only files and memories that are related to the question. The text is empty when there are none.
   */
  toSend(
    input: ContextInput & { query: string },
    declaredRoots: readonly string[],
    caller?: Caller,
  ): Promise<SentContext>
}

/** Opens the room: it follows `context.roots`. */
export function liveContext(
  base: Base,
  rooms: {
    gaze: Pick<Gaze, 'dwell'>
    memory: Memories
    /** Returns the projects of some folders. */
    projectsAt: (folders: readonly string[]) => Promise<string[]>
    countTokens: ContextDeps['countTokens']
    /** Note on memories of another Gazeway that does not answer; absent without one. */
    offlineNote: (() => string | null) | undefined
  },
): Context {
  const { gaze, memory, projectsAt, countTokens, offlineNote } = rooms
  const { config, now } = base
  return createContext({
    dwell: (query) => gaze.dwell({ ...query, limit: WEIGHED_PLACES }),
    async memories({ query, reader, roots, ...rest }) {
      const memories = memory.of(null, reader)
      const of = { ...rest, project: await projectsAt(roots) }
      if (query === undefined) return memories.newest(of)
      return (await memories.related({ query, ...of })).results.map((result) => result.memory)
    },
    onStoreFault: logged(base, 'Built a work context without attention and memories.', 'warn'),
    allowRoot: createAllowRoot({
      configured: () => config.current().config.context.roots,
      workingDirectory: () => process.cwd(),
      movedDirectory,
      homeFolder,
    }),
    ...(offlineNote && { offlineNote }),
    countTokens,
    now,
    dataFolder: config.current().dataDir,
  })
}

/** Creates the work context service: attention, changes and memories of a project, within a token budget. */
export function createContext(deps: ContextDeps): Context {
  const matcher = createMatcher(deps.dataFolder ?? null)
  const readTree = createTreeReader({ limit: MAX_FILES, dataFolder: deps.dataFolder ?? null })

  /**
   * Reads the current context of a project. @throws see {@link Context}
   */
  async function read(
    input: ContextInput,
    declared: readonly string[],
    { form, onlyRelated }: { form: Form; onlyRelated: boolean },
    { signal, onStep, callerId = null }: Caller,
  ): Promise<WorkContext> {
    const { focus: asked, query, projects, max_tokens: maxTokens } = parseInput(ContextInput, input)
    const now = deps.now()
    const { path: root, named } = await deps.allowRoot(input.root, declared)
    const roots = [...new Set([root, named])]
    const resolved = asked === undefined ? null : await resolveFocus(root, asked, roots)

    let reading: ReturnType<typeof readStored> | undefined
    // All that the client has open, unless it asks about one of them.
    // A folder that was moved may be known by its old path alone.
    const meant = [...new Set(input.root === undefined ? [...roots, ...declared] : roots)]
    const of: MemoriesOf = { roots: meant, limit: MEMORIES, reader: callerId, query, projects }
    const stored = () => {
      reading ??= readStored(deps, roots, of, now)
      return reading
    }
    const request: Request = { root, focus: resolved, query, maxTokens, form, onlyRelated, now }

    /** Composes the context of a tree that may be outdated; null when the index must be built first. */
    async function composeEarly(tree: ProjectTree): Promise<WorkContext | null> {
      const known = await stored()
      const matches = await matcher.searchReady(root, tree, askedOf(tree, known, request))
      return matches && compose({ tree, known, matches }, request, deps.countTokens, signal)
    }

    let begun: { tree: ProjectTree; context: Promise<WorkContext | null> } | undefined
    const attend = async (last: ProjectTree | null) => {
      const { attention } = await stored()
      if (last !== null) {
        begun = { tree: last, context: composeEarly(last) }
        // The error is received where the result is awaited. The result of an outdated tree is never awaited.
        begun.context.catch(() => {})
      }
      return new Set([...attention.keys(), ...(resolved ? [resolved.path] : [])])
    }
    const tree = await readTree(root, attend, signal)
    const early = begun?.tree === tree ? await begun.context : null
    if (early !== null) return early
    const known = await stored()
    const matches = await matcher.search(root, tree, askedOf(tree, known, request), { signal, onStep })
    return compose({ tree, known, matches }, request, deps.countTokens, signal)
  }

  return {
    get: (input, declared, caller = {}) => read(input, declared, { form: jsonForm, onlyRelated: false }, caller),

    async text(input, declared, caller = {}) {
      const context = await read(input, declared, { form: textForm, onlyRelated: false }, caller)
      return { text: renderContext(context), tokens: context.tokens }
    },

    async toSend(input, declared, caller = {}) {
      const context = await read(input, declared, { form: textForm, onlyRelated: true }, caller)
      return sent(context, await usedIn(context, deps.countTokens))
    },
  }
}

/** A context as it is sent; no text where nothing in it is used. */
function sent(context: WorkContext, used: SentContext['used']): SentContext {
  if (used.length === 0) return { text: '', tokens: 0, used }
  return { text: renderContext(context), tokens: context.tokens, used }
}

async function readDwell(dwell: ContextDeps['dwell'], roots: readonly string[], since: string): Promise<PlaceDwell[]> {
  const answers = await Promise.all(roots.map((root) => dwell({ root, since })))
  const byPlace = new Map(answers.flat().map((row) => [`${row.path}\0${row.line_start}\0${row.line_end}`, row]))
  return [...byPlace.values()]
}

/**
 * Reads the project's attention and memories, and loads the tokenizer. It blocks this thread, so it runs while git
 * runs.
 */
async function readStored(deps: ContextDeps, roots: readonly string[], of: MemoriesOf, now: Date): Promise<Known> {
  const since = new Date(now.getTime() - SINCE_MS).toISOString()
  const [held] = await Promise.all([
    Promise.all([readDwell(deps.dwell, roots, since), deps.memories(of)]).catch((error) => withoutStore(deps, error)),
    deps.countTokens(''),
  ])
  const [rows, memories, ...failures] = held
  const offline = deps.offlineNote?.() ?? null
  const notes = offline === null ? failures : [...failures, `memories: ${offline}`]
  return { attention: attentionByFile(rows, roots, now), memories, notes }
}

/**
 * Replaces attention and memories by a note when the store fails: the context then comes from files and git alone.
 */
function withoutStore(
  { onStoreFault }: ContextDeps,
  error: unknown,
): [rows: PlaceDwell[], memories: StoredMemory[], note: string] {
  onStoreFault(error)
  const why = error instanceof GazewayError ? errorBody(error).message : 'the store does not answer.'
  return [[], [], `attention and memories are unknown: ${why}`]
}
