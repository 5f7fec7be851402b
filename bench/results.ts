import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import * as z from 'zod'
import { Measure } from './measure.ts'

/** The names of the sections, in the order in which they are measured. */
export const SECTION_NAMES = [
  'start',
  'resident',
  'tools',
  'memory',
  'retrieval',
  'index',
  'answers',
  'embeddings',
  'context',
  'http',
  'messages',
  'bodies',
  'store',
  'wallet',
  'budgets',
  'sessions',
  'socket',
  'tasks',
  'settlement',
  'skills',
  'console',
  'waits',
  'attention',
  'reviews',
] as const
export type SectionName = (typeof SECTION_NAMES)[number]

/** The conditions of a run: figures mean little without them. */
const Conditions = z.object({
  /** UTC. */
  date: z.iso.date(),
  /** Short hash, followed by `-dirty` where files had changed since. */
  commit: z.string(),
  cores: z.int(),
  cpu: z.string(),
  memory_gb: z.number(),
  node: z.string(),
  /** Load average of one minute, before and after. */
  load_before: z.number(),
  load_after: z.number(),
})
export type Conditions = z.infer<typeof Conditions>

/** The results of one section, as `bench/results/NAME.json` keeps them. */
export const Results = z.object({ conditions: Conditions, measures: z.array(Measure) })
export type Results = z.infer<typeof Results>

/**
 * Reads the conditions of a run that begins now.
 *
 * @returns a function that completes them once the run is over
 */
export function readConditions(): () => Conditions {
  const before = { date: new Date().toISOString().slice(0, 10), commit: commit(), load_before: load() }
  return () => ({
    ...before,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? 'unknown',
    memory_gb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    load_after: load(),
  })
}

/** The conditions in one line. */
export function shownConditions(conditions: Conditions): string {
  const { date, commit, cores, cpu, memory_gb, node, load_before, load_after } = conditions
  return (
    `${date}, commit ${commit}, ${cores} cores (${cpu}), ${memory_gb} GB, Node ${node}, ` +
    `load average ${load_before} before, ${load_after} after`
  )
}

/** The file of a section's results, from the working directory. */
export const resultsFile = (name: SectionName): string => `bench/results/${name}.json`

/**
 * The stored results of a section.
 *
 * @returns null where the section has not been measured yet
 * @throws ZodError where the file has another shape
 */
export function readResults(name: SectionName): Results | null {
  try {
    return Results.parse(JSON.parse(readFileSync(resultsFile(name), 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Stores the results of a section in place of its earlier ones. */
export function writeResults(name: SectionName, results: Results): void {
  writeFileSync(resultsFile(name), `${JSON.stringify(results, null, 2)}\n`)
}

/** The results themselves do not make a tree dirty: a run writes one file after the other. */
function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const hash = git('rev-parse', '--short=7', 'HEAD')
  const changed = git('status', '--porcelain', '--', '.', ':!bench/results', ':!docs/benchmarks.md', ':!README.md')
  return changed ? `${hash}-dirty` : hash
}

/** The load average of the last minute. */
function load(): number {
  return Number((loadavg()[0] ?? 0).toFixed(2))
}
