import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { build } from 'esbuild'
import { bundleTests, TESTS } from './bundle-tests.ts'

/** Bundles the test files and runs them with Node's own test runner; `npm test -- test/wallet` runs those of one folder. */

/** Longest time that one file may take, in milliseconds. */
const FILE_MS = 300_000

const places = process.argv.slice(2)
const files = testFiles().filter((file) => places.length === 0 || places.some((place) => file.startsWith(place)))
if (files.length === 0) throw new Error(`No test file below ${places.join(', ')}.`)

rmSync(TESTS, { recursive: true, force: true })
await build(bundleTests(files))
const reporters = ['dot', resolve(TESTS, 'scripts/slowest.js')]
const runner = spawn(
  process.execPath,
  [
    '--enable-source-maps',
    '--test',
    `--test-concurrency=${availableParallelism()}`,
    `--test-timeout=${FILE_MS}`,
    ...reporters.flatMap((reporter) => [`--test-reporter=${reporter}`, '--test-reporter-destination=stdout']),
    ...files.map((file) => `${TESTS}/${file.replace(/\.ts$/, '.js')}`),
  ],
  { stdio: 'inherit' },
)
const [code] = await once(runner, 'exit')
process.exitCode = code ?? 1

/** Paths of all test files, with slashes on every system. */
function testFiles(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
}
