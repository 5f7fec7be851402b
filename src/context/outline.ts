import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { isUnreadable } from '../repository/confine.ts'
import { createDirectories } from './directories.ts'
import { attended, whyFile } from './file-reasons.ts'
import type { Layout } from './folder-structure.ts'
import { attentionInterest, focusInterest, queryInterest, weightOf } from './interest.ts'
import { byInterest, type ScoredFile, unremarkable } from './score.ts'
import { type Place, signalsOf } from './work-context.ts'

/** A place that may become part of the context. */
export interface Candidate {
  /** Without children and excerpt. */
  place: Place
  /** The file that a region is in. */
  file: Candidate | null
  /** Lines that its excerpt would show; null when it has none. */
  lines: { path: string; from: number; to: number } | null
}

/** All candidates for the context, and the directories around them. */
export interface Outline {
  /** Files and regions with weight, most interesting first. A file comes before its regions. */
  candidates: Candidate[]
  /** The top level of the tree, to fill the rest of the budget. */
  overview: Candidate[]
  /** Returns the directory at `path` as a place without children. */
  directory: (path: string) => Place
  /** True when more files have weight than `limit`. */
  more: boolean
}

/** Options of {@link createOutline}. */
export interface OutlineOptions {
  /** Layout of all files that may be shown. */
  layout: Layout
  /** Maximum number of files; reading the size of each takes a system call. */
  limit: number
  /** Number of commits that were read, for the text of the reasons. */
  commits: number
  focus: string | null
  /** True with a query: then only files with a signal of work show their first lines. */
  isSearched: boolean
  now: Date
}

/** Turns files with interest into places. Skips files that are missing or are links. */
export function createOutline(root: string, files: ScoredFile[], options: OutlineOptions): Outline {
  const weighty = files.filter((file) => weightOf(file.interest) > 0).sort(byInterest)
  const most = highestInterest(weighty, options)
  const groups = weighty.slice(0, options.limit).map((file) => candidatesOf(root, file, { ...options, most }))
  const directory = createDirectories(files, { ...options, most })
  return {
    candidates: groups.flat().sort(byWeight),
    overview: overviewOf(root, files, { ...options, most }, directory),
    directory,
    more: weighty.length > options.limit,
  }
}

/** The options with the highest interest of the context, which weighs 1. */
type WeighingOptions = OutlineOptions & { most: number }

/** The highest interest of files and of the focus, which may be a folder. */
function highestInterest([first]: readonly ScoredFile[], { layout, focus }: OutlineOptions): number {
  const ofFolder = focus !== null && layout.filesBelow.has(focus) ? focusInterest(0) : 0
  return Math.max(first?.interest ?? 0, ofFolder)
}

/** Sort order that keeps a file before its regions: they never weigh more, and the sort is stable. */
function byWeight(a: Candidate, b: Candidate): number {
  return b.place.weight - a.place.weight
}

function candidatesOf(root: string, file: ScoredFile, options: WeighingOptions): Candidate[] {
  const { commits, now, most, isSearched } = options
  const size = sizeOf(root, file)
  if (size === null) return []
  const { path, attention, change } = file
  const place: Place = {
    path,
    kind: 'file',
    weight: weightOf(file.interest, most),
    why: whyFile(file, commits, now),
    signals: signalsOf({ dwell_ms: attention?.dwellMs ?? null, git: change, size }),
  }
  const whole = { path, from: 1, to: Number.POSITIVE_INFINITY }
  const isWork = attention !== null || change !== null || file.terms.focusDistance === 0
  const candidate = { place, file: null, lines: change === 'deleted' || (isSearched && !isWork) ? null : whole }
  if (change === 'deleted') return [candidate]
  const regions = regionsOf(file, now, most).map(({ from, to, weight, why, dwellMs }) => ({
    place: {
      path: `${path}#L${from}-L${to}`,
      kind: 'region' as const,
      weight,
      why,
      signals: signalsOf({ dwell_ms: dwellMs }),
    },
    file: candidate,
    lines: { path, from, to },
  }))
  return [candidate, ...regions]
}

/** Bytes of the file. 0 when git reports it as deleted; null when it is missing or not a regular file. */
function sizeOf(root: string, file: ScoredFile): number | null {
  if (file.change === 'deleted') return 0
  try {
    // Synchronous: a few microseconds each, faster than a few hundred calls through the thread pool.
    const info = lstatSync(join(root, file.path), { throwIfNoEntry: false })
    return info?.isFile() ? info.size : null
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
}

/** The attended ranges and the passages that match the query. When they overlap, one region has both reasons. */
function regionsOf({ attention, passages, terms }: ScoredFile, now: Date, most: number) {
  const matched = queryInterest(terms.match)
  const overlaps = (a: { from: number; to: number }, b: { from: number; to: number }) =>
    a.from <= b.to && b.from <= a.to
  const attendedRegions = (attention?.regions ?? []).map((region) => {
    const matches = passages.some((passage) => overlaps(region, passage))
    const interest = attentionInterest(region.decayedMs) + (matches ? matched : 0)
    const why = [...(matches ? ['matches the query'] : []), attended(region, now)]
    return { ...region, weight: weightOf(interest, most), why }
  })
  const quoted = passages
    .filter((passage) => !attendedRegions.some((region) => overlaps(region, passage)))
    .map((passage) => ({ ...passage, weight: weightOf(matched, most), why: ['matches the query'], dwellMs: 0 }))
  return [...attendedRegions, ...quoted]
}

function overviewOf(
  root: string,
  files: readonly ScoredFile[],
  options: WeighingOptions,
  directory: (path: string) => Place,
): Candidate[] {
  const { topFolders, topFiles } = options.layout
  const known = new Map(files.map((file) => [file.path, file]))
  const plain = topFiles
    .map((path) => known.get(path) ?? unremarkable(path))
    .filter(({ interest }) => weightOf(interest) === 0)
  const shown = plain.slice(0, options.limit).map((file) => candidatesOf(root, file, options))
  const top = shown.flat().map(({ place }) => ({ place: { ...place, why: ['top level'] }, file: null, lines: null }))
  return [...topFolders.map((path) => ({ place: directory(path), file: null, lines: null })), ...top]
}
