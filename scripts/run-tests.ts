import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { dot } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import slowest from './slowest.ts'
import timeLine from './time-line.ts'
import unended from './unended.ts'

/**
 * Runs bundled test files in the order given: `run-tests.js [--times] AT-ONCE LONGEST-MS FILE...`. `node --test` would sort
 * them.
 */
const { values, positionals } = parseArgs({
  options: { times: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [atOnce, longestMs, ...files] = positionals
const events = run({ files, concurrency: Number(atOnce), timeout: Number(longestMs) })
events.on('test:fail', () => {
  process.exitCode = 1
})
// A reader of each reporter listens for several events.
events.setMaxListeners(0)
const reports = [dot, unended, slowest, ...(values.times ? [timeLine] : [])].map((reporter) => events.compose(reporter))
for (const report of reports) report.pipe(process.stdout)
await Promise.all(reports.map((report) => finished(report)))
// A program that a test has left behind keeps the pipes of its file open, and this process with them.
process.stdout.write('', () => process.exit())
