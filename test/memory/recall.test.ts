import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { HELD_OUT_SET } from '../../bench/retrieval/memory-sets.ts'
import { createPlainBm25 } from '../../bench/retrieval/plain-bm25.ts'
import { measureRecall } from '../../bench/retrieval.ts'
import { createMemory, MemoryInput, MemorySearch } from '../../src/memory/memory.ts'
import { openStore } from '../../src/store/open-store.ts'
import { PLAIN_FACTS, UNANSWERED } from './plain-questions.ts'

/** Recall of the plain questions, and their mean reciprocal rank. */
async function askPlainly(withAlso: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-plain-'))
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`)
  const memory = createMemory({ store, now: () => new Date() })
  const ask = async (query: string) =>
    (await memory.search({ ...MemorySearch.parse({ query, limit: 3 }), weak: 3 })).results
  for (const { key, value, also } of PLAIN_FACTS)
    await memory.store(MemoryInput.parse({ key, value, ...(withAlso && { also }) }))
  let [answered, reciprocal] = [0, 0]
  for (const { key, question } of PLAIN_FACTS) {
    const rank = 1 + (await ask(question)).findIndex((result) => result.memory.key === key)
    if (rank > 0) answered++
    if (rank > 0) reciprocal += 1 / rank
  }
  let misled = 0
  for (const question of UNANSWERED) if ((await ask(question)).some(({ weak }) => !weak)) misled++
  await store.close()
  rmSync(folder, { recursive: true })
  return { answered, reciprocal: reciprocal / PLAIN_FACTS.length, misled }
}

/** Mean reciprocal rank of plain BM25 over the same texts, among its first three. */
function plainBm25(withAlso: boolean): number {
  const textOf = ({ key, value, also }: (typeof PLAIN_FACTS)[number]) =>
    [key, value, ...(withAlso ? also : [])].join(' ')
  const search = createPlainBm25(new Map(PLAIN_FACTS.map((fact) => [fact.key, textOf(fact)])))
  const ranks = PLAIN_FACTS.map(({ key, question }) => 1 + search(question).slice(0, 3).indexOf(key))
  return ranks.reduce((sum, rank) => sum + (rank > 0 ? 1 / rank : 0), 0) / PLAIN_FACTS.length
}

describe('recall of memories', () => {
  it('answers plain questions among the first three, as well ranked as by a lexical peer', async () => {
    for (const [withAlso, atLeast] of [
      [true, 36],
      [false, 32],
    ] as const) {
      const { answered, reciprocal, misled } = await askPlainly(withAlso)
      assert.ok(answered >= atLeast, `${answered} of ${PLAIN_FACTS.length} questions, also: ${withAlso}`)
      const peer = plainBm25(withAlso)
      assert.ok(reciprocal >= peer - 0.05, `${reciprocal} beside ${peer}, also: ${withAlso}`)
      assert.ok(misled <= UNANSWERED.length * 0.05, `${misled} questions without an answer, also: ${withAlso}`)
    }
  })

  it('answers questions that nothing is fitted on, and gives only weak results where there is no answer', async () => {
    const { keyword, near, unanswerable } = await measureRecall(HELD_OUT_SET, { others: 0, withAlso: true })
    assert.ok(keyword >= 98, `${keyword} % of keyword questions`)
    assert.ok(near >= 85, `${near} % of paraphrased questions`)
    assert.ok(unanswerable <= 5, `${unanswerable} % of unanswerable questions`)
  })
})
