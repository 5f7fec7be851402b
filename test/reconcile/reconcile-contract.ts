import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test'
import type { Base } from '../../src/base.ts'
import type { Environment } from '../../src/config/environment.ts'
import { accountsOf } from '../../src/reconcile/accounts.ts'
import { billSweeps } from '../../src/reconcile/keep-bills.ts'
import { keepActivity } from '../../src/reconcile/openrouter-activity.ts'
import { checkBilling, type ReconciledAccount, type Reconciliation, reconcile } from '../../src/reconcile/reconcile.ts'
import { reconciliationCsv } from '../../src/reconcile/reconciliation-csv.ts'
import type { Store } from '../../src/store/store.ts'
import { type BillingDouble, type BillingFacts, startBilling } from '../doubles/billing.ts'
import { callAt, configWith, record, refuses } from './setup.ts'

const NOW = new Date('2026-11-03T12:00:00.000Z')
const OURS = 'sk-proj-abcdefghijkl-ours'
const KEYS = [
  { id: 'key_ours', name: 'gazeway', hint: 'sk-proj-***ours' },
  { id: 'key_batch', name: 'nightly batch', hint: 'sk-proj-***9x2f' },
]

/** Tests of reconciliation, on a store that `open` makes. */
export function reconcileContract(engine: string, open: () => Promise<Store>): void {
  let store: Store
  before(async () => {
    store = await open()
  })
  beforeEach(async () => {
    await store.db.deleteFrom('calls').execute()
    await store.db.deleteFrom('billed_activity').execute()
  })
  after(() => store.close())

  describe(`reconciliation on ${engine}`, () => {
    it('sets the bill of OpenAI beside the calls by day, key and model, over all its pages', async (t) => {
      const { ask } = await account(t, 'openai', {
        now: NOW,
        pageSize: 9,
        keys: KEYS,
        rows: [
          {
            day: '2026-10-02',
            key: 'key_ours',
            model: 'gpt-5-2025-08-07',
            usd: '0.0000125',
            requests: 2,
            prompt: 1800,
            completion: 200,
          },
          { day: '2026-10-02', key: 'key_batch', model: 'gpt-5-2025-08-07', usd: '3.5' },
          {
            day: '2026-10-31',
            key: 'key_ours',
            model: 'gpt-5-mini',
            usd: '0.2',
            requests: 1,
            prompt: 900,
            completion: 100,
          },
        ],
      })
      await record(store, [
        callAt('2026-10-02T00:00:00.000Z', 'bill', 'gpt-5', 0.000007),
        callAt('2026-10-02T23:59:59.999Z', 'bill', 'gpt-5', 0.000007),
        callAt('2026-10-31T10:00:00.000Z', 'bill', 'gpt-5-mini', 0.1, { caller_id: null }),
        callAt('2026-11-01T00:00:00.000Z', 'bill', 'gpt-5', 50),
        callAt('2026-10-05T10:00:00.000Z', 'bill', 'gpt-5', 0, { status: 'refused', usage: null }),
        callAt('2026-10-06T10:00:00.000Z', 'bill', 'gpt-5', 0, { price_from: 'own_key' }),
      ])
      const { totals, days, notes } = only(await ask('2026-10'))
      assert.deepEqual(
        days.map(({ day, model, billed_usd, counted_usd, elsewhere_usd, is_explained, reasons }) => [
          ...[day, model, billed_usd, counted_usd, elsewhere_usd],
          ...[is_explained, reasons.map(({ reason }) => reason)],
        ]),
        [
          ['2026-10-02', 'gpt-5', 0.000013, 0.000014, 3.5, true, ['rounding']],
          ['2026-10-31', 'gpt-5-mini', 0.2, 0.1, 0, false, ['price']],
        ],
      )
      assert.deepEqual(days[0]?.billed, [
        {
          key: 'key_ours',
          name: 'gazeway',
          is_ours: true,
          usd: 0.000013,
          requests: 2,
          prompt_tokens: 1800,
          completion_tokens: 200,
        },
        {
          key: 'key_batch',
          name: 'nightly batch',
          is_ours: false,
          usd: 3.5,
          requests: 0,
          prompt_tokens: 0,
          completion_tokens: 0,
        },
      ])
      assert.deepEqual(days[1]?.counted, [
        { provider_key: 'bill', caller_id: null, calls: 1, usd: 0.1, prompt_tokens: 900, completion_tokens: 100 },
      ])
      assert.deepEqual(totals, {
        billed_usd: 0.200013,
        counted_usd: 0.100014,
        difference_usd: 0.099999,
        elsewhere_usd: 3.5,
        unexplained_usd: 0.1,
      })
      assert.deepEqual(notes, [])
    })

    it('tells two of our keys on a bill apart by the ids that the configuration gives them', async (t) => {
      const row = { day: '2026-10-02', model: 'gpt-5' }
      const { double } = await account(t, 'openai', {
        now: NOW,
        keys: KEYS,
        rows: [
          { ...row, key: 'key_ours', usd: '0.4' },
          { ...row, key: 'key_gone', usd: '1.5' },
          { ...row, key: 'key_batch', usd: '3.5' },
        ],
      })
      const config = configWith({
        bill: {
          ...{ provider: 'openai', base_url: double.url },
          ...{ api_keys: [OURS, 'sk-proj-second-of-ours'], key_ids: [null, 'key_gone'] },
        },
      })
      const of = (provider_key: string | null, caller_id = 'key_ann') => ({ provider_key, caller_id })
      await record(store, [
        callAt('2026-10-02T10:00:00.000Z', 'bill', 'gpt-5', 0.25, of('key_gone')),
        callAt('2026-10-02T11:00:00.000Z', 'bill', 'gpt-5', 1.25, of('key_gone', 'key_bob')),
        callAt('2026-10-02T12:00:00.000Z', 'bill', 'gpt-5', 0.3, of(null)),
        callAt('2026-10-02T13:00:00.000Z', 'bill', 'gpt-5', 0.1, of('key_mistyped')),
      ])
      const env = { GAZEWAY_UPSTREAM_BILL_ADMIN_KEY: ADMIN_KEYS.openai }
      const deps = { store, config, env, now: NOW, onProgress: () => {} }
      const { days, notes } = only(await reconcile(deps, { month: '2026-10', upstream: 'bill' }))
      assert.deepEqual(
        days.map((day) => [
          ...[day.provider_key, day.billed_usd, day.counted_usd, day.difference_usd, day.elsewhere_usd],
          ...day.counted.map(({ provider_key, caller_id, usd }) => `${provider_key} ${caller_id} ${usd}`),
        ]),
        [
          [null, 0.4, 0.4, 0, 3.5, 'bill key_ann 0.3', 'key_mistyped key_ann 0.1'],
          ['key_gone', 1.5, 1.5, 0, 0, 'key_gone key_ann 0.25', 'key_gone key_bob 1.25'],
        ],
      )
      assert.match(`${await checkBilling(store, config, env)}`, /1 of 2 keys without an id \(key_ids\)$/)
      assert.match(notes.join(), /^The bill names no key key_mistyped \(key_id, key_ids\)/)
    })

    it('compares a key that the configuration names from the middle of a month on with calls without an id before', async (t) => {
      const row = { model: 'gpt-5', key: 'key_ours' }
      const { ask } = await account(t, 'openai', {
        now: NOW,
        keys: KEYS,
        rows: [
          { ...row, day: '2026-10-01', usd: '1' },
          { ...row, day: '2026-10-02', usd: '2' },
          { ...row, day: '2026-10-03', usd: '3' },
        ],
      })
      const ours = { provider_key: 'key_ours' }
      await record(store, [
        callAt('2026-10-01T10:00:00.000Z', 'bill', 'gpt-5', 1),
        callAt('2026-10-02T10:00:00.000Z', 'bill', 'gpt-5', 0.5),
        callAt('2026-10-02T12:00:00.000Z', 'bill', 'gpt-5', 1.5, ours),
        callAt('2026-10-03T12:00:00.000Z', 'bill', 'gpt-5', 2.5, ours),
        callAt('2026-10-03T13:00:00.000Z', 'bill', 'gpt-5', 0.5),
      ])
      const { days } = only(await ask('2026-10'))
      assert.deepEqual(
        days.map((day) => [day.day, day.provider_key, day.billed_usd, day.counted_usd]),
        [
          ['2026-10-01', null, 1, 1],
          ['2026-10-02', null, 2, 2],
          ['2026-10-03', null, 0, 0.5],
          ['2026-10-03', 'key_ours', 3, 2.5],
        ],
      )
    })

    it('explains what is unpriced, estimated, a fee, preliminary or of a key that is gone', async (t) => {
      const { ask } = await account(t, 'openai', {
        now: NOW,
        keys: KEYS,
        rows: [
          { day: '2026-10-01', key: 'key_ours', model: 'new-model', usd: '9' },
          { day: '2026-10-02', key: 'key_ours', model: 'gpt-5', usd: '0.9' },
          { day: '2026-10-03', key: 'key_ours', model: '', fee: 'web search tool calls', usd: '0.01' },
          { day: '2026-10-04', key: 'key_gone', model: 'gpt-5', usd: '0.25' },
          { day: '2026-10-05', key: 'key_ours', model: 'gpt-5', usd: '7', prompt: 5_000_000 },
        ],
      })
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, estimated: true }
      await record(store, [
        callAt('2026-10-01T01:00:00.000Z', 'bill', 'new-model', 3, { price_from: 'flat' }),
        callAt('2026-10-02T01:00:00.000Z', 'bill', 'gpt-5', 1, { usage }),
        callAt('2026-10-05T01:00:00.000Z', 'bill', 'gpt-5', 1),
        callAt('2026-11-02T01:00:00.000Z', 'bill', 'gpt-5', 4),
      ])
      const { days, notes } = only(await ask('2026-10'))
      assert.deepEqual(
        days.map(({ model, difference_usd, is_explained, reasons }) => [model, difference_usd, is_explained, reasons]),
        [
          ['new-model', 6, true, [{ reason: 'unpriced', calls: 1, usd: 3 }]],
          ['gpt-5', -0.1, true, [{ reason: 'estimated', calls: 1, usd: 1 }]],
          ['(web search tool calls)', 0.01, true, [{ reason: 'fee', usd: 0.01 }]],
          ['gpt-5', 0.25, true, [{ reason: 'unknown_key', usd: 0.25 }]],
          ['gpt-5', 6, false, [{ reason: 'tokens' }]],
        ],
      )
      assert.match(notes.join(), /does not show 1 of 2 keys/)
      const { days: fresh } = only(await ask('2026-11'))
      assert.deepEqual(fresh[0]?.reasons, [{ reason: 'preliminary' }])
    })

    it('reads the bill of Anthropic by key, and without keys where the account has no access to that', async (t) => {
      const found = await account(t, 'anthropic', {
        now: NOW,
        pageSize: 1,
        keys: [
          { id: 'apikey_1', name: 'gazeway', hint: 'sk-proj-a...ours' },
          { id: 'apikey_2', name: 'laptop', hint: 'sk-ant-api03-R2D...igAA' },
        ],
        rows: [
          {
            day: '2026-10-02',
            key: 'apikey_1',
            model: 'claude-haiku-4-5-20251001',
            usd: '0.0123456',
            prompt: 900,
            completion: 100,
          },
          { day: '2026-10-02', key: 'apikey_2', model: 'claude-haiku-4-5-20251001', usd: '0.5' },
        ],
      })
      const { ask, double } = found
      await record(store, [callAt('2026-10-02T10:00:00.000Z', 'bill', 'claude-haiku-4-5', 0.012346)])
      const byKey = only(await ask('2026-10'))
      assert.deepEqual(byKey.totals, {
        billed_usd: 0.012346,
        counted_usd: 0.012346,
        difference_usd: 0,
        elsewhere_usd: 0.5,
        unexplained_usd: 0,
      })
      double.facts = { ...double.facts, hasBeta: false }
      const reported = only(await ask('2026-10'))
      assert.match(`${reported.source} ${reported.notes}`, /cost_report .*cannot read costs by key/)
      assert.deepEqual([reported.totals.billed_usd, reported.days[0]?.reasons], [0.512346, [{ reason: 'not_by_key' }]])
    })

    it('keeps the activity of OpenRouter, which forgets it, and says which days nobody kept', async (t) => {
      const hash = createHash('sha256').update(OURS).digest('hex')
      const row = { model: 'openai/gpt-5', usd: '1', prompt: 900, completion: 100 }
      const found = await account(t, 'openrouter', {
        now: new Date('2026-10-12T08:00:00.000Z'),
        rows: [
          { ...row, day: '2026-10-02', key: hash },
          { ...row, day: '2026-10-02', key: 'another', usd: '0.25' },
          { ...row, day: '2026-10-20', key: hash },
        ],
      })
      const { ask, double } = found
      await record(store, [
        callAt('2026-10-02T10:00:00.000Z', 'bill', 'openai/gpt-5', 1, {
          price_from: 'stated',
          provider_key: found.only.keyIds[0] ?? null,
        }),
      ])
      await keepActivity(store, found.only, double.facts.now)
      double.facts = { ...double.facts, now: new Date('2026-11-15T08:00:00.000Z') }
      const { days, notes, totals } = only(await ask('2026-10', double.facts.now))
      assert.deepEqual(
        days.map(({ day, provider_key: key, ...of }) => [
          ...[day, key, of.billed_usd, of.elsewhere_usd, of.counted_usd],
        ]),
        [
          ['2026-10-02', null, 0, 0.25, 0],
          ['2026-10-02', hash, 1, 0, 1],
          ['2026-10-20', hash, 1, 0, 0],
        ],
        'an id of a key there is its hash, without a setting',
      )
      assert.equal(totals.unexplained_usd, 1)
      assert.match(notes.join(), /kept 4 days from 2026-10-12 to 2026-10-15\.$/)
    })

    it('takes the cost that xAI states in each answer for its bill', async () => {
      const config = configWith({ xai: { api_keys: ['xai-key-of-ours'] } })
      await record(store, [
        callAt('2026-10-02T10:00:00.000Z', 'xai', 'grok-4.3', 1.5, { price_from: 'stated' }),
        callAt('2026-10-02T11:00:00.000Z', 'xai', 'grok-4.3', 0.5),
      ])
      const deps = { store, config, env: {}, now: NOW, onProgress: () => {} }
      const found = only(await reconcile(deps, { month: '2026-10', upstream: 'xai' }))
      assert.deepEqual([found.totals.billed_usd, found.totals.counted_usd], [1.5, 2])
      assert.match(found.source ?? '', /states in each answer/)
    })

    it('repeats a request that met a transient error, and refuses keys of another kind without showing them', async (t) => {
      const { ask, double } = await account(t, 'openai', { now: NOW, rows: [] })
      double.failNext(503, 2)
      assert.deepEqual(only(await ask('2026-10')).days, [])
      double.failNext(500, 4)
      await assert.rejects(ask('2026-10'), refuses('upstream_error', /costs answered 500.* for a moment/))
      const secret = 'sk-proj-of-a-model-call'
      const config = configWith({ bill: { provider: 'openai', base_url: double.url, api_keys: [OURS] } })
      const env = { GAZEWAY_UPSTREAM_BILL_ADMIN_KEY: secret }
      const deps = { store, config, env, now: NOW, onProgress: () => {} }
      const error = await reconcile(deps, { month: '2026-10', upstream: 'bill' }).catch((reason: Error) => reason)
      assert.match(`${error}`, /GAZEWAY_UPSTREAM_BILL_ADMIN_KEY is not an admin key \(sk-admin-…\): make one at https/)
      assert.ok(!`${error}`.includes(secret))
      const routed = { config: configWith({ bill: { provider: 'openrouter', base_url: double.url } }), env }
      const echoed = await reconcile({ ...deps, ...routed }, { month: '2026-10' }).catch((reason: Error) => reason)
      assert.match(`${echoed}`, /answered 403.*_ADMIN_KEY must be a management key.* You sent Bearer \*\*\*/)
    })

    it('refuses replies that are too large, of another shape, or that do not name their next page', async (t) => {
      const { ask, double } = await account(t, 'openai', { now: NOW, rows: [] })
      const empty = { object: 'page', data: [] }
      for (const [body, message] of [
        [' '.repeat(17 * 1024 * 1024), /costs is larger than 16777216 bytes/],
        ['<html>', /costs has another shape: .* Update Gazeway/],
        [JSON.stringify({ ...empty, has_more: true, next_page: null }), /has more pages and does not name the next/],
        [
          JSON.stringify({
            data: [{ start_time: 1, results: [{ amount: { value: 'much', currency: 'usd' } }] }],
            has_more: false,
          }),
          /data\.0\.results\.0\.amount\.value: not a decimal/,
        ],
      ] as const) {
        double.replyNext(body)
        await assert.rejects(ask('2026-10'), refuses('upstream_bad_reply', message))
      }
    })

    it('keeps the activity in a sweep of a running gateway, and does nothing without a key', async (t) => {
      const row = { model: 'openai/gpt-5', day: '2026-10-20', key: 'another', usd: '1' }
      const { double } = await account(t, 'openrouter', { now: NOW, rows: [row] })
      const kept = () =>
        store.db.selectFrom('billed_activity').select(['day', 'micros']).where('model', '<>', '').execute()
      const sweepWith = async (env: Environment) => {
        const config = configWith({ bill: { provider: 'openrouter', base_url: double.url } })
        const current = () => ({ config, request: { env } })
        const [sweep] = billSweeps({ store, now: () => NOW, config: { current } as unknown as Base['config'] })
        await sweep?.batch(500)
        return sweep
      }
      assert.equal(await sweepWith({}), undefined, 'it would take the turn of a process that has a key')
      await sweepWith({ OPENROUTER_MANAGEMENT_KEY: ADMIN_KEYS.openrouter })
      assert.deepEqual([await kept(), double.asked], [[], []], 'the key of the provider is not for another address')
      await sweepWith({ GAZEWAY_UPSTREAM_BILL_ADMIN_KEY: ADMIN_KEYS.openrouter })
      await sweepWith({ GAZEWAY_UPSTREAM_BILL_ADMIN_KEY: ADMIN_KEYS.openrouter })
      assert.deepEqual(await kept(), [{ day: '2026-10-20', micros: 1_000_000 }])
    })

    it('says what to do about a month, an upstream or a provider that it cannot reconcile', async (t) => {
      const { ask } = await account(t, 'openai', { now: NOW, rows: [] })
      for (const month of ['2026-12', '2026-13', '2026-10-01', 'October'])
        await assert.rejects(ask(month), refuses('validation_failed', /--month: must be a UTC month that has begun/))
      const config = configWith({
        gemini: { api_keys: ['of-google'] },
        mistral: { api_keys: ['m'] },
        openai: { api_keys: ['o'] },
      })
      const deps = { store, config, env: {}, now: NOW, onProgress: () => {} }
      await assert.rejects(
        reconcile(deps, { month: '2026-10', upstream: 'nobody' }),
        refuses('not_found', /no upstream is named nobody; there are sandbox, gemini, mistral, openai/),
      )
      await record(store, [callAt('2026-10-02T10:00:00.000Z', 'gone', 'm', 0.5)])
      const { accounts } = await reconcile(deps, { month: '2026-10' })
      assert.deepEqual(
        accounts.map(({ vendor, notes, totals }) => [vendor, totals.counted_usd, ...notes]),
        [
          ['gemini', 0, 'Google bills by the export of Cloud Billing to BigQuery, which Gazeway does not read.'],
          ['mistral', 0, 'Gazeway reads no bill of mistral: compare its invoice with the counted sum.'],
          ['openai', 0, 'Set OPENAI_ADMIN_KEY to compare with the bill itself.'],
          [
            'gone',
            0.5,
            'No upstream has this name here: its bill is not known. If the gateway is started with --upstream gone, add that.',
          ],
        ],
      )
    })

    it('writes CSV with a line for each key and each difference', async (t) => {
      const { ask } = await account(t, 'openai', {
        now: NOW,
        keys: KEYS,
        rows: [{ day: '2026-10-02', key: 'key_batch', model: 'gpt-5', usd: '2' }],
      })
      await record(store, [callAt('2026-10-02T10:00:00.000Z', 'bill', 'gpt-5', 1)])
      assert.deepEqual(reconciliationCsv(await ask('2026-10')).split('\r\n'), [
        'day,upstream,provider_key,model,what,key,key_name,calls,prompt_tokens,completion_tokens,usd,why',
        '2026-10-02,bill,,gpt-5,elsewhere,key_batch,nightly batch,0,0,0,2,',
        '2026-10-02,bill,bill,gpt-5,counted,key_ann,,1,900,100,1,',
        '2026-10-02,bill,,gpt-5,difference,,,,,,-1,not_billed unexplained',
        '',
      ])
    })
  })

  /** A store, and one upstream whose provider is a double. */
  async function account(t: TestContext, provider: 'openai' | 'anthropic' | 'openrouter', facts: BillingFacts) {
    const double: BillingDouble = await startBilling(facts)
    t.after(() => double.close())
    const config = configWith({ bill: { provider, base_url: double.url, api_keys: [OURS] } })
    const env: Environment = { GAZEWAY_UPSTREAM_BILL_ADMIN_KEY: ADMIN_KEYS[provider] }
    const found = accountsOf(config, env).find(({ vendor }) => vendor === provider)
    assert.ok(found)
    const ask = (month: string, now = NOW): Promise<Reconciliation> =>
      reconcile({ store, config, env, now, onProgress: () => {} }, { month, upstream: 'bill' })
    return { double, ask, only: found }
  }
}

const ADMIN_KEYS = {
  openai: 'sk-admin-1234567890',
  anthropic: 'sk-ant-admin01-12345',
  openrouter: 'sk-or-v1-management1',
}

function only({ accounts }: Reconciliation): ReconciledAccount {
  const [found, ...others] = accounts
  assert.ok(found !== undefined && others.length === 0)
  return found
}
