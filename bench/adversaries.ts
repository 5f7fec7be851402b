import { join } from 'node:path'
import { createGaze, type Gaze } from '../src/gaze/gaze.ts'
import { reaches } from '../src/gaze/level.ts'
import { endOf } from '../src/gaze/scanpath.ts'
import { hunksOf } from '../src/review/hunks.ts'
import { openReceipt } from '../src/review/receipt.ts'
import { DecideReview, NewReview } from '../src/review/review-record.ts'
import { createReviews } from '../src/review/reviews.ts'
import { openStore } from '../src/store/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { startPostgres } from '../test/contract/postgres-server.ts'
import { ATTACKS, type Attack } from '../test/gaze/attacks.ts'
import { bytesOfRecord } from '../test/gaze/bytes.ts'
import { humanStream, randomOf } from '../test/gaze/human-stream.ts'
import { COPIES } from '../test/gaze/near-copies.ts'
import { honestStream } from '../test/gaze/reader.ts'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'

/** Streams that the key has stored before, and copies of each kind. */
const STREAMS = 1000
const ATTEMPTS = 50
const REVIEWS = 20
const KEY = 'key_adversary'
const TERMS = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }

/** Attention that somebody made up, and how often it passes: what each level is worth. */
export async function section(report: Report): Promise<void> {
  const store = await openStore(`sqlite:${join(temporaryFolder('adversaries'), 'store.db')}`)
  let clock = new Date()
  const gaze = createGaze({ store, config: TERMS, now: () => clock })
  const passes = async ({ records, key = KEY, sentAt }: Attack) => {
    clock = sentAt ?? new Date(Math.max(...records.map(endOf)))
    return (await gaze.store({ records: records.slice(0, 1000) }, key)).attestation.status === 'passed'
  }
  const add = async (what: string, attempts: number, make: (seed: number) => Attack, bar?: { atMost: number }) => {
    let passed = 0
    for (let seed = 1; seed <= attempts; seed++) if (await passes(make(seed))) passed++
    report.add({ what, unit: '%', figure: (100 * passed) / attempts, ...(bar && { bar }) })
  }
  let refused = 0
  for (let seed = 1; seed <= STREAMS; seed++) if (!(await passes({ records: honestStream(seed) }))) refused++
  report.add({
    what: `refused: ${STREAMS} readings by one key`,
    unit: '%',
    figure: (100 * refused) / STREAMS,
    bar: { atMost: 3 },
  })
  for (const [name, copy] of Object.entries(COPIES))
    await add(`copy: ${name}`, ATTEMPTS, (seed) => ({ records: copy(honestStream(seed), seed) }), { atMost: 2 })
  await add('a random walk with the figures of a person', ATTEMPTS, (seed) => ({ records: humanStream(seed) }))
  await add('a program that simulates a reader', ATTEMPTS, (seed) => ({ records: honestStream(STREAMS + seed) }))
  for (const [name, attack] of Object.entries(ATTACKS))
    await add(`attack: ${name}`, ATTEMPTS, (seed) =>
      attack(honestStream, seed, (own) => honestStream(2 * STREAMS + own)),
    )
  await measureReviews(report, store, gaze, {
    now: () => clock,
    wait: (ms) => {
      clock = new Date(clock.getTime() + ms)
    },
  })
  await store.close()
  await measureBytes(report)
}

/** Bytes that a record takes in the store, with its hashes and indexes. */
async function measureBytes(report: Report): Promise<void> {
  const server = await startPostgres()
  process.once('exit', () => void server.stop())
  const urls = {
    SQLite: `sqlite:${join(temporaryFolder('adversaries'), 'bytes.db')}`,
    PostgreSQL: await server.database(),
  }
  for (const [engine, url] of Object.entries(urls)) {
    const store = await openStore(url)
    const what = `a gaze record in the store, of 100,000: ${engine}`
    report.add({ what, unit: 'bytes', figure: await bytesOfRecord(store, 100), bar: { atMost: 300 } })
    await store.close()
  }
  await server.remove()
}

interface Clock {
  now(): Date
  wait(ms: number): void
}

/** Reviews of a change of 30 lines, by one who goes down it, and by scripts. */
async function measureReviews(report: Report, store: Store, gaze: Gaze, { now, wait }: Clock): Promise<void> {
  const reviews = createReviews({ store, gaze, dataDir: () => temporaryFolder('adversaries'), now })
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join('')
  const side = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) }
  const change = NewReview.parse({ base: side, head: side, digest: 'c'.repeat(64), parts: hunksOf('a.ts', '', lines) })

  /** Makes reviews whose views of `height` lines last `ms` each. Returns the share of them in which every line was seen. */
  const shareOf = async (look: (random: () => number) => { height: number; ms: number }) => {
    let full = 0
    for (let seed = 1; seed <= REVIEWS; seed++) {
      const random = randomOf(seed)
      const { id } = await reviews.create(change, KEY)
      for (let from = 1; from <= 30; ) {
        const { height, ms } = look(random)
        const env = { path: 'a.ts', line_start: from, line_end: Math.min(30, from + height - 1) }
        const at = now().toISOString()
        wait(ms)
        await reviews.addEvidence(id, [{ at, dwell_ms: ms, source: 'ide', env }], KEY)
        from += height
      }
      const decision = DecideReview.parse({ reviewer: 'ann@example.org', decision: 'approve' })
      const { review } = openReceipt(await reviews.decide(id, decision, KEY), 'receipt')
      if (reaches(review.level, 'seen') && review.coverage.seen === review.coverage.lines) full++
    }
    return (100 * full) / REVIEWS
  }
  const ordinary = await shareOf((random) => {
    const height = 3 + Math.floor(8 * random())
    return { height, ms: Math.round(height * (300 + 900 * random())) }
  })
  const add = (what: string, figure: number, bar?: { atMost: number }) =>
    report.add({ what, unit: '%', figure, ...(bar && { bar }) })
  add(`refused at seen: ${REVIEWS} ordinary reviews`, 100 - ordinary, { atMost: 0 })
  add('seen: a script that scrolls through in a second', await shareOf(() => ({ height: 10, ms: 333 })), { atMost: 0 })
  add('seen: a script that scrolls and waits', await shareOf(() => ({ height: 10, ms: 3000 })))
  add('seen: records by the API, without a page', await shareOf(() => ({ height: 30, ms: 8000 })))
}
