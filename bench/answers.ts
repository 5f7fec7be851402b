import { join } from 'node:path'
import { createTokenCounter } from '../src/text/token-counter.ts'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { FACTS, type Fact } from './retrieval/facts.ts'
import { HELD_OUT_FACTS, heldOutOthers } from './retrieval/held-out-facts.ts'
import { gazeway, PEER, serverMemory } from './servers.ts'
import { openInitialized } from './session.ts'

/** All held-out facts, and further ones of another subject. */
const FORTY: readonly Fact[] = [...HELD_OUT_FACTS, ...FACTS].slice(0, 40)
const OTHERS = [0, 600]
const FIRST = 3

type Stored = Pick<Fact, 'key' | 'value' | 'also'>

/** Searches memories as an assistant does: the keys of the first results, and the result that a model reads. */
interface Peer {
  search(query: string): Promise<{ keys: string[]; read: string }>
  close(): Promise<void>
}

/** A share of the questions that are answered, and the mean number of tokens that a model reads for one. */
interface Answers {
  answered: number
  tokens: number
}

const countTokens = createTokenCounter()

/**
 * The same 40 facts in Gazeway, in server-memory and in a file that is read as a whole, as MEMORY.md is: which questions
 * are answered, and what a model reads for it.
 */
export async function section(report: Report): Promise<void> {
  for (const others of OTHERS) {
    const stored = [...heldOutOthers().slice(0, others), ...FORTY]
    const peers = {
      ours: await openOurs(stored, true),
      plain: await openOurs(stored, false),
      peer: await openPeer(stored),
    }
    const file = await countTokens(stored.map(({ key, value }) => `- ${key}: ${value}\n`).join(''))
    for (const [kind, questionOf] of [
      ['in the words of the fact', ({ keyword }: Fact) => keyword],
      ['in other words', ({ paraphrases }: Fact) => paraphrases[0] ?? ''],
    ] as const) {
      const { ours, plain, peer } = await eachOf(peers, (one) => answersOf(one, questionOf))
      const what = `40 questions ${kind}, ${stored.length} facts`
      const besides = [
        { what: PEER, figure: peer.answered },
        { what: 'MEMORY.md, read as a whole', figure: 100 },
        { what: 'Gazeway without also', figure: plain.answered },
      ]
      report.add({ what: `${what}: answered`, unit: '%', figure: ours.answered, besides })
      report.add({
        what: `${what}: read for one`,
        unit: 'tokens',
        figure: ours.tokens,
        against: { what: 'MEMORY.md', figure: file },
        besides: [{ what: PEER, figure: peer.tokens }],
      })
    }
    await eachOf(peers, (one) => one.close())
  }
}

async function openOurs(stored: readonly Stored[], withAlso: boolean): Promise<Peer> {
  const session = await openInitialized(gazeway(temporaryFolder('answers')))
  for (const { key, value, also } of stored)
    await session.call('gateway_memory_store', { key, value, project: null, ...(withAlso && { also }) })
  return {
    async search(query) {
      const { structuredContent } = await session.ask('gateway_memory_search', { query, limit: FIRST })
      const { results } = structuredContent as { results: Array<{ memory: { key: string } }> }
      return { keys: results.map(({ memory }) => memory.key), read: JSON.stringify(structuredContent) }
    },
    close: session.close,
  }
}

async function openPeer(stored: readonly Stored[]): Promise<Peer> {
  const session = await openInitialized(serverMemory(join(temporaryFolder('answers'), 'peer.jsonl')))
  const entities = stored.map(({ key, value }) => ({ name: key, entityType: 'fact', observations: [value] }))
  await session.call('create_entities', { entities })
  return {
    async search(query) {
      const { structuredContent } = await session.ask('search_nodes', { query })
      const found = structuredContent as { entities: Array<{ name: string }> }
      return { keys: found.entities.map(({ name }) => name).slice(0, FIRST), read: JSON.stringify(found) }
    },
    close: session.close,
  }
}

async function answersOf(peer: Peer, questionOf: (fact: Fact) => string): Promise<Answers> {
  let answered = 0
  let tokens = 0
  for (const fact of FORTY) {
    const { keys, read } = await peer.search(questionOf(fact))
    if (keys.includes(fact.key)) answered++
    tokens += await countTokens(read)
  }
  return { answered: (100 * answered) / FORTY.length, tokens: Math.round(tokens / FORTY.length) }
}

async function eachOf<Name extends string, T>(
  peers: Readonly<Record<Name, Peer>>,
  work: (peer: Peer) => Promise<T>,
): Promise<Record<Name, T>> {
  const done = await Promise.all(
    (Object.entries(peers) as Array<[Name, Peer]>).map(async ([name, peer]) => [name, await work(peer)] as const),
  )
  return Object.fromEntries(done) as Record<Name, T>
}
