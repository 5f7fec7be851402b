import { inverseFrequency, lengthNorm, saturation } from '../../text/bm25.ts'
import { type FileKind, kindsAskedFor, kindsOf } from './file-kind.ts'
import type { QueryTerms } from './query-terms.ts'
import { IN, type IndexedFile, type Postings, type Segment } from './segment.ts'
import { vendoredFolders } from './vendored-folders.ts'
import { WEIGHTS, type Weights } from './weights.ts'

/** A segment, and which of its files are current. */
export interface LiveSegment {
  segment: Segment
  /** 1 for a file that is searched. */
  alive: Uint8Array
}

/** A file that holds terms of the query. */
export interface Ranked {
  path: string
  /** See {@link rank}. */
  score: number
  /** Share of the query in the file, 0–1: idf of its terms divided by the idf of all terms. */
  share: number
  /** Number of its best part, see `partsOf`. */
  part: number
}

/** Maximum number of results. */
const MOST = 200
/** Results below this fraction of the best score are dropped. */
const FLOOR = 0.1

/**
 * Ranks the files that answer a query, best first:
 *
 *     score = kind · Σ idf · (tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average)) + name + folder + definition)
 *     idf   = ln(1 + (N − df + ½) / (df + ½))
 *
 * The sum is over the terms of the query. The first summand is BM25 on the text (`text/bm25.ts`). The others are
 * weights for a term in that place. `kind` is below 1 for tests, prose and other kinds, unless the query asks for them.
 */
export function rank(live: readonly LiveSegment[], query: QueryTerms, weights: Weights = WEIGHTS): Ranked[] {
  const held = live.map(({ segment, alive }) => {
    const terms = query.terms.map((term) => segment.find(term))
    return { segment, alive, terms, scores: new Float64Array(alive.length), found: new Uint32Array(alive.length) }
  })
  const { count, average } = sizeOf(live)
  const idf = query.terms.map((_, t) => {
    const holders = held.reduce((sum, { terms, alive }) => sum + holding(terms[t] ?? null, alive), 0)
    return inverseFrequency(count, holders)
  })
  for (const { segment, alive, terms, scores, found } of held)
    terms.forEach((postings, t) => {
      const weight = idf[t] ?? 0
      for (let i = 0; i < (postings?.files.length ?? 0); i++) {
        const file = postings?.files[i] ?? 0
        if (alive[file] === 0) continue
        const mark = postings?.marks[i] ?? 0
        const norm = lengthNorm(segment.lengths[file] ?? 0, average, weights)
        const inText = (weights.k1 + 1) * saturation(mark >>> 8, norm, weights)
        const beside =
          (mark & IN.name ? weights.name : 0) +
          (mark & IN.folder ? weights.folder : 0) +
          (mark & IN.definition ? weights.definition : 0)
        scores[file] = (scores[file] ?? 0) + weight * (inText + beside)
        found[file] = (found[file] ?? 0) | (1 << t)
      }
    })

  const asked = kindsAskedFor(query.terms)
  const vendored = live[0] ? vendoredIn(live[0].segment) : []
  const ranked = held.flatMap(({ segment, scores, found }) => {
    const files: Array<Omit<Ranked, 'share'> & { found: number }> = []
    for (let i = 0; i < scores.length; i++) {
      const score = scores[i] ?? 0
      const file = segment.files[i]
      if (score === 0 || file === undefined) continue
      files.push({ path: file.path, part: file.part ?? 0, score: score * kindWeight(file), found: found[i] ?? 0 })
    }
    return files
  })

  function kindWeight(file: IndexedFile): number {
    let weight = 1
    for (const kind of kindsOfFile(file, vendored)) if (!asked.has(kind)) weight = Math.min(weight, weights.kinds[kind])
    return weight
  }

  // Whole identifiers do not count for the share, because their parts do.
  const parts = idf.map((weight, t) => (query.isWhole[t] ? 0 : weight))
  const total = parts.reduce((sum, weight) => sum + weight, 0) || 1
  const shareOf = (found: number) =>
    parts.reduce((sum, weight, t) => (found & (1 << t) ? sum + weight : sum), 0) / total
  ranked.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
  const least = FLOOR * (ranked[0]?.score ?? 0)
  const best = new Map<string, (typeof ranked)[number]>()
  for (const file of ranked) if (file.score >= least && !best.has(file.path)) best.set(file.path, file)
  return [...best.values()].slice(0, MOST).map(({ found, ...file }) => ({ ...file, share: shareOf(found) }))
}

const folders = new WeakMap<Segment, readonly string[]>()

function vendoredIn(segment: Segment): readonly string[] {
  const made = folders.get(segment) ?? vendoredFolders(segment.files.map(({ path }) => path))
  folders.set(segment, made)
  return made
}

const kinds = new WeakMap<IndexedFile, readonly FileKind[]>()

function kindsOfFile(file: IndexedFile, vendored: readonly string[]): readonly FileKind[] {
  const known = kinds.get(file)
  if (known) return known
  const isForeign = file.generated || vendored.some((folder) => file.path.startsWith(folder))
  const made = isForeign ? [...kindsOf(file.path), 'generated' as const] : kindsOf(file.path)
  kinds.set(file, made)
  return made
}

function holding(postings: Postings | null, alive: Uint8Array): number {
  let count = 0
  for (const file of postings?.files ?? []) count += alive[file] ?? 0
  return count
}

function sizeOf(live: readonly LiveSegment[]): { count: number; average: number } {
  let count = 0
  let total = 0
  for (const { segment, alive } of live)
    for (let i = 0; i < alive.length; i++) {
      if (alive[i] === 0) continue
      count++
      total += segment.lengths[i] ?? 0
    }
  return { count, average: Math.max(1, total / Math.max(1, count)) }
}
