import { join } from 'node:path'
import { reaches } from '../src/gaze/evidence-level.ts'
import { createGaze, type Gaze } from '../src/gaze/gaze.ts'
import { endOf } from '../src/gaze/scanpath.ts'
import { hunksOf } from '../src/review/hunks.ts'
import { openReceipt } from '../src/review/receipt.ts'
import { DecideReview, NewReview } from '../src/review/review-record.ts'
import { createReviews } from '../src/review/reviews.ts'
import { openStore } from '../src/store/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { ATTACKS, type Attack } from '../test/gaze/attacks.ts'
import { humanStream, randomOf } from '../test/gaze/human-stream.ts'
import { COPIES } from '../test/gaze/near-copies.ts'
import { honestStream } from '../test/gaze/reader.ts'
import type { Measure } from './measure.ts'

/** Streams that the key has stored before. */
const STREAMS = 1000
/** Tries of each kind. A kind of the table that never passes, or always, does so in each of them. */
export const ATTEMPTS = 50
export const REVIEWS = 20
const KEY = 'key_adversary'
const TERMS = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }

/** Extent of the tries. All of them are made from seeds, the first ones alike whatever their number. */
interface Tries {
  /** Folder of the store and of the signing key. */
  folder: string
  /** Seeds of the streams that the key stored before. */
  stored?: readonly number[]
  attempts?: number
  reviews?: number
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1)

/**
 * Tries made-up attention against the level `plausible`, and reviews by scripts against `seen`.
 *
 * @returns shares that passed or were refused, in percent; the same seeds give the same shares
 */
export async function measureAdversaries(tries: Tries): Promise<Measure[]> {
  const { folder, stored = upTo(STREAMS), attempts = ATTEMPTS, reviews = REVIEWS } = tries
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`)
  let clock = new Date()
  const gaze = createGaze({ store, config: TERMS, now: () => clock })
  const passes = async ({ records, key = KEY, sentAt }: Attack) => {
    clock = sentAt ?? new Date(Math.max(...records.map(endOf)))
    return (await gaze.store({ records: records.slice(0, 1000) }, key)).attestation.status === 'passed'
  }
  const measures: Measure[] = []
  const add = (what: string, part: number, all: number, bar?: Measure['bar']) =>
    void measures.push({ what, unit: '%', figure: (100 * part) / all, ...(bar && { bar }) })
  const attempt = async (what: string, make: (seed: number) => Attack, bar?: Measure['bar']) => {
    let passed = 0
    for (const seed of upTo(attempts)) if (await passes(make(seed))) passed++
    add(what, passed, attempts, bar)
  }

  let refused = 0
  for (const seed of stored) if (!(await passes({ records: honestStream(seed) }))) refused++
  add(`refused: ${STREAMS} readings by one key`, refused, stored.length, { atMost: 3 })
  for (const [name, copy] of Object.entries(COPIES))
    await attempt(`copy: ${name}`, (seed) => ({ records: copy(honestStream(seed), seed) }), { atMost: 2 })
  await attempt('a random walk with the figures of a person', (seed) => ({ records: humanStream(seed) }))
  await attempt('a program that simulates a reader', (seed) => ({ records: honestStream(STREAMS + seed) }))
  for (const [name, attack] of Object.entries(ATTACKS))
    await attempt(`attack: ${name}`, (seed) => attack(honestStream, seed, (own) => honestStream(2 * STREAMS + own)))

  const wait = (ms: number) => {
    clock = new Date(clock.getTime() + ms)
  }
  await tryReviews(
    add,
    { ordinary: reviews, scripted: Math.min(reviews, attempts) },
    { store, gaze, folder, now: () => clock, wait },
  )
  await store.close()
  return measures
}

interface Observer {
  store: Store
  gaze: Gaze
  folder: string
  now(): Date
  wait(ms: number): void
}

/** Reviews a change of 30 lines, as one who goes down it, and as scripts do. */
async function tryReviews(
  add: (what: string, part: number, all: number, bar?: Measure['bar']) => void,
  { ordinary, scripted }: Record<'ordinary' | 'scripted', number>,
  { store, gaze, folder, now, wait }: Observer,
): Promise<void> {
  const reviews = createReviews({ store, gaze, dataDir: () => folder, now })
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join('')
  const side = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) }
  const change = NewReview.parse({ base: side, head: side, digest: 'c'.repeat(64), parts: hunksOf('a.ts', '', lines) })

  /** Makes reviews whose views of `height` lines last `ms` each. Returns the number of them in which every line was seen. */
  const fullOf = async (count: number, look: (random: () => number) => { height: number; ms: number }) => {
    let full = 0
    for (const seed of upTo(count)) {
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
    return full
  }
  const full = await fullOf(ordinary, (random) => {
    const height = 3 + Math.floor(8 * random())
    return { height, ms: Math.round(height * (300 + 900 * random())) }
  })
  add(`refused at seen: ${REVIEWS} ordinary reviews`, ordinary - full, ordinary, { atMost: 0 })
  const script = async (what: string, look: { height: number; ms: number }, bar?: Measure['bar']) =>
    add(what, await fullOf(scripted, () => look), scripted, bar)
  await script('seen: a script that scrolls through in a second', { height: 10, ms: 333 }, { atMost: 0 })
  await script('seen: a script that scrolls and waits', { height: 10, ms: 3000 })
  await script('seen: records by the API, without a page', { height: 30, ms: 8000 })
}
