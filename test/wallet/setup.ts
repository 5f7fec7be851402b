import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type * as z from 'zod'
import { createCalls } from '../../src/calls/calls.ts'
import { Config } from '../../src/config/config-schema.ts'
import { createKeys, type NewKey } from '../../src/identity/keys.ts'
import { createUpstream } from '../../src/inference/inference.ts'
import { createMetering, type MakeMeteredCall } from '../../src/metering/metering.ts'
import type { Store } from '../../src/store/store.ts'
import { type Micros, toMicros } from '../../src/text/money.ts'
import { createTokenCounter } from '../../src/text/token-counter.ts'
import { writeCallSpending } from '../../src/wallet/budget/allowances.ts'
import { createLimits } from '../../src/wallet/budget/limits.ts'
import type { Overrun } from '../../src/wallet/budget/overruns.ts'
import { bindWallet, unbindWallet } from '../../src/wallet/ledger/bind-wallet.ts'
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
  meteredCall: MakeMeteredCall
  errors: unknown[]
  overruns: Overrun[]
  settle(): Promise<void>
  history(): Promise<Array<{ fallback_from: string | null }>>
} {
  const config = Config.parse({
    ...withOwnNames(url, { upstream: { provider: url, max_retries: 0, ...options.upstream } }),
    wallet: options.wallet ?? {},
    pricing: options.pricing ?? {},
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
    billing: UNBILLED,
  })
  const now = options.now ?? (() => new Date())
  const wallet = createWallet({
    store,
    limitsOf: createLimits(store, toMicros(config.wallet.default_credit_limit_usd) as Micros).of,
    pricing: config.pricing,
    now,
    onOverrun: (overrun) => void overruns.push(overrun),
  })
  const metering = createMetering({
    holds: wallet.holds,
    upstream,
    config: config.wallet,
    pricing: config.pricing,
    countTokens,
    now,
    onError,
  })
  return {
    ...wallet,
    meteredCall: metering.call,
    errors,
    overruns,
    settle: () => calls.flush(),
    history: async () => (await calls.history({ limit: 100 })).items,
  }
}

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
  const { record } = await keys.create({ name: 'caller', wallet, limits })
  await keys.close()
  return record.id
}

/** Caller and options of a call. */
export const by = (callerId: string, idempotencyKey?: string, signal?: AbortSignal) => ({
  callerId,
  ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  context: { surface: 'platform' as const, callerId, signal },
})
