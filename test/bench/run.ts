import { section as context } from './context.ts'
import { section as memory } from './memory.ts'
import { createReport } from './report.ts'
import { section as resident } from './resident.ts'
import { section as start } from './start.ts'

/**
 * Measures the built command against its peer and prints a table; exit code 1 when a figure is above its bar.
 *
 * @example npm run bench -- start memory     only these sections
 * @example npm run bench -- --json           for programs
 */

const SECTIONS = { start, resident, memory, context }
type Name = keyof typeof SECTIONS

const words = process.argv.slice(2)
const names = words.filter((word) => word !== '--json')
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
process.stdout.write(`${words.includes('--json') ? report.json() : report.table()}\n`)
process.exitCode = report.missed() ? 1 : 0
