import { join } from 'node:path'
import { createMemory, MemoryInput } from '../src/memory/memory.ts'
import { openStore } from '../src/store/open-store.ts'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { FITTED_SET, HELD_OUT_SET, type MemorySet } from './retrieval/memory-sets.ts'
import { type Recall, recallOf } from './retrieval/recall.ts'
import { askUnseen, UNSEEN_SETS, type UnseenSet } from './retrieval/unseen.ts'

/** Recall of memories, on questions that are written in `retrieval/`: a figure of what is found, not of time. */
export async function section(report: Report): Promise<void> {
  for (const set of UNSEEN_SETS) for (const withAlso of [true, false]) await measureUnseen(report, set, withAlso)
  for (const set of [FITTED_SET, HELD_OUT_SET]) for (const others of set.beside) await measureSet(report, set, others)
}

/** Plain questions that nothing is fitted on, beside BM25 on the same texts, and what a model reads for one. */
async function measureUnseen(report: Report, set: UnseenSet, withAlso: boolean): Promise<void> {
  const { ours, plain, misled, tokens } = await askUnseen(set, withAlso)
  const what = (measured: string) => `${set.label}${withAlso ? '' : ', memories without also'}: ${measured}`
  const atLeast = withAlso ? 90 : 80
  report.add({
    what: what('answered among the first 3'),
    unit: '%',
    figure: ours.answered,
    against: { what: 'plain BM25', figure: plain.answered },
    bar: { atLeast },
  })
  report.add({
    what: what('mean reciprocal rank'),
    unit: '%',
    figure: ours.reciprocal,
    against: { what: 'plain BM25', figure: plain.reciprocal },
    bar: { atLeast: plain.reciprocal - 5 },
  })
  report.add({
    what: what('unanswerable ones with a result that is not weak'),
    unit: '%',
    figure: misled,
    bar: { atMost: 5 },
  })
  report.add({ what: what('most tokens of a search'), unit: 'tokens', figure: tokens, bar: { atMost: 1500 } })
}

async function measureSet(report: Report, set: MemorySet, others: number): Promise<void> {
  const all = set.facts.length + others
  const plain = await measureRecall(set, { others, withAlso: false })
  const aliased = await measureRecall(set, { others, withAlso: true })
  const add = (what: string, figure: number, bar?: { atLeast: number } | { atMost: number }) =>
    report.add({ what: `${set.label}${what}, ${all} memories`, unit: '%', figure, ...(bar && { bar }) })
  add('keyword questions answered among the first 3', aliased.keyword, { atLeast: 98 })
  add('the same, memories without also', plain.keyword)
  add('paraphrased questions answered among the first 3', aliased.near, barOf(set, others))
  add('the same, memories without also', plain.near)
  if (aliased.far !== null && plain.far !== null) {
    add('questions in yet other words answered among the first 3', aliased.far)
    add('the same, memories without also', plain.far)
  }
  add('unanswerable questions that find something', aliased.unanswerable, { atMost: 5 })
  add('the same, memories without also', plain.unanswerable)
}

function barOf({ beside }: MemorySet, others: number): { atLeast: number } | undefined {
  if (others === 0) return { atLeast: 85 }
  return others === beside.at(-1) ? { atLeast: 60 } : undefined
}

/** Recall of a set in a new store, with `others` memories beside its facts. */
export async function measureRecall(
  set: MemorySet,
  { others, withAlso }: { others: number; withAlso: boolean },
): Promise<Recall> {
  const folder = temporaryFolder('retrieval')
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`)
  const memory = createMemory({ store, now: () => new Date() })
  for (const { key, value, also } of [...set.others(others), ...set.facts])
    await memory.store(MemoryInput.parse({ key, value, ...(withAlso && { also }) }))
  const recall = await recallOf(memory, set)
  await store.close()
  return recall
}
