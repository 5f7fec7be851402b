import { MemorySearch, type MemoryService } from '../../src/memory/memory.ts'
import type { MemoryResult } from '../../src/memory/search/results.ts'
import type { Fact } from './facts.ts'
import type { MemorySet } from './memory-sets.ts'

/** A fact is found when it is among the first so many results, weak ones included. */
const FIRST = 3

/** Shares of the questions of a set, in percent. */
export interface Recall {
  keyword: number
  /** The first paraphrased question of each fact. */
  near: number
  /** Further ones; null where the set has none. */
  far: number | null
  /** Questions that nothing answers and that find something that is not weak. */
  unanswerable: number
}

/** Asks all questions of a set. */
export async function recallOf(memory: MemoryService, { facts, unanswerable }: MemorySet): Promise<Recall> {
  const share = (questionsFor: (fact: Fact) => readonly string[]) => {
    const questions = facts.flatMap((fact) => questionsFor(fact).map((question) => ({ key: fact.key, question })))
    if (questions.length === 0) return Promise.resolve(null)
    return percentOf(questions, async ({ key, question }) =>
      (await found(memory, question)).some((result) => result.memory.key === key),
    )
  }
  return {
    keyword: (await share(({ keyword }) => [keyword])) ?? 0,
    near: (await share(({ paraphrases }) => paraphrases.slice(0, 1))) ?? 0,
    far: await share(({ paraphrases }) => paraphrases.slice(1)),
    unanswerable: await percentOf(unanswerable, async (question) =>
      (await found(memory, question)).some(({ weak }) => !weak),
    ),
  }
}

async function percentOf<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<number> {
  let held = 0
  for (const item of items) if (await holds(item)) held++
  return (100 * held) / items.length
}

async function found(memory: MemoryService, query: string): Promise<MemoryResult[]> {
  return (await memory.search({ ...MemorySearch.parse({ query, limit: FIRST }), weak: FIRST })).results
}
