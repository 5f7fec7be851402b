import { createTokenCounter } from '../../src/text/token-counter.ts'
import { temporaryFolder } from '../folder.ts'
import { gazeway } from '../servers.ts'
import { openInitialized } from '../session.ts'
import { FREIGHT_FACTS, FREIGHT_UNANSWERABLE } from './freight-facts.ts'
import { createPlainBm25 } from './plain-bm25.ts'
import { STUDIO_FACTS, STUDIO_UNANSWERABLE } from './studio-facts.ts'
import { UNSEEN_FACTS, UNSEEN_UNANSWERABLE, type UnseenFact } from './unseen-facts.ts'

const FIRST = 3

/** Facts with a plain question about each, and questions that none answers. */
export interface UnseenSet {
  /** Stands before the name of each figure. */
  label: string
  facts: readonly UnseenFact[]
  unanswerable: readonly string[]
}

/** Nothing is fitted on these. */
export const UNSEEN_SETS: readonly UnseenSet[] = [
  { label: 'unseen plain questions', facts: UNSEEN_FACTS, unanswerable: UNSEEN_UNANSWERABLE },
  { label: 'a second unseen set', facts: STUDIO_FACTS, unanswerable: STUDIO_UNANSWERABLE },
  { label: 'a third unseen set', facts: FREIGHT_FACTS, unanswerable: FREIGHT_UNANSWERABLE },
]

/** Share of questions with the right memory among the first three, and the mean of 1 / rank, both in percent. */
interface Ranking {
  answered: number
  reciprocal: number
}

/** Answers to the unseen questions, over stdio as an assistant asks them with the defaults of the tool. */
export interface UnseenAnswers {
  ours: Ranking
  plain: Ranking
  /** Share of unanswerable questions with a result that is not weak, in percent. */
  misled: number
  /** Tokens of the longest result. */
  tokens: number
}

interface Found {
  memory: { key: string }
  weak: boolean
}

const countTokens = createTokenCounter()

/** Stores the facts of a set in a new store and asks all questions about them. */
export async function askUnseen({ facts, unanswerable }: UnseenSet, withAlso: boolean): Promise<UnseenAnswers> {
  const session = await openInitialized(gazeway(temporaryFolder('unseen')))
  for (const { key, value, also } of facts)
    await session.call('gateway_memory_store', { key, value, project: null, ...(withAlso && { also }) })
  let tokens = 0
  const search = async (query: string): Promise<Found[]> => {
    const { structuredContent } = await session.ask('gateway_memory_search', { query })
    tokens = Math.max(tokens, await countTokens(JSON.stringify(structuredContent)))
    return (structuredContent as { results: Found[] }).results
  }
  const found = []
  for (const { question } of facts) found.push((await search(question)).map(({ memory }) => memory.key))
  let misled = 0
  for (const question of unanswerable) if ((await search(question)).some(({ weak }) => !weak)) misled++
  await session.close()

  const textOf = ({ key, value, also }: UnseenFact) => [key, value, ...(withAlso ? also : [])].join(' ')
  const plain = createPlainBm25(new Map(facts.map((fact) => [fact.key, textOf(fact)])))
  return {
    ours: rankingOf(facts, found),
    plain: rankingOf(
      facts,
      facts.map(({ question }) => plain(question)),
    ),
    misled: (100 * misled) / unanswerable.length,
    tokens,
  }
}

/** @param found keys by question, best first */
function rankingOf(facts: readonly UnseenFact[], found: ReadonlyArray<readonly string[]>): Ranking {
  const ranks = facts.map(({ key }, i) => (found[i] ?? []).slice(0, FIRST).indexOf(key) + 1)
  const share = (of: (rank: number) => number) =>
    (100 * ranks.reduce((sum, rank) => sum + (rank > 0 ? of(rank) : 0), 0)) / ranks.length
  return { answered: share(() => 1), reciprocal: share((rank) => 1 / rank) }
}
