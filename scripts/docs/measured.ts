import { COLUMNS, cellsOf } from '../../bench/measure.ts'
import { readResults, type SectionName, shownConditions } from '../../bench/results.ts'
import type { BarsOf } from '../pictures/bars.ts'
import { table } from './table.ts'

/** The stored results of a section of the bench: their conditions, and a table with their bars. */
export function measuredTable(name: SectionName): string {
  const results = readResults(name)
  if (!results) return `Not measured yet: \`npm run bench -- ${name} --write\` does.`
  const { conditions, measures } = results
  return `${shownConditions(conditions)}.\n\n${table(COLUMNS, measures.map(cellsOf))}`
}

/**
 * The figures that README.md opens with: a peer's in the same run stands beside each.
 * `what` is a row of the section's results.
 */
const HEADLINES: ReadonlyArray<{ says: string; section: SectionName; what: string }> = [
  {
    says: 'A process start until the list of tools is answered',
    section: 'start',
    what: 'process start → tools/list answered',
  },
  {
    says: 'A search of 100,000 memories over stdio',
    section: 'memory',
    what: 'search over stdio, 100,000 memories: a telling word',
  },
  {
    says: 'Chat completions a second through the gateway, with keys, usage and call records on, 64 connections',
    section: 'http',
    what: 'JSON, 64 connections (wrk)',
  },
  {
    says: 'Added to a chat completion, one connection, p50',
    section: 'http',
    what: 'added to a JSON request, one connection, p50',
  },
  {
    says: 'Added by metering to a call, durable on SQLite, p50',
    section: 'wallet',
    what: 'what metering adds to it, SQLite',
  },
]

/**
 * The five figures of README.md with their conditions.
 *
 * @throws Error when the results have no such row
 */
export function headlineTable(): string {
  const rows = HEADLINES.map(({ says, section, what }) => {
    const results = readResults(section)
    const measure = results?.measures.find((one) => one.what === what)
    if (!results || !measure)
      throw new Error(`The results of ${section} have no row "${what}": name another in scripts/docs/measured.ts.`)
    const [, figure = '', against = ''] = cellsOf(measure)
    const { date, cores, cpu, node } = results.conditions
    return [says, figure, against, `${date}, ${cores} cores (${cpu}), Node ${node}`]
  })
  return table(['what', 'Gazeway', 'beside', 'measured on'], rows)
}

/** Pictures of docs/benchmarks.md, by their names in docs/images/. */
export const FIGURES: Readonly<Record<string, BarsOf>> = {
  'bench-tools': {
    title: 'The tool server: less is better',
    rows: [
      { says: 'Process start → tools/list answered', section: 'start', what: 'process start → tools/list answered' },
      {
        says: 'Search of 100,000 memories over stdio',
        section: 'memory',
        what: 'search over stdio, 100,000 memories: a telling word',
      },
      { says: 'Store over stdio, 50,000 memories', section: 'memory', what: 'store over stdio, 50,000 memories' },
      { says: 'Resident, idle', section: 'resident', what: 'resident, idle' },
    ],
  },
  'bench-gateway': {
    title: 'The model gateway',
    rows: [
      { says: 'JSON, 64 connections: more is better', section: 'http', what: 'JSON, 64 connections (wrk)' },
      { says: 'CPU per request: less is better', section: 'http', what: 'CPU per JSON request' },
      {
        says: 'Added to a request, p50: less is better',
        section: 'http',
        what: 'added to a JSON request, one connection, p50',
      },
      { says: 'p99, 64 connections: less is better', section: 'http', what: 'p99, 64 connections' },
    ],
  },
}
