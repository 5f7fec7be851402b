import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { bundleTests, programName, TESTS } from './bundle-tests.ts'
import { LONGEST_TESTS } from './longest-tests.ts'
import { byProcess } from './test-processes.ts'
import { asThreads } from './threads.ts'

/**
 * Bundles test files and runs them with Node's own test runner; `npm test -- test/wallet` runs those of one folder.
 *
 * `npm test` runs files named `*.test.ts`, which show that each feature works. `npm run test:long` (`--long`) runs those named
 * `*.long.ts`, which repeat it: kill loops, matrices of faults, a second engine. A test finds files with another name. With
 * `--times` they end with when each program began and ended.
 */

/** Longest time that a case, and all files of a process, may take, in milliseconds. */
const MOST_MS = { case: 300_000, process: 600_000 }
/** The same for long files. */
const MOST_LONG_MS = { case: 900_000, process: 900_000 }
/** Programs that run at once: most of them wait for others half of the time, for a clock, a browser or a command. */
const AT_ONCE = availableParallelism() + 4
/** Linux's folder in memory, where stores and servers do not wait for a disk. */
const IN_MEMORY = '/dev/shm'
/** Room that the files of all tests need there, in bytes. */
const ROOM = 4 << 30

const { values, positionals: places } = parseArgs({
  options: { long: { type: 'boolean', default: false }, times: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const most = values.long ? MOST_LONG_MS : MOST_MS
const ending = values.long ? '.long.ts' : '.test.ts'
const files = longestFirst(testFiles()).filter(
  (file) => file.endsWith(ending) && (places.length === 0 || places.some((place) => file.startsWith(place))),
)
if (files.length === 0) throw new Error(`No file named *${ending} below ${places.join(', ')}.`)

const processes = byProcess(files)
rmSync(TESTS, { recursive: true, force: true })
await Promise.all([build(bundleTests(processes)), build(asThreads({ ...bundleTests([]), plugins: [] }))])
// A short name: some messages that tests read are cut at a length, and hold a path.
const temporary = mkdtempSync(join(parentFolder(), 'gw-'))
// PostgreSQL, as a user of its own, reaches its files in it.
chmodSync(temporary, 0o755)
process.on('exit', removeTemporary)
const runner = spawn(
  process.execPath,
  [
    // Reading them takes a tenth of each process. Where a whole run fails, its file is run by itself.
    ...(places.length > 0 ? ['--enable-source-maps'] : []),
    `--test-timeout=${most.case}`,
    `${TESTS}/scripts/run-tests.js`,
    ...(values.times ? ['--times'] : []),
    `${AT_ONCE}`,
    `${most.process}`,
    ...processes.map((files) => resolve(TESTS, `${programName(files)}.js`)),
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      TMPDIR: temporary,
      GAZEWAY_TEST_LONG: values.long ? '1' : '',
      GAZEWAY_TEST_CLUSTER: join(temporary, 'cluster'),
      GAZEWAY_TEST_STORE: join(temporary, 'empty.db'),
      GAZEWAY_TEST_PROGRAMS: join(temporary, 'programs'),
    },
  },
)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => runner.kill(signal))
const [code] = await once(runner, 'exit')
process.exitCode = code ?? 1

/** Paths of all test files, long ones too, with slashes on every system. */
function testFiles(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(test|long)\.ts$/.test(name))
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
    .sort()
}

function longestFirst(all: string[]): string[] {
  const gone = LONGEST_TESTS.filter((file) => !all.includes(file))
  if (gone.length > 0) throw new Error(`No test file ${gone.join(', ')}: mend scripts/longest-tests.ts.`)
  return [...new Set([...LONGEST_TESTS, ...all])]
}

/** Removes the temporary files, but for a folder that a test which was killed has left mounted. */
function removeTemporary(): void {
  try {
    rmSync(temporary, { recursive: true, force: true })
  } catch (error) {
    console.error(`Remove ${temporary} yourself: ${error instanceof Error ? error.message : error}`)
  }
}

/** The folder for temporary files: in memory where there is room, unless `TMPDIR` names another. */
function parentFolder(): string {
  if (process.env.TMPDIR || !existsSync(IN_MEMORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(IN_MEMORY)
  return bavail * bsize < ROOM ? tmpdir() : IN_MEMORY
}
