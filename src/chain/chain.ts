import type { Transaction } from 'kysely'
import { type Base, logged } from '../base.ts'
import type { Config } from '../config/config-schema.ts'
import { lazily } from '../lazily.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { ChainAccount } from './account.ts'
import { type AgentRegistration, agentRegistration } from './agent-identity.ts'
import { type ChainBalance, createBalanceReader } from './chain-balances.ts'
import type { Node, NodeAddress } from './chain-node.ts'
import { gweiToWei } from './fees.ts'
import { type Network, networksOf } from './networks.ts'
import type { ConfirmedSettlement } from './settlement-followers.ts'
import { type SettlementChain, settlementChain } from './settlement-settings.ts'
import { createSettlements, type Settlements } from './settlements.ts'
import type { Settler } from './settler.ts'
import { type Settling, startSettling } from './settling.ts'
import {
  type ChainStatus,
  chainStatus,
  type Stranded,
  strandedIn,
  type Unkeyed,
  unkeyedIn,
  type Vault,
  vaultOf,
} from './status.ts'

export { AgentRegistration } from './agent-identity.ts'
export { ChainBalance } from './chain-balances.ts'
export type { SentTransaction } from './transactions.ts'
export { waitingSettlements } from './waiting-settlements.ts'

const loadAccount = lazily(() => import('./account.ts'))
const loadNode = lazily(() => import('./chain-node.ts'))
const loadSettler = lazily(() => import('./settler.ts'))
const loadSigner = lazily(() => import('./signer.ts'))

/** Called when the chain has confirmed a payment, in the transaction that marks it. */
export type OnConfirmed = (trx: Transaction<Schema>, settlement: ConfirmedSettlement) => Promise<void>

/** Access to chains. The client library loads on first use, because it loads slowly. */
export interface Chain {
  settlements: Settlements
  /** Address of the wallet's own account in lower case; null without a key. */
  address(): Promise<string | null>
  /** Reads the balances of an address on every configured chain; see `BalanceReader`. */
  balances(address: string): Promise<ChainBalance[]>
  /** Checks every chain. Never throws for one that does not answer. */
  status(): Promise<ChainStatus[]>
  /** Compares what is owed to escrows with the funds to pay it. */
  vault(): Promise<Vault>
  /**
   * Lists unpaid settlements on chains that settlement no longer uses, by chain. @throws GazewayError `config_invalid`
   */
  stranded(): Promise<Stranded[]>
  /** Lists settlements signed by another account than the current one and not mined yet. @throws as `stranded` */
  unkeyed(): Promise<Unkeyed[]>
  /** Builds the agent's ERC-8004 registration file. */
  registration(origin: string): Promise<AgentRegistration>
  /** Settings of settlements; null when they are paid in the ledger. @throws GazewayError `config_invalid` */
  settlementChain(): SettlementChain | null
  /**
   * Pays settlements on the chain until stopped; does nothing when they are paid in the ledger.
   *
   * @throws GazewayError `config_invalid` for incomplete settlement settings
   */
  startSettling(onConfirmed: OnConfirmed): Pick<Settling, 'stop'>
  /**
   * Opens the wallet's account on a chain. It assigns the nonces of all its transactions.
   *
   * @param at.confirmations confirmations that a transaction needs, its own block included
   */
  account(at: NodeAddress & { confirmations: number }, privateKey: string): Promise<ChainAccount>
}

/** Opens the room. Chains only change with a restart. */
export const liveChain = (base: Base): Chain =>
  createChain({
    store: base.store,
    config: base.config.current().config,
    now: base.now,
    onError: logged(base, 'Failed to process settlements; will retry.'),
  })

/** Dependencies of {@link createChain}. */
export interface ChainDeps {
  store: Store
  config: Pick<Config, 'chain' | 'wallet' | 'mpp'>
  now: () => Date
  onError: (error: unknown) => void
}

/** Creates the chains of `config`. */
export function createChain(deps: ChainDeps): Chain {
  const { store, config, now, onError } = deps
  const networks = networksOf(config.chain)
  const nodes = new Map<number, Promise<Node>>()
  let settling: Settling | null = null

  function nodeOf({ chainId, rpcUrl, timeoutMs }: Network): Promise<Node> {
    const known = nodes.get(chainId)
    if (known) return known
    const opened = loadNode().then(({ openNode }) => openNode({ chainId, rpcUrl: rpcUrl ?? '', timeoutMs }))
    nodes.set(chainId, opened)
    return opened
  }
  const { read: balances } = createBalanceReader({ networks, nodeOf, now })

  async function address(): Promise<string | null> {
    const key = config.wallet.private_key
    return key === null ? null : (await loadSigner()).createSigner(key).address
  }

  async function settler(chain: SettlementChain, onConfirmed: OnConfirmed): Promise<Settler> {
    const { createSettler } = await loadSettler()
    return createSettler({
      chain,
      account: await openAccountOf(deps, chain.network, chain.privateKey),
      paymentConfirmations: config.mpp.evm.confirmations,
      onConfirmed,
    })
  }

  return {
    settlements: createSettlements({
      store,
      mode: config.chain.settlement.mode,
      chain() {
        const { network, token } = settlementChain(config) as SettlementChain
        return { chainId: network.chainId, token: token.address }
      },
      onEnqueued: () => settling?.expect(),
    }),
    address,
    balances,
    status: () => chainStatus(networks, nodeOf),
    async vault() {
      const own = await address()
      return vaultOf(store, own === null ? [] : await balances(own), settlementChain(config))
    },
    stranded: async () => strandedIn(store, settlementChain(config)),
    async unkeyed() {
      const chain = settlementChain(config)
      return chain === null ? [] : unkeyedIn(store, chain, (await address()) ?? '')
    },
    registration: async (origin) => agentRegistration(config, await address(), origin),
    settlementChain: () => settlementChain(config),
    startSettling(onConfirmed) {
      const chain = settlementChain(config)
      if (chain === null) return { stop: async () => {} }
      settling = startSettling({ settler: () => settler(chain, onConfirmed), pollMs: chain.pollMs, onError })
      return settling
    },
    account: (at, privateKey) => openAccountOf(deps, at, privateKey),
  }
}

async function openAccountOf(
  { store, config, now }: ChainDeps,
  at: NodeAddress & { confirmations: number },
  privateKey: string,
): Promise<ChainAccount> {
  const modules = [loadAccount(), loadNode(), loadSigner()] as const
  const [{ openAccount }, { openNode }, { createSigner }] = await Promise.all(modules)
  const { confirmations } = at
  const feeLimit = gweiToWei(config.chain.settlement.max_fee_gwei)
  return openAccount({ store, now, node: openNode(at), signer: createSigner(privateKey), feeLimit, confirmations })
}
