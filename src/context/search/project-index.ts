import { LRUCache } from 'lru-cache'
import { inThread } from '../../wire/in-thread.ts'
import { threadCode } from '../../wire/thread.ts'
import { yieldToEventLoop } from '../../wire/yield-to-event-loop.ts'
import type { ProjectTree } from '../project-tree.ts'
import { gapsOf } from './gaps.ts'
import { indexFileOf, readIndexFile, touchIndexFile } from './index-file.ts'
import { createFileLister, type IndexedFiles } from './indexed-files.ts'
import type { LiveSegment } from './rank.ts'
import { searchedText } from './searched-text.ts'
import { type IndexedFile, openSegment, type Segment } from './segment.ts'
import { createSegmentBuilder } from './segment-builder.ts'
import type { IndexUpdate, UpdatedIndex } from './update.ts'

/** Roots whose index stays in memory. */
const ROOTS_KEPT = 2
/** Maximum number of changed files indexed on this thread, in a second segment. With more, the index is rebuilt. */
const BESIDE = 64
/** Longest time that a call waits for the index. The build continues after it. */
const WAIT_MS = 10_000
/** Delay before the first progress report, and interval after it. */
const TELL_AFTER_MS = 2_000
const TELL_EVERY_MS = 500

const CODE = threadCode({ source: new URL('./index-thread.ts', import.meta.url), name: 'context-index' })

/** Lets the caller of an index cancel and follow its progress. */
export interface IndexCaller {
  signal?: AbortSignal | undefined
  onStep?: ((step: string) => void) | undefined
}

/** The index of a project with its current changes. */
export interface FreshIndex {
  live: LiveSegment[]
  /** Parts that were not searched, in plain words. */
  notes: string[]
}

interface CachedIndex {
  base: Segment
  /** Number of the first part of each file. */
  numbers: Map<string, number>
  /** Error that prevented saving the index for later processes; null when it was saved. */
  fault: string | null
  beside: { files: IndexedFile[]; segment: Segment } | null
  /** Cached comparison of the last list of clean files. */
  clean: { files: IndexedFile[]; compared: Comparison } | null
}

/**
 * Creates the indexes of projects: in memory, and in files for later processes. They follow the changes of the files.
 *
 * @param dataFolder Gazeway's data folder; null to keep the indexes in memory only
 */
export function createProjectIndex(dataFolder: string | null) {
  const indexes = new LRUCache<string, CachedIndex>({ max: ROOTS_KEPT })
  const indexedFiles = createFileLister(ROOTS_KEPT)
  const updates = new Map<string, Promise<unknown>>()
  const fileOf = (root: string) => (dataFolder === null ? null : indexFileOf(dataFolder, root))

  /**
   * Updates the index to the files of a tree, in a worker thread. After 2 s the caller gets progress reports; after 10
   * s it gets the index as it is.
   *
   * @param root with its links resolved
   * @throws GazewayError `cancelled`, `too_many_requests`
   */
  async function fresh(root: string, tree: ProjectTree, caller: IndexCaller): Promise<FreshIndex> {
    const files = await indexedFiles(root, tree)
    let known = indexes.get(root) ?? readSaved(root)
    let compared = compare(files, known)
    const notes: string[] = []
    if (known === undefined || compared.stale.length > BESIDE) {
      const isDone = await updated(root, compared, known?.base.bytes ?? null, caller)
      known = indexes.get(root)
      compared = compare(files, known)
      if (!isDone || compared.stale.length > BESIDE)
        notes.push('the file index is still being built: some files were not searched')
    }
    return known === undefined ? { live: [], notes } : withChanges(root, known, compared, notes)
  }

  /** Returns the index for the files of a tree. Null when this process has none, or too many files changed. */
  async function ready(root: string, tree: ProjectTree): Promise<FreshIndex | null> {
    const known = indexes.get(root)
    if (known === undefined) return null
    const compared = compare(await indexedFiles(root, tree), known)
    return compared.stale.length > BESIDE ? null : withChanges(root, known, compared, [])
  }

  function readSaved(root: string): CachedIndex | undefined {
    const base = openSaved(fileOf(root), root)
    if (base !== null) indexes.set(root, hold(base, null))
    return indexes.get(root)
  }

  /** @returns whether the update ended before the caller's patience */
  function updated(root: string, { stale, alive }: Comparison, base: Uint8Array | null, caller: IndexCaller) {
    const done = new Int32Array(new SharedArrayBuffer(4))
    const update: IndexUpdate = { root, stale, alive, base, done, file: fileOf(root) }
    const running = updates.get(root) ?? start(update)
    return inPatience(running, caller, () => `Indexing the project: ${Atomics.load(done, 0)} of ${stale.length} files`)
  }

  function start(update: IndexUpdate): Promise<unknown> {
    const { root } = update
    const running = built(update)
      .then((index) => void indexes.set(root, index))
      .finally(() => updates.delete(root))
    updates.set(root, running)
    // A waiting caller receives the error. Callers that did not wait build the index again with their next call.
    running.catch(() => {})
    return running
  }

  return { fresh, ready }
}

/** Builds an index in a worker thread. */
async function built(update: IndexUpdate): Promise<CachedIndex> {
  const { bytes, fault } = await inThread<IndexUpdate, UpdatedIndex>(CODE, update)
  const base = openSegment(bytes)
  if (base === null) throw new Error('The worker thread returned no index.')
  return hold(base, fault)
}

/** Opens an index that an earlier process saved, and marks its file as used; null when there is none. */
function openSaved(file: string | null, root: string): Segment | null {
  const base = file === null ? null : readIndexFile(file, root)
  if (file !== null && base !== null) touchIndexFile(file, new Date())
  return base
}

/**
 * Waits for work, 10 s at most, and reports its progress. The work continues afterwards.
 *
 * @returns true when it has ended; false when it was late or the caller cancelled
 * @throws the error of the work
 */
async function inPatience(
  running: Promise<unknown>,
  { signal, onStep }: IndexCaller,
  progress: () => string,
): Promise<boolean> {
  const begun = performance.now()
  const tick = setInterval(() => {
    if (performance.now() - begun >= TELL_AFTER_MS) onStep?.(progress())
  }, TELL_EVERY_MS)
  const late = new Promise<false>((resolve) => void setTimeout(resolve, WAIT_MS, false).unref())
  const cancelled = new Promise<false>((resolve) =>
    signal?.addEventListener('abort', () => resolve(false), { once: true }),
  )
  try {
    return await Promise.race([running.then(() => true), late, cancelled])
  } finally {
    clearInterval(tick)
  }
}

/** The index with the files that changed since it was built. */
async function withChanges(
  root: string,
  known: CachedIndex,
  { alive, stale }: Comparison,
  notes: readonly string[],
): Promise<FreshIndex> {
  const live: LiveSegment[] = [{ segment: known.base, alive }]
  const beside = await indexBeside(root, known, stale.slice(0, BESIDE))
  if (beside) live.push({ segment: beside, alive: new Uint8Array(beside.files.length).fill(1) })
  return { live, notes: [...notes, ...(known.fault === null ? [] : [unsaved(known.fault)]), ...gapsOf(live)] }
}

async function indexBeside(root: string, known: CachedIndex, stale: IndexedFile[]): Promise<Segment | null> {
  if (stale.length === 0) return null
  if (known.beside && isSame(known.beside.files, stale)) return known.beside.segment
  const builder = createSegmentBuilder()
  for (const file of stale) {
    await yieldToEventLoop()
    const { text, ...marks } = searchedText(root, file.path)
    builder.add({ ...file, ...marks }, text)
  }
  const segment = openSegment(builder.finish(root))
  known.beside = segment && { files: stale, segment }
  return segment
}

const unsaved = (fault: string) => `the file index cannot be saved (${fault}): the next process builds it again`

function hold(base: Segment, fault: string | null): CachedIndex {
  return {
    base,
    numbers: new Map(base.files.flatMap(({ path, part = 0 }, i) => (part === 0 ? [[path, i] as const] : []))),
    fault,
    beside: null,
    clean: null,
  }
}

/** Files whose indexed version is current (1 in `alive`), and files to index again. */
interface Comparison {
  alive: Uint8Array
  stale: IndexedFile[]
}

function compare({ clean, others }: IndexedFiles, known: CachedIndex | undefined): Comparison {
  if (known === undefined) return { alive: new Uint8Array(0), stale: [...clean, ...others] }
  if (known.clean?.files !== clean) known.clean = { files: clean, compared: compareFiles(clean, known) }
  const { alive, stale } = known.clean.compared
  const ofOthers = compareFiles(others, known)
  return { alive: alive.map((isAlive, i) => isAlive | (ofOthers.alive[i] ?? 0)), stale: [...stale, ...ofOthers.stale] }
}

function compareFiles(files: readonly IndexedFile[], { base, numbers }: CachedIndex): Comparison {
  const alive = new Uint8Array(base.files.length)
  const stale: IndexedFile[] = []
  for (const file of files) {
    const number = numbers.get(file.path)
    if (number === undefined || base.files[number]?.key !== file.key) stale.push(file)
    else for (let part = number; base.files[part]?.path === file.path; part++) alive[part] = 1
  }
  return { alive, stale }
}

function isSame(files: readonly IndexedFile[], others: readonly IndexedFile[]): boolean {
  return (
    files.length === others.length &&
    files.every(({ path, key }, i) => others[i]?.path === path && others[i]?.key === key)
  )
}
