import { type Chain, createChain } from '../../src/chain/chain.ts'
import type { ConfirmedSettlement } from '../../src/chain/settlement-followers.ts'
import { Config } from '../../src/config/config-schema.ts'
import type { Store } from '../../src/store/store.ts'
import { until } from '../doubles/until.ts'
import { type Anvil, KEYS } from './anvil.ts'
import { rpc } from './rpc.ts'

/** Poll interval of settlements in tests, in milliseconds. */
export const POLL_MS = 20

/** Settlement of escrows on a test chain. */
export interface ChainSetup {
  url: string
  chainId: number
  /** Address of the token. */
  token: string
  decimals?: number
  confirmations?: number
  /** Confirmations of payments that the same account settles. */
  paymentConfirmations?: number
  settlement?: object
  wallet?: object
}

/** A configuration that pays escrows with a token on a chain. */
export function chainConfig(setup: ChainSetup): Config {
  const {
    url,
    chainId,
    token,
    decimals = 6,
    confirmations = 1,
    paymentConfirmations = 1,
    settlement = {},
    wallet,
  } = setup
  return Config.parse({
    wallet: wallet ?? { private_key: KEYS[0] },
    mpp: { evm: { confirmations: paymentConfirmations } },
    chain: {
      networks: {
        [chainId]: {
          name: 'Test',
          tokens: [{ symbol: 'USDT', address: token, decimals }],
          confirmations,
          timeout_ms: 2000,
        },
      },
      rpc_urls: { [chainId]: url },
      settlement: { mode: 'evm', chain_id: chainId, token: 'USDT', poll_ms: POLL_MS, ...settlement },
    },
  })
}

/** A gateway's chains, with what was confirmed and what went wrong. */
export interface TestChain extends Chain {
  confirmed: ConfirmedSettlement[]
  errors: unknown[]
  start(): void
  /** Notes a payment in a transaction of its own. */
  owe(escrowId: string, recipient: string, micros: number): Promise<void>
  /** Waits until a payment's state is as `holds` wants it. */
  until(
    escrowId: string,
    holds: (state: { status: string; tx_hash: string | null; attempts: number; error: string | null }) => boolean,
  ): Promise<void>
  stop(): Promise<void>
}

export function chainOn(store: Store, setup: ChainSetup, now: () => Date = () => new Date()): TestChain {
  const confirmed: ConfirmedSettlement[] = []
  const errors: unknown[] = []
  const chain = createChain({ store, config: chainConfig(setup), now, onError: (error) => errors.push(error) })
  let settling: { stop(): Promise<void> } | undefined
  return {
    ...chain,
    confirmed,
    errors,
    start() {
      settling = chain.startSettling(async (_, settlement) => void confirmed.push(settlement))
    },
    owe: (escrowId, recipient, micros) =>
      store.write((trx) =>
        chain.settlements.enqueue(trx, { id: escrowId, recipient, micros, at: now().toISOString() }),
      ),
    async until(escrowId, holds) {
      await until(async () => {
        const state = (await chain.settlements.states([escrowId])).get(escrowId)
        return state !== undefined && holds(state)
      })
    },
    stop: async () => settling?.stop(),
  }
}

let addresses = 0
/** An address that has nothing. */
export const newRecipient = (): string => `0x${(0xabc0000 + ++addresses).toString(16).padStart(40, '0')}`

/** Lets a node take a block only when it is told to. */
export const holdBlocks = (node: Pick<Anvil, 'url'>): Promise<unknown> => rpc(node.url, 'evm_setAutomine', [false])
export const releaseBlocks = async (node: Pick<Anvil, 'url'>): Promise<void> => {
  await rpc(node.url, 'evm_setAutomine', [true])
  await rpc(node.url, 'evm_mine', [])
}
