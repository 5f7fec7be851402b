import { statSync } from 'node:fs'
import { join } from 'node:path'
import { definitionsIn } from '../src/context/search/definitions.ts'
import { kindsAskedFor, kindsOf } from '../src/context/search/file-kind.ts'
import { queryTerms } from '../src/context/search/query-terms.ts'
import { rank } from '../src/context/search/rank.ts'
import { eachRun, termsOfRun } from '../src/context/search/terms.ts'
import { partsOf } from '../src/context/search/text-parts.ts'
import { WEIGHTS } from '../src/context/search/weights.ts'
import { driver } from '../src/store/sqlite/driver.ts'
import { temporaryFolder } from './folder.ts'
import { HELD_OUT } from './retrieval/held-out-questions.ts'
import { indexOf, textsBelow } from './retrieval/index-of.ts'
import { OWN, REPORTED } from './retrieval/own-questions.ts'
import { type Asked, JUDGED } from './retrieval/questions.ts'
import { fetchRepositories } from './retrieval/repositories.ts'
import { median } from './stats.ts'

/**
 * Compares the file index of the work context with SQLite's FTS5 on the questions of the section `retrieval`: the share
 * with a right file first and among the first ten, the processor's time for building and for one query, and the bytes.
 *
 * FTS5 gets the same terms, in four columns with the same weights, and the same factors for tests, prose and other kinds
 * of files; `plain` has the texts as they are, with its own tokenizer and stemmer.
 *
 * @example npx tsx bench/compare-fts5.ts
 */

/** Finds the files of a query, best first. */
type Search = (query: string) => string[]

interface Made {
  search: Search
  buildMs: number
  bytes: number
}

const MAKERS: Readonly<Record<string, (root: string) => Made>> = {
  'own index': ownIndex,
  'FTS5, same terms': (root) => ftsIndex(root, { tokenizer: 'unicode61', written: spacedTerms, asked: sameTerms }),
  'FTS5, plain': (root) =>
    ftsIndex(root, { tokenizer: 'porter unicode61', written: (text) => text, asked: plainTerms }),
}

function ownIndex(root: string): Made {
  const [live, buildMs] = timed(() => indexOf(root))
  const search: Search = (query) => {
    const terms = queryTerms(query)
    return terms === null ? [] : rank([live], terms).map(({ path }) => path)
  }
  return { search, buildMs, bytes: live.segment.bytes.length }
}

/** Words as FTS5 gets them. */
interface Words {
  tokenizer: string
  written(text: string): string
  asked(query: string): string[]
}

function ftsIndex(root: string, { tokenizer, written, asked }: Words): Made {
  const file = join(temporaryFolder('fts5'), 'index.db')
  const database = driver.open(file)
  database.exec(`pragma journal_mode = wal; create table files (number integer primary key, path text);
    create virtual table texts using fts5(text, name, folder, definition, content = '', tokenize = '${tokenizer}')`)
  const [, buildMs] = timed(() => {
    const addFile = database.prepare('insert into files (number, path) values (?, ?)')
    const addText = database.prepare('insert into texts (rowid, text, name, folder, definition) values (?, ?, ?, ?, ?)')
    let number = 0
    database.exec('begin')
    for (const [path, text] of textsBelow(root)) {
      const slash = path.lastIndexOf('/')
      const names = [path.slice(slash + 1), path.slice(0, slash + 1)].map(written)
      for (const part of partsOf(text)) {
        const defined = definitionsIn(part.text, path).map(({ name }) => name)
        number += 1
        addFile.run(BigInt(number), path)
        addText.run(BigInt(number), written(part.text), ...(names as [string, string]), written(defined.join(' ')))
      }
    }
    database.exec('commit; pragma wal_checkpoint(truncate)')
  })
  const { name, folder, definition } = WEIGHTS
  const select = database.prepare(`select path, -bm25(texts, 1, ${name}, ${folder}, ${definition}) as score
    from texts join files on number = texts.rowid where texts match ? order by score desc limit 2000`)
  const search: Search = (query) => {
    const terms = asked(query)
    if (terms.length === 0) return []
    const kinds = kindsAskedFor(queryTerms(query)?.terms ?? [])
    const factorOf = (path: string) =>
      Math.min(1, ...kindsOf(path).flatMap((kind) => (kinds.has(kind) ? [] : [WEIGHTS.kinds[kind]])))
    const found = select.all(terms.map((term) => `"${term}"`).join(' OR ')) as { path: string; score: number }[]
    const scored = found.map(({ path, score }) => ({ path, score: score * factorOf(path) }))
    return [...new Set(scored.sort((a, b) => b.score - a.score).map(({ path }) => path))]
  }
  return { search, buildMs, bytes: statSync(file).size }
}

/** Terms of our index, with spaces between them. */
function spacedTerms(text: string): string {
  const terms: string[] = []
  eachRun(text, (run) => {
    const { parts, whole } = termsOfRun(run)
    terms.push(...parts, ...(whole === null ? [] : [whole]))
  })
  return terms.join(' ')
}

const sameTerms = (query: string): string[] => queryTerms(query)?.terms ?? []

const plainTerms = (query: string): string[] => query.match(/[\p{L}\p{N}_]+/gu) ?? []

/** Does work. Returns what it returned, and the time of the processor, in milliseconds. */
function timed<T>(work: () => T): [T, number] {
  const begun = process.cpuUsage()
  const done = work()
  const { user, system } = process.cpuUsage(begun)
  return [done, (user + system) / 1000]
}

const SETS: Readonly<Record<string, readonly Asked[]>> = {
  judged: JUDGED,
  'held-out': HELD_OUT,
  further: OWN,
  reported: REPORTED,
}

const sources = [...new Set(Object.values(SETS).flatMap((asked) => asked.map(({ source }) => source)))]
const fetched = fetchRepositories(sources)
for (const [name, make] of Object.entries(MAKERS)) {
  const all: number[] = []
  for (const [set, asked] of Object.entries(SETS)) {
    const places: number[] = []
    const times: number[] = []
    let [buildMs, bytes] = [0, 0]
    for (const { source, questions } of asked) {
      const made = make(fetched[sources.indexOf(source)] as string)
      buildMs += made.buildMs
      bytes += made.bytes
      for (const { ask, files } of questions) {
        const [found, ms] = timed(() => made.search(ask))
        times.push(ms)
        places.push(found.findIndex((path) => files.includes(path)))
      }
    }
    all.push(...places)
    const figures = `built in ${Math.round(buildMs)} ms, ${(bytes / 1e6).toFixed(1)} MB, a query ${median(times).toFixed(2)} ms`
    process.stdout.write(`${name}, ${set}: ${shares(places)}; ${figures}\n`)
  }
  process.stdout.write(`${name}, all ${all.length}: ${shares(all)}\n`)
}

function shares(places: readonly number[]): string {
  const among = (first: number) => (100 * places.filter((at) => at >= 0 && at < first).length) / places.length
  return `right file first ${among(1).toFixed(1)} %, among the first ten ${among(10).toFixed(1)} %`
}
