import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { Store } from '../../src/store/store.ts'
import { toUsd } from '../../src/text/money.ts'
import { sweepAllowances } from '../../src/wallet/budget/presumed-spending.ts'
import {
  completion,
  failedChoices,
  failedCompletion,
  fails,
  hangs,
  json,
  response,
  startUpstream,
} from '../doubles/upstream.ts'
import {
  by,
  CHAT,
  countTokens,
  keysOn,
  newAddress,
  newKey,
  ONE_CALL,
  ONE_RESERVATION,
  type WalletOptions,
  walletOn,
} from './setup.ts'

const RESEARCH = 'llm-4.20-multi-agent-beta-0309'

/** Tests of metered calls, for every engine. `open` opens an empty store. */
export function meteringContract(open: () => Promise<Store>): void {
  async function start(t: TestContext, options: WalletOptions = {}) {
    const [store, upstream] = await Promise.all([open(), startUpstream()])
    upstream.on('/chat/completions', json(200, completion('Hello back')))
    const wallet = walletOn(store, upstream.url, options)
    const caller = await newKey(store)
    const check = async (expected: { available: number; held?: number }) => {
      const { available_usd, held_usd } = await wallet.balances(caller)
      assert.deepEqual(
        { available_usd, held_usd },
        { available_usd: toUsd(expected.available), held_usd: toUsd(expected.held ?? 0) },
      )
      assert.deepEqual((await wallet.verify()).faults, [])
    }
    t.after(async () => {
      await wallet.settle()
      await upstream.close()
      await store.close()
    })
    return { store, upstream, wallet, caller, check }
  }

  it('answers with a receipt that is right to the last digit', async (t) => {
    const { wallet, caller, check } = await start(t)
    const { call_id, latency_ms, ...receipt } = await wallet.meteredCall(ONE_CALL, by(caller))
    assert.match(call_id, /^call_[0-9a-f]{32}$/)
    assert.ok(latency_ms >= 0)
    assert.deepEqual(receipt, {
      result: { role: 'assistant', content: 'Hello back' },
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      billing: { upstream_cost_usd: 0.000045, margin_usd: 0.08, total_usd: 0.080045, token: 'pathUSD' },
    })
    await check({ available: -80_045 })
  })

  it('goes to the responses endpoint with search tools, and bills the fallback where that answered', async (t) => {
    const { upstream, wallet, caller, check } = await start(t, {
      pricing: { models: { 'llm-4.20-0309-reasoning': { input: 5, output: 5 } } },
    })
    upstream.on('/responses', json(200, response('Found it')), fails(500))
    const call = { ...ONE_CALL, model: RESEARCH, tools: ['web_search', 'x_search', 'web_search'] }
    const found = await wallet.meteredCall(call, by(caller))
    assert.equal(found.result.content, 'Found it')
    assert.deepEqual(found.usage, { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 })
    assert.deepEqual(upstream.received[0]?.body, {
      model: RESEARCH,
      input: 'Hello',
      max_output_tokens: 100,
      tools: [{ type: 'web_search' }, { type: 'x_search' }],
      stream: true,
    })
    const instead = await wallet.meteredCall(call, by(caller))
    assert.equal(instead.result.content, 'Hello back')
    assert.equal(instead.billing.upstream_cost_usd, 0.000075)
    await check({ available: -160_000 - 81 - 75 })
    const [fallback, failed] = await wallet.history()
    assert.ok(failed && fallback?.fallback_from)
  })

  it('gives everything back when the upstream fails, and says 502', async (t) => {
    const { upstream, wallet, caller, check } = await start(t)
    for (const status of [400, 401, 429, 500, 503]) {
      upstream.on('/chat/completions', fails(status))
      await assert.rejects(wallet.meteredCall(ONE_CALL, by(caller)), { code: 'upstream_error', status: 502 })
    }
    for (const failed of failedChoices) {
      upstream.on('/chat/completions', json(200, failedCompletion('Half an ', failed)))
      await assert.rejects(wallet.meteredCall(ONE_CALL, by(caller)), { code: 'upstream_error', status: 502 })
    }
    await check({ available: 0 })
    // The provider billed the answers that it broke off.
    const { items, totals } = await wallet.usage({ limit: 10 })
    assert.equal(totals.total_usd, 0)
    assert.deepEqual(
      items.map(({ charged, absorbed_usd }) => [charged, absorbed_usd]),
      failedChoices.map(() => [false, 0.000045]),
    )
  })

  it('gives everything back when the upstream hangs, or its client goes', async (t) => {
    const { upstream, wallet, caller, check } = await start(t, { wallet: { call_timeout_ms: 1000 } })
    // Loads the tokenizer, so that the time of the call is the upstream's.
    await countTokens('Hello')
    upstream.on('/chat/completions', hangs)
    await assert.rejects(wallet.meteredCall(ONE_CALL, by(caller)), { code: 'upstream_timeout', status: 504 })
    await check({ available: 0 })
    const gone = new AbortController()
    upstream.on('/chat/completions', (reply, request) => {
      gone.abort()
      return json(200, completion('Hello back'))(reply, request)
    })
    await assert.rejects(wallet.meteredCall(ONE_CALL, by(caller, undefined, gone.signal)), { code: 'cancelled' })
    await check({ available: 0 })
    // The operator bears both: the answer was read on, for what it cost, and the other may have cost its reservation.
    const { items, totals } = await wallet.usage({ limit: 10 })
    assert.deepEqual(
      items.map(({ charged, billing, absorbed_usd, usage }) => [
        ...[charged, billing.total_usd, absorbed_usd, usage.estimated],
      ]),
      [
        [false, 0, 0.000045, undefined],
        [false, 0, toUsd(ONE_RESERVATION - 80_000), true],
      ],
    )
    assert.equal(totals.total_usd, 0)
    assert.deepEqual(wallet.errors, [])
  })

  it('bounds the answer by the name of the limit that every provider knows', async (t) => {
    const { upstream, wallet, caller } = await start(t)
    await wallet.meteredCall(ONE_CALL, by(caller))
    const { max_tokens, max_completion_tokens } = (upstream.received[0]?.body ?? {}) as Record<string, unknown>
    assert.deepEqual([max_tokens, max_completion_tokens], [100, undefined])
  })

  it('counts the tokens itself, and says so, where the upstream reports none', async (t) => {
    const { upstream, wallet, caller } = await start(t)
    upstream.on('/chat/completions', json(200, completion('Hello back', null)))
    const { usage, billing } = await wallet.meteredCall(ONE_CALL, by(caller))
    assert.equal(usage.estimated, true)
    assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
    assert.equal(billing.upstream_cost_usd, toUsd(usage.total_tokens * 3))
    assert.deepEqual((await wallet.usage({ limit: 1 })).items[0]?.usage, usage)
  })

  it('refuses an invalid metered call before it reserves money', async (t) => {
    const { upstream, wallet, caller, check } = await start(t, { wallet: { max_prompt_bytes: 1000 } })
    const refused: Array<[Record<string, unknown>, { code: string; status: number; param: string }]> = [
      [{ model: 'llm-3-fast' }, { code: 'model_not_supported', status: 400, param: 'model' }],
      [{ max_tokens: 0 }, { code: 'validation_failed', status: 422, param: 'max_tokens' }],
      [{ max_tokens: -1 }, { code: 'validation_failed', status: 422, param: 'max_tokens' }],
      [{ max_tokens: 1.5 }, { code: 'validation_failed', status: 422, param: 'max_tokens' }],
      [{ max_tokens: 8193 }, { code: 'validation_failed', status: 422, param: 'max_tokens' }],
      [{ tools: ['shell'] }, { code: 'validation_failed', status: 422, param: 'tools.0' }],
      [{ prompt: '' }, { code: 'validation_failed', status: 422, param: 'prompt' }],
      [{ prompt: 'é'.repeat(501) }, { code: 'payload_too_large', status: 413, param: 'prompt' }],
      [{ stream: true }, { code: 'validation_failed', status: 422, param: 'stream' }],
    ]
    for (const [change, error] of refused)
      await assert.rejects(wallet.meteredCall({ ...ONE_CALL, ...change }, by(caller)), error)
    await check({ available: 0 })
    assert.equal(upstream.received.length, 0)
  })

  it('names the one range of max_tokens that is accepted', async (t) => {
    const { wallet, caller } = await start(t, { wallet: { max_output_tokens: 500 } })
    for (const max_tokens of [0, -1, 501, 1_000_001, 1.5])
      await assert.rejects(wallet.meteredCall({ ...ONE_CALL, max_tokens }, by(caller)), {
        message: /^max_tokens: .*; must be a whole number from 1 to 500\.$/,
      })
  })

  it('charges once, and answers the same, when the same idempotency key arrives twice', async (t) => {
    const { store, upstream, wallet, caller, check } = await start(t)
    upstream.on('/chat/completions', json(200, completion('NUL \0, a lone \ud800 and "quotes"')))
    const first = await wallet.meteredCall(ONE_CALL, by(caller, 'once'))
    assert.deepEqual(await wallet.meteredCall(ONE_CALL, by(caller, 'once')), first)
    assert.equal(upstream.received.length, 1)
    await assert.rejects(wallet.meteredCall({ ...ONE_CALL, prompt: 'Bye' }, by(caller, 'once')), {
      code: 'idempotency_key_reused',
      status: 422,
    })
    await check({ available: -80_045 })
    const other = await newKey(store)
    assert.notEqual((await wallet.meteredCall(ONE_CALL, by(other, 'once'))).call_id, first.call_id)
  })

  it('says that a call is in flight, and makes it when the first one failed', async (t) => {
    const { upstream, wallet, caller, check } = await start(t)
    let arrived = () => {}
    const inFlight = new Promise<void>((resolve) => {
      arrived = resolve
    })
    let fail = () => {}
    upstream.on(
      '/chat/completions',
      (reply, request) => {
        arrived()
        fail = () => void fails(500)(reply, request)
      },
      json(200, completion('Hello back')),
    )
    const first = wallet.meteredCall(ONE_CALL, by(caller, 'again'))
    first.catch(() => {})
    await inFlight
    // An allowance for several calls.
    await check({ available: -8 * ONE_RESERVATION, held: 8 * ONE_RESERVATION })
    await assert.rejects(wallet.meteredCall(ONE_CALL, by(caller, 'again')), {
      code: 'idempotency_in_flight',
      status: 409,
    })
    fail()
    await assert.rejects(first, { status: 502 })
    assert.equal((await wallet.meteredCall(ONE_CALL, by(caller, 'again'))).result.content, 'Hello back')
    await check({ available: -80_045 })
  })

  it('forgets an answer after a day, and keeps its receipt', async (t) => {
    let now = new Date('2026-11-21T07:17:52.000Z')
    const { wallet, caller } = await start(t, { now: () => now })
    const { call_id } = await wallet.meteredCall(ONE_CALL, by(caller, 'daily'))
    now = new Date('2026-11-22T07:17:53.000Z')
    assert.notEqual((await wallet.meteredCall(ONE_CALL, by(caller, 'daily'))).call_id, call_id)
    const { items } = await wallet.usage({ limit: 10 })
    assert.equal(items[1]?.call_id, call_id)
  })

  it('gives back what a dead process had set aside, and refuses an answer that comes after that', async (t) => {
    let now = new Date('2026-11-21T07:17:52.000Z')
    const { store, upstream, wallet, caller, check } = await start(t, { now: () => now })
    let answer = () => {}
    const asked = new Promise<void>((resolve) => {
      upstream.on('/chat/completions', (reply, request) => {
        answer = () => void json(200, completion('Too late'))(reply, request)
        resolve()
      })
    })
    const call = wallet.meteredCall(ONE_CALL, by(caller))
    call.catch(() => {})
    await asked
    now = new Date('2026-11-21T07:18:36.999Z')
    assert.equal(await sweepAllowances(store, now, 10), 0)
    now = new Date('2026-11-21T07:18:37.000Z')
    assert.equal(await sweepAllowances(store, now, 10), 1)
    await check({ available: 0 })
    answer()
    await assert.rejects(call, { code: 'upstream_timeout', message: /nothing was charged/ })
    await check({ available: 0 })
    const { items } = await wallet.usage({ limit: 10 })
    assert.deepEqual(
      items.map(({ charged, billing }) => [charged, billing.margin_usd, billing.total_usd]),
      [[false, 0, 0.000045]],
      'the provider billed it, and nobody paid',
    )
  })

  it('lets one of two calls win that together exceed the credit', async (t) => {
    const credit = ONE_RESERVATION * 2 - 1
    const { upstream, wallet, caller } = await start(t, { wallet: { default_credit_limit_usd: toUsd(credit) } })
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    upstream.on('/chat/completions', async (reply, request) => {
      await gate
      await json(200, completion('Hello back'))(reply, request)
    })
    const calls = [wallet.meteredCall(ONE_CALL, by(caller)), wallet.meteredCall(ONE_CALL, by(caller))]
    const refused = await Promise.race(
      calls.map((call) =>
        call.then(
          () => null,
          (error) => error,
        ),
      ),
    )
    assert.deepEqual([refused.code, refused.status], ['insufficient_credit', 402])
    open()
    const outcomes = await Promise.allSettled(calls)
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  })

  it('never passes the limit by a micro-dollar when 200 calls start together and the credit covers 50', async (t) => {
    const credit = ONE_RESERVATION * 50
    const { wallet, caller } = await start(t, { wallet: { default_credit_limit_usd: toUsd(credit) } })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, () => wallet.meteredCall(ONE_CALL, by(caller))),
    )
    const receipts = outcomes.filter(({ status }) => status === 'fulfilled').length
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
    assert.ok(receipts >= 50, `${receipts} receipts`)
    assert.deepEqual([...new Set(refused)], ['insufficient_credit'])
    const { available_usd, held_usd } = await wallet.balances(caller)
    assert.deepEqual({ available_usd, held_usd }, { available_usd: toUsd(-80_045 * receipts), held_usd: 0 })
    assert.ok(80_045 * receipts <= credit)
    const { totals } = await wallet.usage({ limit: 1 })
    assert.deepEqual([totals.calls, totals.total_usd], [receipts, toUsd(80_045 * receipts)])
    assert.deepEqual((await wallet.verify()).faults, [])
  })

  it('never charges more than was reserved, whatever usage the upstream reports, and tells of the difference', async (t) => {
    const { upstream, wallet, caller, check } = await start(t, { wallet: { absorbed_usd_per_day: 10 } })
    const used = { prompt_tokens: 1_999_999, completion_tokens: 1, total_tokens: 2_000_000 }
    upstream.on('/chat/completions', json(200, completion('Long', used)))
    const { call_id, usage, billing } = await wallet.meteredCall(ONE_CALL, by(caller))
    assert.deepEqual(usage, used)
    assert.equal(billing.total_usd, toUsd(ONE_RESERVATION))
    assert.equal(billing.upstream_cost_usd, toUsd(ONE_RESERVATION - 80_000))
    await check({ available: -ONE_RESERVATION })
    assert.equal((await wallet.usage({ limit: 1 })).totals.total_usd, toUsd(ONE_RESERVATION))
    assert.deepEqual(wallet.overruns, [
      {
        callId: call_id,
        callerId: caller,
        model: CHAT,
        reservedMicros: ONE_RESERVATION - 80_000,
        costMicros: 6_000_000,
        absorbedMicros: 6_000_000 - (ONE_RESERVATION - 80_000),
      },
    ])
    upstream.on('/chat/completions', json(200, completion('Hello back')))
    await wallet.meteredCall(ONE_CALL, by(caller))
    assert.equal(wallet.overruns.length, 1)
  })

  it('compares receipts with the ledger, and spending with its calls', async (t) => {
    const { store, wallet } = await start(t)
    const { db } = store
    const key = await newKey(store, { budgets: [{ usd: 1, per: 'day' }] })
    const { call_id } = await wallet.meteredCall(ONE_CALL, by(key))
    const day = new Date().toISOString().slice(0, 10)
    const faults = async () => (await wallet.verify()).faults
    assert.deepEqual(await faults(), [])
    const { transfer } = await db.selectFrom('metered_calls').select('transfer').executeTakeFirstOrThrow()
    const receipt = (set: object) => db.updateTable('metered_calls').set(set).where('call_id', '=', call_id).execute()

    await receipt({ upstream_cost_micros: 46 })
    const sums = `Usage of ${key} on ${day} with ${CHAT}: the stored sums are not those of its receipts.`
    assert.deepEqual(await faults(), [
      `Transfer ${transfer}: its amounts differ from the sum of its receipts.`,
      sums,
      `Spending of ${key} on ${day}: it is 80045, its calls and escrows sum to 80046 micro-dollars.`,
    ])
    const whole = await db.selectFrom('metered_calls').selectAll().executeTakeFirstOrThrow()
    await db.deleteFrom('metered_calls').execute()
    assert.deepEqual(await faults(), [
      `Transfer ${transfer}: its amounts differ from the sum of its receipts.`,
      sums,
      `Spending of ${key} on ${day}: it is 80045, its calls and escrows sum to 0 micro-dollars.`,
    ])
    await db
      .insertInto('metered_calls')
      .values({ ...whole, upstream_cost_micros: 45 })
      .execute()
    assert.deepEqual(await faults(), [])

    await db.deleteFrom('spending').execute()
    assert.deepEqual(await faults(), [
      `Spending of ${key} on ${day}: it is missing, but calls or escrows count on that day.`,
    ])
    await db
      .insertInto('spending')
      .values(
        [day, 'total'].map((on) => ({
          owner: key,
          day: on,
          charged_micros: 80_045,
          recorded_micros: 0,
          beyond_micros: 0,
          forgiven_micros: 0,
        })),
      )
      .execute()

    const copies = Array.from({ length: 25 }, (_, i) => ({ copied: `call_${i}` }))
    for (const { copied } of copies)
      await db
        .insertInto('metered_calls')
        .values({ ...whole, call_id: copied, transfer: null, counted_on: '2026-01-01' })
        .execute()
    const found = (await faults()).filter((fault) => !/^(Spending|Usage)/.test(fault))
    assert.equal(found.length, 21)
    assert.match(found[0] ?? '', /^Receipt call_\d+: no transfer in the ledger took its money\.$/)
    assert.equal(found[20], 'There may be more of this kind.')
  })

  it('keeps the budget of a key for a day, and starts again each day', async (t) => {
    let now = new Date('2026-11-21T23:59:59.000Z')
    const { store, upstream, wallet } = await start(t, { now: () => now })
    const key = await newKey(store, { budgets: [{ usd: toUsd(80_045 + ONE_RESERVATION), per: 'day' }] })
    const call = () => wallet.meteredCall(ONE_CALL, by(key))
    await call()
    upstream.on('/chat/completions', fails(500), json(200, completion('Hello back')))
    await assert.rejects(call(), { status: 502 })
    await call()
    await assert.rejects(call(), { code: 'budget_reached', status: 402 })
    assert.equal((await wallet.balances(key)).available_usd, toUsd(-160_090))
    now = new Date('2026-11-22T00:00:00.000Z')
    await call()
    assert.deepEqual((await wallet.verify()).faults, [])
  })

  it("follows a key's own credit limit", async (t) => {
    const { store, wallet } = await start(t)
    const key = await newKey(store, { credit_limit_usd: 0 })
    await assert.rejects(wallet.meteredCall(ONE_CALL, by(key)), { code: 'insufficient_credit' })
    await wallet.deposit({ caller_id: key, amount_usd: toUsd(ONE_RESERVATION), reference: 'just-enough' })
    await wallet.meteredCall(ONE_CALL, by(key))
    assert.equal((await wallet.balances(key)).available_usd, toUsd(ONE_RESERVATION - 80_045))
  })

  it('holds nothing of a call whose charge cannot be written, and frees its key', async (t) => {
    const { store, upstream, wallet, caller, check } = await start(t)
    const { schema } = store.db
    upstream.on('/chat/completions', async (response, received) => {
      await schema.alterTable('metered_calls').renameColumn('token', 'away').execute()
      await json(200, completion('Hello back'))(response, received)
    })
    await assert.rejects(wallet.meteredCall(ONE_CALL, by(caller, 'again')), /token/)
    await schema.alterTable('metered_calls').renameColumn('away', 'token').execute()
    await check({ available: 0 })
    upstream.on('/chat/completions', json(200, completion('Hello back')))
    assert.equal((await wallet.meteredCall(ONE_CALL, by(caller, 'again'))).result.content, 'Hello back')
    await check({ available: -80_045 })
  })

  it('credits a deposit once per reference, to callers that exist', async (t) => {
    const { wallet, caller, check } = await start(t)
    const address = newAddress()
    await wallet.deposit({ caller_id: `0x${address.slice(2).toUpperCase()}`, amount_usd: 5, reference: '0xdef' })
    assert.equal((await wallet.balances(address)).available_usd, 5)
    const deposit = { caller_id: caller, amount_usd: 0.000001, reference: '0xabc' }
    const first = await wallet.deposit(deposit)
    assert.deepEqual([first.caller_id, first.available_usd], [caller, 0.000001])
    assert.deepEqual(await wallet.deposit(deposit), first)
    await check({ available: 1 })
    await assert.rejects(wallet.deposit({ ...deposit, amount_usd: 2 }), { code: 'conflict', status: 409 })
    await assert.rejects(wallet.deposit({ ...deposit, caller_id: newAddress() }), { code: 'conflict' })
    for (const amount_usd of [0.0000001, 1.0000001, 0, -1, 1_000_001, Number.NaN])
      await assert.rejects(wallet.deposit({ ...deposit, reference: 'new', amount_usd }), {
        code: 'validation_failed',
        param: 'amount_usd',
      })
    for (const caller_id of ['key_00000000000000000000000000000000', 'nobody', 'gzw_secret'])
      await assert.rejects(wallet.deposit({ ...deposit, reference: 'new', caller_id }), (error: Error) => {
        assert.ok(!error.message.includes(caller_id))
        return 'code' in error && error.code === 'not_found'
      })
    await check({ available: 1 })
  })

  it('refuses deposits that an account cannot hold, and still shows what it has', async (t) => {
    const { wallet, caller } = await start(t)
    await wallet.credit({ account: caller, micros: Number.MAX_SAFE_INTEGER - 1_000_000, reference: 'most' })
    const deposit = (amount_usd: number) =>
      wallet.deposit({ caller_id: caller, amount_usd, reference: `${amount_usd}` })
    await assert.rejects(deposit(1.000001), { code: 'balance_too_large', status: 409, message: /nothing was moved/ })
    assert.equal((await deposit(1)).available_usd, toUsd(Number.MAX_SAFE_INTEGER))
    assert.equal((await wallet.balances(caller)).available_usd, toUsd(Number.MAX_SAFE_INTEGER))
    assert.equal((await wallet.statement(caller, { limit: 10 })).total, 2)
    assert.deepEqual((await wallet.verify()).faults, [])
  })

  it('credits a wallet that is bound to a key to that key, which can spend it', async (t) => {
    const { store, wallet } = await start(t)
    const address = newAddress()
    const key = await newKey(store, { wallet: address, credit_limit_usd: 0 })
    await newKey(store, { wallet: address })
    const deposit = { caller_id: `0x${address.slice(2).toUpperCase()}`, amount_usd: 1, reference: 'bound' }
    const receipt = await wallet.deposit(deposit)
    assert.deepEqual([receipt.caller_id, receipt.available_usd], [key, 1])
    assert.deepEqual(await wallet.deposit({ ...deposit, caller_id: key }), receipt)
    await wallet.meteredCall(ONE_CALL, by(key))
    assert.equal((await wallet.balances(key)).available_usd, toUsd(1_000_000 - 80_045))
    const { items } = await wallet.statement(key, { limit: 10 })
    assert.deepEqual(
      items.map(({ kind }) => kind),
      ['void', 'reserve', 'deposit'],
    )
  })

  it('gives the same deposit for a reference again, also once a key was bound to the wallet or revoked', async (t) => {
    const { store, wallet } = await start(t)
    const address = newAddress()
    const deposit = { caller_id: `0x${address.slice(2).toUpperCase()}`, amount_usd: 5, reference: 'before' }
    const { available_usd: _, ...before } = await wallet.deposit(deposit)
    const key = await newKey(store, { wallet: address })
    const ofKey = await wallet.deposit({ caller_id: key, amount_usd: 2, reference: 'of-key' })
    const ofBound = await wallet.deposit({ ...deposit, amount_usd: 3, reference: 'of-bound' })
    assert.deepEqual([before.caller_id, ofKey.caller_id, ofBound.caller_id], [address, key, key])
    assert.deepEqual([ofKey.available_usd, ofBound.available_usd], [7, 10])
    assert.deepEqual(await wallet.deposit(deposit), { ...before, available_usd: 0 })
    const younger = await newKey(store, { wallet: address })
    const revoke = (id: string) =>
      store.db.updateTable('keys').set({ revoked_at: new Date().toISOString() }).where('id', '=', id).execute()
    await wallet.deposit({ caller_id: younger, amount_usd: 1, reference: 'of-younger' })
    await assert.rejects(wallet.deposit({ ...deposit, amount_usd: 1, reference: 'of-younger' }), { code: 'conflict' })
    await revoke(key)
    const again = { caller_id: key, amount_usd: 2, reference: 'of-key' }
    assert.deepEqual(await wallet.deposit(again), { ...ofKey, available_usd: 10 })
    assert.deepEqual(await wallet.deposit({ ...deposit, amount_usd: 3, reference: 'of-bound' }), ofBound)
    await revoke(younger)
    assert.deepEqual(await wallet.deposit({ ...deposit, amount_usd: 3, reference: 'of-bound' }), ofBound)
    await assert.rejects(wallet.deposit({ ...again, amount_usd: 3 }), { code: 'conflict' })
    await assert.rejects(wallet.deposit({ ...again, caller_id: newAddress() }), { code: 'conflict' })
    await assert.rejects(wallet.deposit({ ...again, reference: 'new' }), { code: 'not_found' })
    await assert.rejects(wallet.deposit({ ...deposit, caller_id: key }), { code: 'not_found' })
    const left = [address, key, younger].map(async (id) => (await wallet.balances(id)).available_usd)
    assert.deepEqual(await Promise.all(left), [0, 10, 1])
    assert.deepEqual((await wallet.verify()).faults, [])
  })

  it('moves what a wallet has to the key that is bound to it, in the statements of both', async (t) => {
    const { store, wallet } = await start(t)
    const address = newAddress()
    await wallet.deposit({ caller_id: address, amount_usd: 1.000001, reference: 'early' })
    const key = await newKey(store, { wallet: address, credit_limit_usd: 0 })
    await wallet.meteredCall(ONE_CALL, by(key))
    assert.equal((await wallet.balances(key)).available_usd, toUsd(1_000_001 - 80_045))
    const moved = async (id: string) =>
      (await wallet.statement(id, { limit: 10 })).items.map((line) => [line.kind, line.key, line.amount_usd])
    assert.deepEqual(await moved(address), [
      ['bind', `bind:${address}:2:out`, -1.000001],
      ['deposit', 'deposit:early', 1.000001],
    ])
    assert.deepEqual((await moved(key)).at(-1), ['bind', `bind:${address}:2:in`, 1.000001])
    await wallet.credit({ account: address, micros: 90_000, reference: 'mpp:left' })
    const younger = await newKey(store, { wallet: address })
    const left = [address, key, younger].map(async (id) => (await wallet.balances(id)).available_usd)
    assert.deepEqual(await Promise.all(left), [0, toUsd(1_000_001 - 80_045 + 90_000), 0])
    assert.deepEqual((await wallet.verify()).faults, [])
  })

  it("moves a revoked key's balance to another key of its wallet, and later refunds when one is bound", async (t) => {
    const { store, wallet } = await start(t)
    const keys = keysOn(store)
    t.after(() => keys.close())
    const address = newAddress()
    const [old, next] = [await newKey(store, { wallet: address }), await newKey(store, { wallet: address })]
    const has = async (...ids: string[]) =>
      Promise.all(ids.map(async (id) => (await wallet.balances(id)).available_usd))
    await wallet.deposit({ caller_id: address, amount_usd: 6, reference: 'to-old' })
    await Promise.all([keys.revoke(old), keys.revoke(old)])
    assert.deepEqual(await has(old, next, address), [0, 6, 0])
    assert.equal((await wallet.statement(old, { limit: 1 })).items[0]?.key, `bind:${old}:2:out`)
    await keys.revoke(next)
    assert.deepEqual(await has(old, next, address), [0, 0, 6])

    // What was under way, or earned, when they were revoked.
    await wallet.credit({ account: old, micros: 1_000_000, reference: 'late' })
    await wallet.credit({ account: next, micros: 2_000_000, reference: 'later' })
    await keys.revoke(old)
    assert.deepEqual(await has(old, next, address), [0, 2, 7])
    const newer = await newKey(store, { wallet: address })
    assert.deepEqual(await has(old, next, address, newer), [0, 0, 0, 9])
    assert.deepEqual((await wallet.verify()).faults, [])
  })

  it('leaves debts with a revoked key, and its balance when no wallet is bound to it', async (t) => {
    const { store, wallet } = await start(t)
    const keys = keysOn(store)
    t.after(() => keys.close())
    const address = newAddress()
    const [owing, free] = [await newKey(store, { wallet: address }), await newKey(store)]
    await wallet.meteredCall(ONE_CALL, by(owing))
    await wallet.deposit({ caller_id: free, amount_usd: 3, reference: 'free' })
    for (const id of [owing, free]) await keys.revoke(id)
    const newer = await newKey(store, { wallet: address })
    const left = [owing, free, address, newer].map(async (id) => (await wallet.balances(id)).available_usd)
    assert.deepEqual(await Promise.all(left), [-0.080045, 3, 0, 0])
    assert.deepEqual((await wallet.verify()).faults, [])
  })

  it('leaves nothing behind of deposits that are made as keys of their wallet are revoked', async (t) => {
    const { store, wallet } = await start(t)
    const keys = keysOn(store)
    t.after(() => keys.close())
    const address = newAddress()
    const made = await Promise.all(Array.from({ length: 3 }, () => newKey(store, { wallet: address })))
    const deposit = (i: number) => wallet.deposit({ caller_id: address, amount_usd: 1, reference: `r${i}` })
    await Promise.all(
      Array.from({ length: 30 }, (_, i) => (i % 10 === 5 ? keys.revoke(made[(i - 5) / 10] as string) : deposit(i))),
    )
    const left = [...made, address].map(async (id) => (await wallet.balances(id)).available_usd)
    assert.deepEqual(await Promise.all(left), [0, 0, 0, 27])
    assert.deepEqual((await wallet.verify()).faults, [])
  })

  it('leaves nothing behind of deposits that are made as keys are bound to their wallet', async (t) => {
    const { store, wallet } = await start(t)
    const address = newAddress()
    const deposit = (i: number) => wallet.deposit({ caller_id: address, amount_usd: 1, reference: `d${i}` })
    const bind = () => newKey(store, { wallet: address })
    const works = Array.from({ length: 30 }, (_, i) => (i % 10 === 5 ? bind : () => deposit(i)))
    await Promise.all(works.map((work) => work()))
    const keys = await store.db.selectFrom('keys').select('id').where('wallet', '=', address).execute()
    const left = await Promise.all(keys.map(async ({ id }) => (await wallet.balances(id)).available_usd))
    assert.equal(
      left.reduce((sum, usd) => sum + usd, 0),
      27,
    )
    assert.equal((await wallet.balances(address)).available_usd, 0)
    assert.deepEqual((await wallet.verify()).faults, [])
  })

  it("credits a wallet's own account with what it pays for a call, also where it is bound to a key", async (t) => {
    const { store, wallet } = await start(t)
    const address = newAddress()
    const key = await newKey(store, { wallet: address })
    const credit = { account: address, micros: 90_000, reference: 'mpp:1' }
    const receipt = await wallet.credit(credit)
    assert.deepEqual([receipt.caller_id, receipt.amount_usd, receipt.available_usd], [address, 0.09, 0.09])
    assert.deepEqual(await wallet.credit(credit), receipt)
    await assert.rejects(wallet.credit({ ...credit, account: key }), { code: 'conflict' })
    assert.equal((await wallet.balances(key)).available_usd, 0)
  })

  it('makes calls that cost nothing where prices and margin are zero', async (t) => {
    const { wallet, caller, check } = await start(t, {
      pricing: { margin_usd: 0, price_per_1k_tokens_usd: 0 },
      wallet: { default_credit_limit_usd: 0 },
    })
    const { billing } = await wallet.meteredCall({ model: CHAT, prompt: 'Hello' }, by(caller))
    assert.equal(billing.total_usd, 0)
    await check({ available: 0 })
  })
}
