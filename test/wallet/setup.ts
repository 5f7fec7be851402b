import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type * as z from 'zod'
import { createCalls } from '../../src/calls/calls.ts'
import { Config } from '../../src/config/config-schema.ts'
import { createIdempotency, type Idempotency } from '../../src/idempotency/idempotency.ts'
import { createKeys, type NewKey } from '../../src/identity/keys.ts'
import { createUpstream } from '../../src/inference/inference.ts'
import { createLateTerms } from '../../src/inference/settle/abandoned-answer.ts'
import { createMetering, type MakeMeteredCall, type Metered } from '../../src/metering/metering.ts'
import type { Store } from '../../src/store/store.ts'
import { type Micros, toMicros } from '../../src/text/money.ts'
import { createTokenCounter } from '../../src/text/token-counter.ts'
import { createAbsorbed } from '../../src/wallet/budget/absorbed-costs.ts'
import { writeCallSpending } from '../../src/wallet/budget/allowances.ts'
import type { Overrun } from '../../src/wallet/budget/overruns.ts'
import { createReservations } from '../../src/wallet/budget/reservations.ts'
import { createLimits } from '../../src/wallet/budget/spending-limits.ts'
import { bindWallet, unbindWallet } from '../../src/wallet/ledger/bind-wallet.ts'
import { createCharges } from '../../src/wallet/receipts/charges.ts'
import type { Receipt } from '../../src/wallet/receipts/receipt.ts'
import type { ChargedCall } from '../../src/wallet/receipts/store-receipts.ts'
import { createWallet, type Wallet } from '../../src/wallet/wallet.ts'
import { withOwnNames } from '../doubles/own-names.ts'
import { UNBILLED } from '../doubles/unbilled.ts'

/** A model that goes to chat completions. */
export const CHAT = 'llm-4-1-fast-reasoning'

/** A call with `max_tokens: 100` and a prompt of three tokens, quotes included. */
export const ONE_CALL = { model: CHAT, prompt: 'Hello', max_tokens: 100 }
export const ONE_RESERVATION = (100 + 256 + 4) * 3 + 80_000

export const countTokens = createTokenCounter()

/** Opens an empty store, and closes it after the test. */
export type OpenStore = (t: TestContext) => Promise<Store>

export interface WalletOptions {
  wallet?: object
  pricing?: object
  upstream?: object
  now?: () => Date
}

/** A wallet on `store` whose calls go to the upstream at `url`. */
export function walletOn(
  store: Store,
  url: string,
  options: WalletOptions = {},
): Wallet & {
  meteredCall: MakeKeyedCall
  errors: unknown[]
  overruns: Overrun[]
  settle(): Promise<void>
  history(): Promise<Array<{ fallback_from: string | null }>>
} {
  const config = Config.parse({
    ...withOwnNames(url, { upstream: { provider: url, max_retries: 0, ...options.upstream } }),
    wallet: options.wallet ?? {},
    pricing: { unknown: 'flat', ...options.pricing },
  })
  const errors: unknown[] = []
  const overruns: Overrun[] = []
  const onError = (error: unknown) => void errors.push(error)
  const calls = createCalls({ store, onError, writeSpending: writeCallSpending })
  const upstream = createUpstream({
    config: config.upstream,
    calls,
    prices: config.pricing,
    storeContent: false,
    countTokens,
    late: createLateTerms(2000),
    billing: UNBILLED,
  })
  const now = options.now ?? (() => new Date())
  const keys = keysOn(store)
  const reservations = createReservations({ store, now, onError })
  const defaultCreditMicros = toMicros(config.wallet.default_credit_limit_usd) as Micros
  const wallet = createWallet({
    store,
    limitsOf: createLimits(store, defaultCreditMicros).of,
    pricing: config.pricing,
    now,
    giveBackIdle: reservations.giveBackIdle,
  })
  const metering = createMetering({
    upstream,
    billing: {
      reservations,
      absorbed: createAbsorbed(store, now, () => toMicros(config.wallet.absorbed_usd_per_day) as Micros),
      charge: createCharges(store),
      pricing: config.pricing,
      defaultCreditMicros,
      waitMs: 0,
      now,
      identity: keys.identity,
      onForeignModel: () => {},
      onAbsorbed: () => {},
      onOverrun: (overrun) => void overruns.push(overrun),
    },
    config: config.wallet,
    countTokens,
  })
  return {
    ...wallet,
    meteredCall: keyed(metering.call, createIdempotency({ store, now, onError })),
    errors,
    overruns,
    async settle() {
      await calls.flush()
      await reservations.close()
      await keys.close()
    },
    history: async () => (await calls.history({ limit: 100 })).items,
  }
}

type MakeKeyedCall = (call: object, by: Metered & { idempotencyKey?: string }) => Promise<Receipt>

/** Metered calls that are made once per idempotency key, as over HTTP. */
function keyed(call: MakeMeteredCall, idempotency: Idempotency): MakeKeyedCall {
  const replyOf = (receipt: Receipt) => ({ status: 200, body: JSON.stringify(receipt) })
  return async (asked, { idempotencyKey: key, ...by }) => {
    if (key === undefined) return call(asked, by)
    const request = { scope: by.callerId, key, route: 'POST /api/wallet/metered/call', body: JSON.stringify(asked) }
    const { reply } = await idempotency.run(request, async (keep) =>
      replyOf(await call(asked, { ...by, keep: (trx, receipt) => keep(trx, replyOf(receipt)) })),
    )
    return JSON.parse(reply.body)
  }
}

/** A call to charge, and its amounts in micro-dollars. */
interface NewCharge {
  callId: string
  callerId: string
  at: string
  model?: string
  reserved: Micros
  margin: Micros
  cost: Micros
  /** Credit beyond the caller's deposits; none by default. */
  credit?: Micros
}

/** Reserves money for a call, charges it and gives back the rest. */
export async function chargeCall(store: Store, of: NewCharge): Promise<void> {
  const { callId, callerId, at, model = 'm', reserved, margin, cost, credit = 0 } = of
  const reservations = createReservations({
    store,
    now: () => new Date(at),
    onError: (error) => assert.fail(`${error}`),
  })
  const payer = { spender: { id: callerId, groupId: null }, creditMicros: credit, budgets: null }
  const reservation = await reservations.reserve(payer, reserved)
  const { allowanceId, day, written } = reservation.take(margin + cost)
  const receipt = receiptOf({ call_id: callId, caller_id: callerId, at, model, counted_on: day })
  const amounts = { margin_micros: margin, upstream_cost_micros: cost, prompt_tokens: cost, total_tokens: cost + 1 }
  await createCharges(store)({ allowanceId: allowanceId as string, receipt: { ...receipt, ...amounts } })
  written()
  reservation.end()
  await reservations.close()
}

/** A receipt of one micro-dollar. */
export const receiptOf = (
  of: Pick<ChargedCall, 'call_id' | 'caller_id' | 'at' | 'counted_on'> & Partial<ChargedCall>,
): ChargedCall => ({
  model: 'm',
  margin_micros: 1,
  upstream_cost_micros: 0,
  token: 't',
  prompt_tokens: 1,
  completion_tokens: 1,
  total_tokens: 2,
  usage_estimated: 0,
  latency_ms: 5,
  upstream_call_id: 'call_up',
  path: '/api/wallet/metered/call',
  group_id: null,
  upstream: 'test',
  price: '',
  cached_tokens: 0,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
  charged: 1,
  capped: 0,
  stated: 0,
  absorbed_micros: 0,
  debt_micros: 0,
  ...of,
})

let addresses = 0
/** The address of a wallet that no other test uses. */
export const newAddress = (): string => `0x${(++addresses).toString(16).padStart(40, '0')}`

/** The keys of a store, as the gateway has them. */
export const keysOn = (store: Store) =>
  createKeys({
    onBound: bindWallet,
    onUnbound: unbindWallet,
    store,
    now: () => new Date(),
    fixedKey: null,
    onError: (error) => assert.fail(String(error)),
  })

/** Limits and wallet of a test key. */
export type KeyTerms = NonNullable<z.input<typeof NewKey>['limits']> & { wallet?: string | null }

/** The id of a new key with the default credit. */
export async function newKey(store: Store, of: KeyTerms = {}): Promise<string> {
  const keys = keysOn(store)
  const { wallet = null, ...limits } = of
  const { record } = await keys.create({ name: 'caller', scopes: ['platform'], wallet, limits })
  await keys.close()
  return record.id
}

/** Caller and options of a call. */
export const by = (callerId: string, idempotencyKey?: string, signal?: AbortSignal) => ({
  callerId,
  ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  context: { surface: 'platform' as const, callerId, signal },
})
