import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import type { CheckedRow } from '../../src/identity/checked-keys.ts'
import { createKeyCache, type KeyCache } from '../../src/identity/key-cache.ts'
import { until } from '../doubles/until.ts'

const ROW: CheckedRow = {
  id: 'key_1',
  name: 'a',
  hash: 'ab'.repeat(32),
  scopes: '["inference"]',
  group_id: null,
  wallet: null,
  billing: 'recorded',
  credit_limit_micros: null,
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrent: null,
  models: null,
  lenient: 0,
  cache: 'auto',
  expires_at: null,
  previous_hash: null,
  previous_until: null,
  revoked_at: null,
  budgets: [],
  sessions: [],
}

describe('the key cache', () => {
  let cache: KeyCache
  let elapsed: number
  /** The reads under way, in the order they began; each ends when the test says so. */
  let reads: ((row: CheckedRow | undefined) => void)[]
  let ended: string[]

  beforeEach(() => {
    elapsed = 0
    reads = []
    ended = []
    cache = createKeyCache({
      read: () => new Promise((resolve) => reads.push(resolve)),
      elapsedMs: () => elapsed,
      onRevoked: (id) => {
        cache.revoke(id)
        ended.push(id)
      },
      onError: (error) => assert.ifError(error),
    })
  })

  it('believes a revocation more than a read that had begun before it', async () => {
    const entry = cache.get('key_1')
    cache.revoke('key_1')
    reads[0]?.(ROW)
    assert.equal((await entry).identity, null)
    elapsed = 1_000_000
    assert.equal(cache.peek('key_1')?.identity, null)
    assert.equal(reads.length, 1)
  })

  it('reads a key once for all who ask meanwhile', async () => {
    const entries = [cache.get('key_1'), cache.get('key_1')]
    assert.equal(reads.length, 1)
    reads[0]?.(ROW)
    const [first, second] = await Promise.all(entries)
    assert.equal(first, second)
    assert.equal(first?.identity?.name, 'a')
  })

  it('does not remember a read that had begun before a change', async () => {
    const before = cache.get('key_1')
    cache.forget(({ id }) => id === 'key_1')
    const after = cache.get('key_1')
    assert.equal(reads.length, 2)
    reads[1]?.({ ...ROW, name: 'b' })
    reads[0]?.(ROW)
    assert.deepEqual([(await before).identity?.name, (await after).identity?.name], ['a', 'b'])
    assert.equal(cache.peek('key_1')?.identity?.name, 'b')
  })

  it('forgets what a change concerns, and keeps the rest', async () => {
    for (const id of ['key_1', 'key_2']) {
      const entry = cache.get(id)
      reads.at(-1)?.({ ...ROW, id, group_id: id === 'key_1' ? 'grp_1' : null })
      await entry
    }
    cache.forget(({ group }) => group?.id === 'grp_1')
    assert.deepEqual([cache.peek('key_1'), cache.peek('key_2')?.identity?.id], [undefined, 'key_2'])
  })

  it('keeps known keys at hand through a flood of made-up ones', async () => {
    const known = cache.get('key_1')
    reads.shift()?.(ROW)
    await known
    for (let i = 0; i < 10_100; i++) {
      const unknown = cache.get(`made-up ${i}`)
      reads.shift()?.(undefined)
      assert.equal((await unknown).identity, null)
    }
    assert.equal(cache.peek('key_1')?.identity?.name, 'a')
    assert.equal(cache.peek('made-up 0'), undefined, 'of those only the latest are kept')
  })

  it('takes the age of an entry from when its read began', async () => {
    const slow = cache.get('key_1')
    elapsed = 3_999
    reads[0]?.(ROW)
    await slow
    assert.ok(cache.peek('key_1'))
    elapsed = 4_000
    assert.equal(cache.peek('key_1'), undefined)
  })

  it('does not answer from a read that had begun 4 s before the question', async () => {
    const slow = cache.get('key_1')
    elapsed = 4_000
    const late = cache.get('key_1')
    reads[0]?.(ROW)
    await slow
    // The late one finds the read too old, and reads for itself.
    await until(() => reads.length >= 2)
    reads[1]?.({ ...ROW, revoked_at: '2026-11-21T07:05:00.000Z' })
    assert.equal((await late).identity, null)
    assert.deepEqual(ended, ['key_1'])
  })
})
