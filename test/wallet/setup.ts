import { Config } from '../../src/config/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { createTokenCounter } from '../../src/tokens.ts'
import { createCalls } from '../../src/upstream/calls.ts'
import { createUpstream } from '../../src/upstream/upstream.ts'
import { createWallet, type Wallet } from '../../src/wallet/wallet.ts'

/** A model that goes to chat completions. */
export const CHAT = 'llm-4-1-fast-reasoning'

/** What one call with `max_tokens: 100` and a prompt of three tokens (quotes included) sets aside, in micro-dollars. */
export const ONE_CALL = { model: CHAT, prompt: 'Hello', max_tokens: 100 }
export const ONE_RESERVATION = (100 + 256 + 4) * 3 + 80_000

export const countTokens = createTokenCounter()

/** A wallet on `store` whose calls go to the upstream at `url`. */
export function walletOn(
  store: Store,
  url: string,
  options: { wallet?: object; pricing?: object; upstream?: object; now?: () => Date } = {},
): Wallet & {
  errors: unknown[]
  settle(): Promise<void>
  history(): Promise<Array<{ fallback_from: string | null }>>
} {
  const config = Config.parse({
    upstream: { provider: url, max_retries: 0, ...options.upstream },
    wallet: options.wallet ?? {},
    pricing: options.pricing ?? {},
  })
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  const calls = createCalls({ store, onError })
  const upstream = createUpstream({
    config: config.upstream,
    calls,
    prices: config.pricing,
    storeContent: false,
    countTokens,
  })
  const wallet = createWallet({
    store,
    upstream,
    config: config.wallet,
    pricing: config.pricing,
    countTokens,
    now: options.now ?? (() => new Date()),
    onError,
  })
  return {
    ...wallet,
    errors,
    settle: () => calls.flush(),
    history: async () => (await calls.history({ limit: 100 })).items,
  }
}

/** A caller of its own in a store that tests share. */
let callers = 0
export const newCaller = (): string => `0x${(++callers).toString(16).padStart(40, '0')}`

/** How a caller makes a call. */
export const by = (callerId: string, idempotencyKey?: string, signal?: AbortSignal) => ({
  callerId,
  ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  context: { surface: 'platform' as const, callerId, signal },
})
