import assert from 'node:assert/strict'
import { execFile as execFileCallback, execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { cellsOf, isMissed, type Measure } from '../../bench/measure.ts'
import { readResults, resultsFile, SECTION_NAMES } from '../../bench/results.ts'
import { scriptArgs } from '../doubles/script.ts'
import { json, startUpstream } from '../doubles/upstream.ts'

const execFile = promisify(execFileCallback)

const page = readFileSync('docs/benchmarks.md', 'utf8')
/** The table of adversaries stands beside what it is about. */
const attention = readFileSync('docs/reference/attention.md', 'utf8')

describe('the stored results of the bench', () => {
  it('have a place in docs/benchmarks.md for each section, in the order of a run', () => {
    const places = [...page.matchAll(/<!-- generated:start from (bench\/results\/\S+) by npm run docs -->/g)]
    assert.deepEqual(
      places.map(([, file]) => file),
      SECTION_NAMES.filter((name) => name !== 'attention').map(resultsFile),
    )
  })

  it('are of sections that exist, and of the shape that a run writes', () => {
    const stored = readdirSync('bench/results')
    assert.ok(stored.length > 10, `there are ${stored.length}`)
    for (const name of SECTION_NAMES) {
      const results = readResults(name)
      assert.equal(results !== null, stored.includes(`${name}.json`), name)
      for (const measure of results?.measures ?? [])
        assert.ok((page + attention).includes(cellsOf(measure).join(' | ')), measure.what)
    }
    for (const file of stored)
      assert.ok(
        SECTION_NAMES.some((name) => file === `${name}.json`),
        `${file} has no section`,
      )
  })
})

describe('a run of the bench', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-bench-written-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('writes a section’s results, and tells where the tree had changed', () => {
    mkdirSync(join(folder, 'bench/results'), { recursive: true })
    cpSync('package.json', join(folder, 'package.json'))
    const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' })
    git('init', '-q')
    git('add', '-A')
    git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'commit.gpgSign=false', 'commit', '-qm', 'All')
    const code = `
      import { readConditions, writeResults, readResults } from ${JSON.stringify(pathToFileURL(resolve('bench/results.ts')).href)}
      import { writeFileSync } from 'node:fs'
      const measures = [{ what: 'a start', unit: 'ms', figure: 12.5, bar: { atMost: 10 } }]
      writeResults('start', { conditions: readConditions()(), measures })
      const first = readResults('start')
      writeFileSync('package.json', '{}')
      writeResults('start', { conditions: readConditions()(), measures })
      console.log(JSON.stringify([first, readResults('start'), readResults('tools')]))`
    const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '--eval', code]
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    const [first, second, none] = JSON.parse(stdout || 'null') ?? assert.fail(stderr)
    assert.deepEqual(first.measures, [{ what: 'a start', unit: 'ms', figure: 12.5, bar: { atMost: 10 } }])
    const head = git('rev-parse', '--short=7', 'HEAD').trim()
    assert.deepEqual([first.conditions.commit, second.conditions.commit, none], [head, `${head}-dirty`, null])
    assert.equal(first.conditions.node, process.version)
  })

  it('refuses a section or a flag that does not exist, and measures nothing', () => {
    for (const [word, says] of [
      ['htpp', /no section htpp; there are start, resident/],
      ['--wriet', /--wriet/],
    ] as const) {
      const run = spawnSync(process.execPath, [...scriptArgs('bench/run.ts'), word], { encoding: 'utf8' })
      assert.notEqual(run.status, 0)
      assert.match(run.stderr, says)
    }
  })

  it('says how to name an embedding model, and why one does not answer', async () => {
    const upstream = await startUpstream()
    after(() => upstream.close())
    upstream.on('/embeddings', json(404, { error: { message: 'no embeddings here' } }))
    const run = (env: Record<string, string>) =>
      execFile(process.execPath, [...scriptArgs('bench/run.ts'), 'embeddings'], { env: { ...process.env, ...env } })
    await assert.rejects(run({}), { stderr: /Set GAZEWAY_BENCH_EMBEDDINGS_URL .* and GAZEWAY_BENCH_EMBEDDINGS_MODEL/ })
    const named = { GAZEWAY_BENCH_EMBEDDINGS_URL: upstream.url, GAZEWAY_BENCH_EMBEDDINGS_MODEL: 'nomic-embed-text' }
    await assert.rejects(run(named), { stderr: /no embeddings here/ })
    assert.deepEqual(
      upstream.received.map(({ body }) => body),
      [{ model: 'nomic-embed-text', input: ['gazeway'], encoding_format: 'float' }],
    )
  })
})

describe('a bar', () => {
  const measure = (figure: number, bar: Measure['bar'], peer = 10): Measure => ({
    what: 'a start',
    unit: 'ms',
    figure,
    against: { what: 'a peer', figure: peer },
    bar,
  })

  it('is missed above its most, or below its least', () => {
    const missed = [
      measure(6, { times: 0.5 }),
      measure(6, { atMost: 5, times: 0.5 }),
      measure(4, { atLeast: 5 }),
      measure(4, { atLeastTimes: 0.5 }),
      measure(1, { atMost: 0 }),
    ]
    for (const one of missed) assert.ok(isMissed(one), JSON.stringify(one))
    const kept = [
      measure(6, { atMost: 7, times: 0.5 }),
      measure(5, { times: 0.5 }),
      measure(6, undefined),
      measure(0, { atMost: 0 }),
    ]
    for (const one of kept) assert.ok(!isMissed(one), JSON.stringify(one))
  })

  it('is shown with the ratio and its result', () => {
    assert.deepEqual(cellsOf(measure(4, { times: 0.5 })), [
      'a start',
      '4 ms',
      '10 ms a peer',
      '0.400 ×',
      '≤ 0.5 ×',
      'ok',
    ])
    assert.deepEqual(cellsOf(measure(6.25, { atMost: 5, times: 0.5 })).slice(-3), [
      '0.625 ×',
      '≤ 0.5 × or 5 ms',
      'MISS',
    ])
  })
})
