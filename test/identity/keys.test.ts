import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import fc from 'fast-check'
import { GazewayError } from '../../src/errors.ts'
import { Period } from '../../src/identity/budgets.ts'
import { newToken } from '../../src/identity/key-token.ts'
import { createKeys, KeyRecord, type Keys, requireScope, Scope } from '../../src/identity/keys.ts'
import type { Store } from '../../src/store/store.ts'
import { newFolder, storeIn } from './store.ts'

const DAILY = { usd: 1, per: 'day' }
const WALLET = `0x${'Ab'.repeat(20)}`

describe('keys', () => {
  let folder: string
  let store: Store
  let keys: Keys
  let clock: Date
  let elapsed: number
  let faults: unknown[]

  /** Keys on the same store, as another process has them, with the same clocks. */
  const open = (on: Store, fixedKey: string | null = null) =>
    createKeys({
      store: on,
      now: () => clock,
      elapsedMs: () => elapsed,
      fixedKey,
      onError: (error) => faults.push(error),
    })

  beforeEach(async () => {
    folder = newFolder()
    store = await storeIn(folder)
    clock = new Date('2026-11-21T07:05:00.000Z')
    elapsed = 1_000
    faults = []
    keys = open(store)
  })

  async function refusal(token: string | null, of: Keys = keys): Promise<GazewayError> {
    try {
      await of.authenticate(token)
    } catch (error) {
      assert.ok(error instanceof GazewayError, String(error))
      assert.equal(error.code, 'invalid_api_key')
      assert.equal(error.status, 401)
      return error
    }
    assert.fail('the token was accepted')
  }

  it('makes a key that tells who bears it', async () => {
    const { key, record } = await keys.create({ name: 'ide', scopes: ['inference', 'platform'], wallet: WALLET })
    assert.match(key, /^gzw_[0-9a-f]{32}_[\w-]{43}$/)
    assert.equal(record.id, `key_${key.slice(4, 36)}`)
    const identity = await keys.authenticate(key)
    assert.deepEqual([identity.id, identity.name], [record.id, 'ide'])
    assert.deepEqual([...identity.scopes], ['inference', 'platform'])
    assert.equal(identity.wallet, WALLET.toLowerCase())
    assert.equal(keys.authenticateCached(key), identity)
  })

  it('gives back what a key was made from, exactly', async () => {
    const usd = fc.integer({ min: 1, max: 1_000_000_000_000 }).map((micros) => micros / 1_000_000)
    const budget = fc.record({ usd, per: fc.constantFrom(...Period.options) }, { noNullPrototype: true })
    await fc.assert(
      fc.asyncProperty(
        fc
          .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
          .filter((name) => /^\P{Cc}{1,100}$/u.test(name.trim())),
        fc.uniqueArray(fc.constantFrom(...Scope.options), { minLength: 1 }),
        fc.record({
          credit_limit_usd: fc.option(usd),
          budgets: fc.uniqueArray(budget, { selector: ({ per }) => per }),
          requests_per_minute: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
          tokens_per_minute: fc.option(fc.integer({ min: 1, max: 1_000_000_000 })),
          concurrent: fc.option(fc.integer({ min: 1, max: 100_000 })),
          session_usd: fc.option(usd),
          session_calls: fc.option(fc.integer({ min: 1, max: 1_000_000_000 })),
          session_minutes: fc.option(fc.integer({ min: 1, max: 527_040 })),
          repeats: fc.option(
            fc.record(
              { times: fc.integer({ min: 2, max: 1_000 }), minutes: fc.integer({ min: 1, max: 1_440 }) },
              { noNullPrototype: true },
            ),
          ),
        }),
        fc.option(fc.array(fc.constantFrom('*', 'gpt-*', 'a/b:c'), { minLength: 1, maxLength: 3 })),
        fc.option(fc.constant('2026-11-21T08:05:00.001+01:00')),
        fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 10 }),
        async (name, scopes, limits, models, expires_at, percents) => {
          const alerts = percents.map((percent) => ({ at: percent / 100, of: 'budget' as const }))
          const { key, record } = await keys.create({ name, scopes, limits, models, expires_at, alerts })
          assert.deepEqual(KeyRecord.parse(record), record)
          const rank = ({ per }: { per: Period }) => Period.options.indexOf(per)
          const other = scopes.includes('platform') ? 'metered' : 'recorded'
          assert.deepEqual(
            { ...record, id: '' },
            {
              id: '',
              name: name.trim(),
              scopes: record.scopes,
              group: null,
              wallet: null,
              billing: scopes.includes('admin') ? 'recorded' : other,
              limits: { ...limits, budgets: limits.budgets.toSorted((a, b) => rank(a) - rank(b)) },
              alerts: alerts.toSorted((a, b) => a.at - b.at),
              models,
              lenient: false,
              cache: 'auto',
              expires_at: expires_at === null ? null : '2026-11-21T07:05:00.001Z',
              created_at: '2026-11-21T07:05:00.000Z',
              last_used_at: null,
              rotated_at: null,
              revoked_at: null,
              spend: { day_usd: 0, week_usd: 0, month_usd: 0, total_usd: 0 },
              debt_usd: 0,
              presumed_usd: 0,
            },
          )
          assert.deepEqual(new Set(record.scopes), new Set(scopes))
          const { items } = await keys.list({ limit: 1 })
          assert.deepEqual(items, [record])
          assert.equal((await keys.authenticate(key)).id, record.id)
        },
      ),
      { numRuns: 50 },
    )
  })

  it('refuses a token with any character changed', async () => {
    const { key } = await keys.create({ name: 'a' })
    await fc.assert(
      fc.asyncProperty(fc.nat(key.length - 1), fc.constantFrom(...'a0Z_- .'), async (at, character) => {
        fc.pre(key[at] !== character)
        await refusal(key.slice(0, at) + character + key.slice(at + 1))
      }),
    )
    await keys.authenticate(key)
  })

  it('says that no key was sent, or that it is not valid, and never which part was wrong', async () => {
    const { key, record } = await keys.create({ name: 'a' })
    const other = await keys.create({ name: 'b' })
    await keys.revoke(other.record.id)
    const wrong = [
      newToken().token,
      `${key.slice(0, -43)}${randomBytes(32).toString('base64url')}`,
      other.key,
      record.id,
      'sk-something-else',
      'x'.repeat(1_000_000),
    ]
    const messages = new Set<string>()
    for (const token of wrong) {
      const error = await refusal(token)
      messages.add(error.message)
      assert.ok(!`${error.message}${error.stack}`.includes(token))
    }
    assert.equal(messages.size, 1)
    const missing = [(await refusal(null)).message, (await refusal('')).message]
    assert.deepEqual(new Set(missing).size, 1)
    assert.match(missing[0] ?? '', /^No API key was sent/)
    assert.ok(!messages.has(missing[0] ?? ''))
  })

  it('keeps no token and no secret in any table, record, error or file', async () => {
    const { key, record } = await keys.create({ name: 'a', scopes: ['admin'] })
    const secret = key.slice(37)
    await keys.authenticate(key)
    assert.match((await refusal(`${key}x`)).message, /Keys of another data folder are unknown here\.$/)
    await assert.rejects(keys.revoke(key), (error: Error) => !`${error.stack}`.includes(secret))
    await keys.close()
    const rows = await store.db.selectFrom('keys').selectAll().execute()
    const shown = JSON.stringify([rows, record, await keys.list({ limit: 10 }), faults])
    assert.ok(!shown.includes(secret))
    assert.ok(!JSON.stringify(await keys.list({ limit: 10 })).includes(rows[0]?.hash ?? ''))
    for (const file of readdirSync(folder)) assert.ok(!readFileSync(join(folder, file)).includes(secret), file)
  })

  it('costs no query once a key is known', async () => {
    const own = await storeIn(newFolder())
    const guard = open(own)
    const { key, record } = await guard.create({ name: 'a' })
    await guard.authenticate(key)
    await refusal(newTokenOf(key), guard)
    await own.close()
    elapsed += 1_999
    assert.equal(guard.authenticateCached(key)?.id, record.id)
    assert.equal((await guard.authenticate(key)).id, record.id)
  })

  it('remembers for a while that there is no such key', async () => {
    const own = await storeIn(newFolder())
    const guard = open(own)
    const { token } = newToken()
    await refusal(token, guard)
    await own.close()
    await refusal(token, guard)
    elapsed += 4_000
    await assert.rejects(guard.authenticate(token), (error) => !(error instanceof GazewayError))
  })

  it('serves a key that it read 2 s ago while it reads it again', async () => {
    const { key, record } = await keys.create({ name: 'a' })
    await keys.authenticate(key)
    await open(store).revoke(record.id)
    elapsed += 1_999
    assert.ok(keys.authenticateCached(key))
    const revoked = new Promise((resolve) => keys.onEnded(resolve))
    elapsed += 1
    assert.ok(keys.authenticateCached(key), 'the old answer, while the new one is on its way')
    assert.equal(await revoked, record.id)
    assert.equal(keys.authenticateCached(key), null)
    await refusal(key)
    await keys.close()
  })

  it('serves no key that it read 4 s ago', async () => {
    const { key, record } = await keys.create({ name: 'a' })
    await keys.authenticate(key)
    await open(store).revoke(record.id)
    elapsed += 4_000
    assert.equal(keys.authenticateCached(key), null)
    await refusal(key)
  })

  it('goes on with a key that is still good after every age', async () => {
    const { key } = await keys.create({ name: 'a' })
    for (const age of [0, 1_999, 2_000, 3_999, 4_000, 60_000]) {
      elapsed += age
      assert.equal((await keys.authenticate(key)).name, 'a')
    }
    assert.deepEqual(faults, [])
  })

  it('tells a store that cannot be read from a key that is not valid', async () => {
    const own = await storeIn(newFolder())
    const guard = open(own)
    const { key } = await guard.create({ name: 'a' })
    await guard.authenticate(key)
    await own.close()
    elapsed += 3_000
    assert.ok(guard.authenticateCached(key))
    await guard.close()
    assert.equal(faults.length, 2, 'reading the key, and noting its use')
    elapsed += 1_000
    await assert.rejects(guard.authenticate(key), (error) => !(error instanceof GazewayError))
  })

  it('refuses its own revoked key at once, even where a read is under way', async () => {
    const { key, record } = await keys.create({ name: 'a' })
    const early = keys.authenticate(key).catch(() => null)
    const revoked = await keys.revoke(record.id)
    await early
    assert.equal(revoked.revoked_at, '2026-11-21T07:05:00.000Z')
    assert.equal(keys.authenticateCached(key), null)
    await refusal(key)
  })

  it('takes a second revocation as the first', async () => {
    const { record } = await keys.create({ name: 'a' })
    const ended: string[] = []
    keys.onEnded((id) => ended.push(id))
    const first = await keys.revoke(record.id)
    clock = new Date('2026-11-21T08:00:00.000Z')
    assert.deepEqual(await keys.revoke(record.id), first)
    assert.deepEqual(ended, [record.id])
    await keys.close()
  })

  it('tells every listener, whatever another one does, until it stops listening', async () => {
    const ended: string[] = []
    keys.onEnded(() => {
      throw new Error('a socket that is gone')
    })
    const stop = keys.onEnded((id) => ended.push(id))
    const [a, b] = [await keys.create({ name: 'a' }), await keys.create({ name: 'b' })]
    await keys.revoke(a.record.id)
    stop()
    await keys.revoke(b.record.id)
    assert.deepEqual(ended, [a.record.id])
    assert.deepEqual(faults.map(String), ['Error: a socket that is gone', 'Error: a socket that is gone'])
    await keys.close()
  })

  it('tells what a caller is held to, at once where it is known', async () => {
    const limits = { credit_limit_usd: 3, requests_per_minute: 60, tokens_per_minute: 9000, concurrent: 4 }
    const terms = {
      billing: 'cost' as const,
      models: ['gpt-*'],
      lenient: true,
      cache: 'off' as const,
      expires_at: '2026-11-21T08:00:00Z',
    }
    const { key, record } = await keys.create({
      name: 'a',
      ...terms,
      limits: {
        ...limits,
        budgets: [
          { usd: 2, per: 'month' },
          { usd: 1, per: 'day' },
        ],
      },
    })
    const waited = keys.identity(record.id)
    assert.ok(waited instanceof Promise, 'it was known before it was read')
    const identity = await waited
    assert.deepEqual(
      { ...identity, scopes: [...(identity?.scopes ?? [])] },
      {
        id: record.id,
        name: 'a',
        scopes: ['inference'],
        wallet: null,
        billing: 'cost',
        group: null,
        budgets: [
          { per: 'day', micros: 1_000_000 },
          { per: 'month', micros: 2_000_000 },
        ],
        sessionLimits: null,
        creditLimitMicros: 3_000_000,
        requestsPerMinute: 60,
        tokensPerMinute: 9000,
        concurrent: 4,
        models: ['gpt-*'],
        lenient: true,
        cache: 'off',
        expiresAt: '2026-11-21T08:00:00.000Z',
      },
    )
    assert.equal(keys.identity(record.id), identity)
    assert.equal(await keys.authenticate(key), identity)
    assert.equal(keys.identity(WALLET.toLowerCase()), null)
    assert.equal(await keys.identity(`key_${'0'.repeat(32)}`), null)
    const fixed = keys.identity('key_environment')
    assert.ok(fixed !== null && !(fixed instanceof Promise), 'the fixed key is not known')
    assert.deepEqual([fixed.billing, fixed.creditLimitMicros, fixed.budgets], ['recorded', null, []])
    await keys.change(record.id, { limits: { concurrent: null } })
    assert.equal((await keys.identity(record.id))?.concurrent, null)
    await keys.revoke(record.id)
    assert.throws(() => keys.identity(record.id), { code: 'invalid_api_key' })
  })

  it('bills new keys as the configuration says, which keys of admins are above', async () => {
    const billing = { platform: 'cost' as const, other: 'metered' as const }
    const configured = createKeys({
      store,
      now: () => clock,
      fixedKey: null,
      onError: (error) => faults.push(error),
      billing: () => billing,
    })
    const billingOf = async (scopes: Scope[]) => (await configured.create({ name: 'a', scopes })).record.billing
    assert.equal(await billingOf(['inference', 'platform']), 'cost')
    assert.equal(await billingOf(['inference']), 'metered')
    assert.equal(await billingOf(['platform', 'admin']), 'recorded')
    const { record } = await configured.create({ name: 'a', scopes: ['admin'] })
    await assert.rejects(keys.change(record.id, { billing: 'metered' }), {
      code: 'validation_failed',
      param: 'billing',
    })
    assert.equal((await keys.list({ limit: 1 })).items[0]?.billing, 'recorded')
  })

  it('does not know a key that is not there', async () => {
    for (const id of ['key_019aa5b2c3d47e6f8091a2b3c4d5e6f7', 'key_environment', ''])
      await assert.rejects(keys.revoke(id), { code: 'not_found', param: 'id' })
  })

  it('lists keys newest first, page by page, revoked ones too', async () => {
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) ids.unshift((await keys.create({ name })).record.id)
    await keys.revoke(ids[1] ?? '')
    const first = await keys.list({ limit: 2 })
    assert.deepEqual([first.total, first.items.map((key) => key.id)], [3, ids.slice(0, 2)])
    const second = await keys.list({ limit: 2, cursor: first.next_cursor ?? '' })
    assert.deepEqual([second.next_cursor, second.items.map((key) => key.id)], [null, ids.slice(2)])
    assert.deepEqual(
      (await keys.list({ limit: 5, offset: 1 })).items.map((key) => key.id),
      ids.slice(1),
    )
    await assert.rejects(keys.list({ limit: 2, cursor: 'x' }), { code: 'invalid_cursor' })
  })

  it('lists the keys that nobody used since a time, without those made later and revoked ones', async () => {
    const made = async (name: string) => ({ name, ...(await keys.create({ name })) })
    const [unused, used, revoked] = [await made('unused'), await made('used'), await made('revoked')]
    await keys.revoke(revoked.record.id)
    clock = new Date('2026-11-25T07:00:00.000Z')
    await made('late')
    await keys.authenticate(used.key)
    await keys.close()
    const of = async (unused_since: string) => {
      const { items, total } = await keys.list({ limit: 10, unused_since })
      assert.equal(total, items.length)
      return items.map(({ name }) => name)
    }
    assert.deepEqual(await of('2026-11-21T08:04:59+01:00'), [])
    assert.deepEqual(await of('2026-11-25T08:00:00+01:00'), [unused.name])
    assert.deepEqual(await of('2026-11-25T07:00:01Z'), ['late', used.name, unused.name])
  })

  it('makes no key from what is not one', async () => {
    const cases: [input: object, param: string][] = [
      [{ name: '' }, 'name'],
      [{ name: 'a\nb' }, 'name'],
      [{ name: 'x'.repeat(101) }, 'name'],
      [{ name: 'a', scopes: [] }, 'scopes'],
      [{ name: 'a', scopes: ['root'] }, 'scopes.0'],
      [{ name: 'a', wallet: '0x12' }, 'wallet'],
      [{ name: 'a', group: 'nowhere' }, 'group'],
      [{ name: 'a', billing: 'free' }, 'billing'],
      [{ name: 'a', billing: 'metered', scopes: ['admin'] }, 'billing'],
      [{ name: 'a', limits: { credit_limit_usd: 0.0000001 } }, 'limits.credit_limit_usd'],
      [{ name: 'a', limits: { credit_limit_usd: -1 } }, 'limits.credit_limit_usd'],
      [{ name: 'a', limits: { budgets: [{ usd: 0, per: 'day' }] } }, 'limits.budgets.0.usd'],
      [{ name: 'a', limits: { budgets: [{ usd: 1_000_001, per: 'day' }] } }, 'limits.budgets.0.usd'],
      [{ name: 'a', limits: { budgets: [{ usd: 1, per: 'year' }] } }, 'limits.budgets.0.per'],
      [{ name: 'a', limits: { budgets: [DAILY, { usd: 2, per: 'total' }, DAILY] } }, 'limits.budgets.2.per'],
      [{ name: 'a', limits: { requests_per_minute: 0 } }, 'limits.requests_per_minute'],
      [{ name: 'a', limits: { tokens_per_minute: 1.5 } }, 'limits.tokens_per_minute'],
      [{ name: 'a', limits: { concurrent: -1 } }, 'limits.concurrent'],
      [{ name: 'a', models: [] }, 'models'],
      [{ name: 'a', models: ['gpt 4'] }, 'models.0'],
      [{ name: 'a', expires_at: '2026-11-21' }, 'expires_at'],
      [{ name: 'a', expires_at: '2026-11-21T07:05:00.000Z' }, 'expires_at'],
      [{ name: 'a', expires_at: '2027-13-45T99:99:99Z' }, 'expires_at'],
      [{ name: 'a', expires_at: '90 days' }, 'expires_at'],
      [{ name: 'a', expires_at: '0d' }, 'expires_at'],
      [{ name: 'a', expires_at: '36501d' }, 'expires_at'],
      [{ name: 'a', id: 'key_x' }, 'id'],
    ]
    for (const [input, param] of cases)
      await assert.rejects(keys.create(input as { name: string }), { code: 'validation_failed', param })
    assert.equal((await keys.list({ limit: 1 })).total, 0)
  })

  it('takes a duration from now for an end, as the command line does', async () => {
    const { record } = await keys.create({ name: 'a', expires_at: '90d' })
    assert.equal(record.expires_at, '2027-02-19T07:05:00.000Z')
    assert.equal((await keys.change(record.id, { expires_at: '24h' })).expires_at, '2026-11-22T07:05:00.000Z')
    const late = await keys.change(record.id, { expires_at: '9999-12-31T23:59:59-05:00' })
    assert.equal(late.expires_at, '9999-12-31T23:59:59.999Z', 'a time that sorts as text')
  })

  it('notes when a key was last used, together and once', async () => {
    const { key, record } = await keys.create({ name: 'a' })
    await refusal(newTokenOf(key))
    await keys.close()
    assert.equal((await keys.list({ limit: 1 })).items[0]?.last_used_at, null)
    await keys.authenticate(key)
    await keys.close()
    assert.deepEqual((await keys.list({ limit: 1 })).items[0], { ...record, last_used_at: '2026-11-21T07:05:00.000Z' })
  })

  it('does not note an earlier use over a later one, which another process has noted', async () => {
    const { key } = await keys.create({ name: 'a' })
    const slow = open(store)
    await slow.authenticate(key)
    clock = new Date('2026-11-21T07:06:00.000Z')
    await keys.authenticate(key)
    await keys.close()
    await slow.close()
    assert.equal((await keys.list({ limit: 1 })).items[0]?.last_used_at, '2026-11-21T07:06:00.000Z')
  })

  describe('scopes', () => {
    it('all come with admin', async () => {
      const { key, record } = await keys.create({ name: 'a', scopes: ['admin'] })
      assert.deepEqual(record.scopes, ['admin'])
      const identity = await keys.authenticate(key)
      for (const scope of Scope.options) requireScope(identity, scope)
    })

    it('are refused to keys without them', async () => {
      const { key } = await keys.create({ name: 'a' })
      const identity = await keys.authenticate(key)
      requireScope(identity, 'inference')
      for (const scope of ['platform', 'admin'] as const)
        assert.throws(() => requireScope(identity, scope), {
          code: 'insufficient_scope',
          status: 403,
          message: new RegExp(`needs a key with the scope ${scope}; yours has inference`),
        })
    })
  })

  describe('the fixed key', () => {
    it('is an admin, beside the keys of the store', async () => {
      const fixed = 'a-fixed-key-of-the-environment'
      const guard = open(store, fixed)
      const { key, record } = await guard.create({ name: 'a' })
      const identity = guard.authenticateCached(fixed)
      assert.deepEqual([identity?.id, identity?.wallet], ['key_environment', null])
      assert.deepEqual(identity?.scopes, new Set(Scope.options))
      assert.equal((await guard.authenticate(key)).id, record.id)
      await refusal(`${fixed}x`, guard)
      await refusal(fixed, keys)
    })

    it('may be in the form of a token', async () => {
      const { token } = newToken()
      assert.equal((await open(store, token).authenticate(token)).id, 'key_environment')
    })
  })

  /** A token of the same key with another secret. */
  function newTokenOf(key: string): string {
    return key.slice(0, 37) + newToken().token.slice(37)
  }
})
