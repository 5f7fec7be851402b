import { join } from 'node:path'
import { createMemory, MemoryInput, MemorySearch, type MemoryService } from '../src/memory/memory.ts'
import { openStore } from '../src/store/open-store.ts'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { FACTS, type Fact, UNANSWERABLE } from './retrieval/facts.ts'
import { otherMemories } from './retrieval/other-memories.ts'

/** Other memories beside the facts. */
const BESIDE = [0, 90, 570]
/** A fact is found when it is among the first so many results. */
const FIRST = 3

/** Recall of memories, on questions that are written in `retrieval/`: a figure of what is found, not of time. */
export async function section(report: Report): Promise<void> {
  for (const others of BESIDE) {
    const all = FACTS.length + others
    const plain = await measure({ others, withAlso: false })
    const aliased = await measure({ others, withAlso: true })
    const add = (what: string, figure: number, bar?: { atLeast: number } | { atMost: number }) =>
      report.add({ what: `${what}, ${all} memories`, unit: '%', figure, ...(bar && { bar }) })
    add('keyword questions answered among the first 3', aliased.keyword, { atLeast: 98 })
    add('the same, memories without also', plain.keyword)
    add('paraphrased questions answered among the first 3', aliased.near, PARAPHRASE_BARS.get(others))
    add('the same, memories without also', plain.near)
    add('questions in yet other words answered among the first 3', aliased.far)
    add('the same, memories without also', plain.far)
    add('unanswerable questions that find something', aliased.unanswerable, { atMost: 5 })
    add('the same, memories without also', plain.unanswerable)
  }
}

const PARAPHRASE_BARS = new Map([
  [0, { atLeast: 85 }],
  [570, { atLeast: 60 }],
])

async function measure({ others, withAlso }: { others: number; withAlso: boolean }) {
  const folder = temporaryFolder('retrieval')
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`)
  const memory = createMemory({ store, now: () => new Date() })
  for (const { key, value, also } of [...otherMemories(others), ...FACTS])
    await memory.store(MemoryInput.parse({ key, value, ...(withAlso && { also }) }))
  const figures = {
    keyword: await recall(memory, ({ keyword }) => [keyword]),
    near: await recall(memory, ({ paraphrases }) => paraphrases.slice(0, 1)),
    far: await recall(memory, ({ paraphrases }) => paraphrases.slice(1)),
    unanswerable: await answered(memory),
  }
  await store.close()
  return figures
}

/** The share of questions, in percent, that find their fact among the first. */
async function recall(memory: MemoryService, questionsFor: (fact: Fact) => readonly string[]): Promise<number> {
  const questions = FACTS.flatMap((fact) => questionsFor(fact).map((question) => ({ key: fact.key, question })))
  return percentOf(questions, async ({ key, question }) => (await keysFor(memory, question)).includes(key))
}

const answered = (memory: MemoryService): Promise<number> =>
  percentOf(UNANSWERABLE, async (question) => (await keysFor(memory, question)).length > 0)

async function percentOf<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<number> {
  let held = 0
  for (const item of items) if (await holds(item)) held++
  return (100 * held) / items.length
}

async function keysFor(memory: MemoryService, query: string): Promise<string[]> {
  const { results } = await memory.search(MemorySearch.parse({ query, limit: FIRST }))
  return results.map((result) => result.memory.key)
}
