import { GazewayError } from '../errors.ts'
import { cut } from '../text/cut.ts'
import { defused, defusedJson } from '../text/defuse-client-tags.ts'
import type { Form } from './context-format.ts'
import type { FileAttention } from './file-attention.ts'
import { createExcerptReader, createTextReader } from './file-excerpt.ts'
import { fit } from './fit-token-budget.ts'
import { distanceTo } from './focus-distance.ts'
import { layoutOf } from './folder-structure.ts'
import { createOutline } from './outline.ts'
import { MAX_FILES, type ProjectTree } from './project-tree.ts'
import { type ScoredFile, scoreFiles } from './score.ts'
import type { Asked, Matches } from './search/matcher.ts'
import { findPassages } from './search/passages.ts'
import type { ContextMemory, WorkContext } from './work-context.ts'

/** Fields of a stored memory that the context uses. */
export interface StoredMemory {
  key: string
  namespace: string
  value: unknown
  tags: string[]
  updated_at: string
}

/** A validated request for a context. */
export interface Request {
  /** Path with links resolved. */
  root: string
  focus: Focus | null
  query: string | undefined
  maxTokens: number
  form: Form
  /** True to return only files and memories that are related to the query. */
  onlyRelated: boolean
  now: Date
}

/** A focus, relative to the root. */
type Focus = { path: string; exists: boolean }

/** Attention and memories of a project, as the store has them. */
export interface Known {
  attention: ReadonlyMap<string, FileAttention>
  memories: readonly StoredMemory[]
  /** Parts that could not be read, in plain words. */
  notes: string[]
}

const MEMORY_LENGTH = 800
/** Fewest tokens of a place: its line has a name, a weight and a reason. */
const TOKENS_PER_PLACE = 8

/** Describes what to search for in a tree. */
export function askedOf({ changes }: ProjectTree, { attention }: Known, { focus, query }: Request): Asked {
  return { query, hasSignal: focus !== null || attention.size > 0 || changes.size > 0 }
}

/**
 * Composes the context of a tree from stored attention, memories and search matches. The text of files is read now.
 *
 * @throws GazewayError `cancelled`
 */
export async function compose(
  { tree, known, matches }: { tree: ProjectTree; known: Known; matches: Matches },
  { root, focus: resolved, maxTokens, form, onlyRelated, now }: Request,
  countTokens: (text: string) => Promise<number> | number,
  signal: AbortSignal | undefined,
): Promise<WorkContext> {
  const { attention, memories } = known
  const { match, referred } = matches
  const focus = resolved && asListed(resolved, tree.files)
  const { places } = layoutOf(tree.files)
  const distance = focus && distanceTo(focus.path, places.has(focus.path))
  const scored = await scoreFiles(root, tree, { attention, distance, match, referred, now })
  const chosen = onlyRelated ? relatedFiles(scored, matches) : scored
  const texts = createTextReader(root)
  const files = await findPassages(texts, chosen, matches, maxTokens)
  const limit = Math.ceil(maxTokens / TOKENS_PER_PLACE)
  const outline = createOutline(root, files, {
    layout: layoutOf(onlyRelated ? files.map(({ path }) => path) : tree.files),
    limit,
    commits: tree.commits.length,
    isSearched: matches.found !== null,
    focus: focus?.path ?? null,
    now,
  })
  throwIfCancelled(signal)

  const notes = [
    ...(focus ? aboutFocus(focus, tree) : []),
    ...(tree.complete ? [] : [`more than ${MAX_FILES} files, or slow patterns in a .gitignore: the rest was not read`]),
    ...tree.notes,
    ...matches.notes,
    ...known.notes,
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
    countTokens,
    excerptOf: createExcerptReader(texts),
  })
}

/**
 * Replaces the focus by the spelling of the file list: macOS stores names decomposed (NFD), people type them composed.
 */
function asListed(focus: Focus, files: readonly string[]): Focus {
  if (focus.exists) return focus
  const composed = focus.path.normalize('NFC')
  const listed = files.find((path) => `${path.normalize('NFC')}/`.startsWith(`${composed}/`))
  if (listed === undefined || listed.startsWith(focus.path)) return focus
  return { path: listed.split('/').slice(0, composed.split('/').length).join('/'), exists: true }
}

function aboutFocus(focus: Focus, { files, complete }: ProjectTree): string[] {
  if (!focus.exists) return ['the focus does not exist; its neighbours are weighed']
  const inside = focus.path === '' ? '' : `${focus.path}/`
  if (!complete || files.some((path) => path === focus.path || path.startsWith(inside))) return []
  return [
    'the focus is not a file of the project: it is ignored, empty, or in another repository; ask with that as root',
  ]
}

/** Cuts a long value to its first 800 characters, as text, and defuses tags of clients. */
function shorten(memory: StoredMemory): ContextMemory {
  const { key, namespace, value, tags, updated_at } = memory
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const isLong = text.length > MEMORY_LENGTH
  return {
    key: defused(key),
    namespace: defused(namespace),
    value: isLong ? defused(cut(text, 0, MEMORY_LENGTH)) : defusedJson(value),
    ...(isLong && { cut: true as const }),
    ...(tags.length > 0 && { tags: tags.map(defused) }),
    updated_at,
  }
}

function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new GazewayError('cancelled', 'The caller cancelled the work context.')
}

/**
 * Smallest share of a question's terms, weighted by rarity, that a file needs to be sent with the question. Files
 * rarely hold half of an unrelated question.
 */
const FLOOR = 0.5
/** Factor on this share for a file with attention or changes. */
const FLOOR_OF_WORK = 0.7
/**
 * Terms up to which the share holds. For longer questions it is smaller, since even the right file has a smaller share.
 */
const SHORT = 8

/** Selects the files that a question is about. Only these may be sent to another machine with it. */
function relatedFiles(files: readonly ScoredFile[], { found, share }: Matches): ScoredFile[] {
  if (found === null) return []
  const floor = FLOOR * Math.cbrt(SHORT / Math.max(SHORT, found.terms.length))
  return files.filter((file) => {
    const isWork = file.attention !== null || file.change !== null
    return file.terms.match > 0 && (share.get(file.path) ?? 0) >= (isWork ? floor * FLOOR_OF_WORK : floor)
  })
}
