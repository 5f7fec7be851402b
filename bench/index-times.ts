import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { contextOf } from './retrieval/context-of.ts'
import { textsBelow } from './retrieval/index-of.ts'
import { JUDGED } from './retrieval/questions.ts'
import { fetchRepositories } from './retrieval/repositories.ts'
import { median } from './stats.ts'

const LARGE = { files: 5_000, bytes: 33_000_000 }
const HUGE = { files: 50_000, bytes: 33_000_000 }
const ROUNDS = 9
const QUESTION = 'where is the connection of a client closed after a timeout'

/** The time that the index of a large project takes, and work contexts with it. */
export async function section(report: Report): Promise<void> {
  const folders = fetchRepositories(JUDGED.map(({ source }) => source))
  const texts = folders.flatMap((folder) => [...textsBelow(folder).values()])
  for (const { files, bytes } of [LARGE, HUGE]) {
    const root = projectOf(texts, files, bytes)
    const data = temporaryFolder('context-data')
    const what = `index of ${files.toLocaleString('en')} files, ${bytes / 1e6} MB`
    const { get } = contextOf(data)
    await get({ query: QUESTION, focus: 'none' }, [temporaryFolder('warm-up')])
    const time = async (ask: typeof get) => {
      const begun = performance.now()
      await ask({ query: QUESTION }, [root])
      return performance.now() - begun
    }
    const [bars] =
      files === LARGE.files ? [{ made: 3_000, later: 150, warm: 60 }] : [{ made: null, later: null, warm: 150 }]
    report.add({
      what: `${what}: made, with the first work context`,
      unit: 'ms',
      figure: await time(get),
      ...barOf(bars.made),
    })
    const later = []
    for (let i = 0; i < ROUNDS; i++) later.push(await time(contextOf(data).get))
    report.add({
      what: `${what}: first work context of a later process`,
      unit: 'ms',
      figure: median(later),
      ...barOf(bars.later),
    })
    const warm = []
    for (let i = 0; i < ROUNDS; i++) warm.push(await time(get))
    report.add({ what: `${what}: later work contexts`, unit: 'ms', figure: median(warm), ...barOf(bars.warm) })
  }
}

const barOf = (atMost: number | null) => (atMost === null ? {} : { bar: { atMost } })

/** A git repository of so many files: parts of real texts. */
function projectOf(texts: readonly string[], files: number, bytes: number): string {
  const root = temporaryFolder('large')
  const size = Math.floor(bytes / files)
  const all = Buffer.from(texts.join('\n'))
  for (let i = 0; i < files; i++) {
    const path = join(root, `part${i % 97}/area${i % 13}/file${i}.ts`)
    mkdirSync(dirname(path), { recursive: true })
    const from = (i * size) % Math.max(1, all.length - size)
    writeFileSync(path, all.subarray(from, from + size))
  }
  const git = (...args: string[]) =>
    // Nothing that goes on behind the commit.
    execFileSync('git', ['-C', root, '-c', 'gc.auto=0', '-c', 'maintenance.auto=false', ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  git('init', '-q')
  git('add', '-A')
  git(
    '-c',
    'user.name=Ada',
    '-c',
    'user.email=ada@example.org',
    '-c',
    'commit.gpgSign=false',
    'commit',
    '-q',
    '-m',
    'All',
  )
  return root
}
