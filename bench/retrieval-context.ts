import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from '../src/context/context.ts'
import { temporaryFolder } from './folder.ts'
import type { Measure } from './measure.ts'
import type { Report } from './report.ts'
import { contextOf, countTokens } from './retrieval/context-of.ts'
import { HELD_OUT } from './retrieval/held-out-questions.ts'
import { textsBelow } from './retrieval/index-of.ts'
import { BUDGETS, LINES_BARS, type Shown, shownLines } from './retrieval/needed-lines.ts'
import { OWN, REPORTED } from './retrieval/own-questions.ts'
import { createPlainBm25 } from './retrieval/plain-bm25.ts'
import { type Asked, JUDGED } from './retrieval/questions.ts'
import { fetchRepositories } from './retrieval/repositories.ts'

/** A question is answered when one of its files is among the first so many. */
const FIRST = 10
const MAX_TOKENS = 4000

/**
 * Recall of the work context on questions about other projects, which are fetched: the share that has a right file among
 * the first ten, beside BM25 on the words of the texts as they stand.
 */
export async function section(report: Report): Promise<void> {
  const folders = fetchRepositories([...JUDGED, ...HELD_OUT, ...OWN].map(({ source }) => source))
  const rootOf = (i: number) => folders[i] ?? ''
  const ownRootOf = (i: number) => rootOf(JUDGED.length + HELD_OUT.length + i)
  const judged = await measureRecall(report, JUDGED, rootOf)
  const heldOut = await measureRecall(report, HELD_OUT, (i) => rootOf(JUDGED.length + i))
  const further = await measureRecall(report, OWN, ownRootOf)
  const reported = await measureRecall(report, REPORTED, ownRootOf, 'bug reports')
  addTotal(report, `all ${judged.length} questions about ${JUDGED.length} projects`, judged)
  addTotal(report, `all ${heldOut.length} held-out questions about ${HELD_OUT.length} projects`, heldOut)
  addTotal(report, `all ${further.length} questions about ${OWN.length} further projects`, further)
  report.add({
    what: `all ${reported.length} bug reports in the words of users`,
    ...sharesOf(reported),
    bar: { atLeastTimes: 1.1 },
  })
  addLines(report, 'fitted', judged)
  addLines(report, 'held-out', heldOut)
  addLines(report, 'further', further)
  report.add({
    what: `work contexts of these questions over their budget of ${MAX_TOKENS} tokens`,
    unit: '%',
    figure: share([...judged, ...heldOut, ...further, ...reported].map(({ tokens }) => tokens > MAX_TOKENS)),
    bar: { atMost: 0 },
  })
}

/** An answer to a question: whether a right file was among the first ten, the tokens of the context, and what it shows. */
interface Answer {
  ours: boolean
  plain: boolean
  tokens: number
  /** By budget, whether a line that answers is in an excerpt; null where no line is known. */
  lines: Shown | null
}

async function measureRecall(
  report: Report,
  repositories: readonly Asked[],
  rootOf: (i: number) => string,
  kind = 'questions',
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const [i, { source, language, questions }] of repositories.entries()) {
    const root = rootOf(i)
    requireFiles(root, questions)
    const { get } = contextOf(temporaryFolder('context-data'))
    const plain = createPlainBm25(textsBelow(root))
    const here: Answer[] = []
    for (const { ask, files } of questions) {
      const context = await get({ query: ask, max_tokens: MAX_TOKENS }, [root])
      const isRight = (path: string) => files.includes(path)
      here.push({
        ours: filesIn(context.places).slice(0, FIRST).some(isRight),
        plain: plain(ask).slice(0, FIRST).some(isRight),
        tokens: await countTokens(JSON.stringify(context)),
        lines: await shownLines({ ask, files }, (max_tokens) => get({ query: ask, max_tokens }, [root])),
      })
    }
    report.add({
      what: `${kind} about ${source ?? 'this project'} (${language}) with a right file among the first 10`,
      ...sharesOf(here),
    })
    answers.push(...here)
  }
  return answers
}

/** @throws Error for an answer that names a file which is not there: the question could never be answered */
function requireFiles(root: string, questions: Asked['questions']): void {
  const missing = questions.flatMap(({ files }) => files).filter((file) => !existsSync(join(root, file)))
  if (missing.length > 0) throw new Error(`Files of answers that are not in ${root}: ${missing.join(', ')}`)
}

function addTotal(report: Report, what: string, answers: readonly Answer[]): void {
  report.add({ what, ...sharesOf(answers), bar: { atLeast: 85 } })
}

function addLines(report: Report, set: string, answers: readonly Answer[]): void {
  const shown = answers.flatMap(({ lines }) => (lines ? [lines] : []))
  for (const budget of BUDGETS)
    report.add({
      what: `needed lines of ${shown.length} ${set} questions in a work context of ${budget} tokens`,
      unit: '%',
      figure: share(shown.map((lines) => lines[budget])),
      bar: { atLeast: LINES_BARS[budget] },
    })
}

const sharesOf = (answers: readonly Answer[]): Pick<Measure, 'unit' | 'figure' | 'against'> => ({
  unit: '%',
  figure: share(answers.map(({ ours }) => ours)),
  against: { what: 'plain BM25', figure: share(answers.map(({ plain }) => plain)) },
})

/** Files of a context, the best first. */
function filesIn(places: readonly Place[]): string[] {
  const all = (some: readonly Place[]): Place[] => some.flatMap((place) => [place, ...all(place.children ?? [])])
  return all(places)
    .filter(({ kind, weight }) => kind === 'file' && weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ path }) => path)
}

const share = (held: readonly boolean[]): number => (100 * held.filter(Boolean).length) / Math.max(1, held.length)
