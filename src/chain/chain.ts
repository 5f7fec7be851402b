import type { Transaction } from 'kysely'
import type { Config } from '../config/config-schema.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { lazily } from '../wire/lazily.ts'
import type { ChainAccount } from './account.ts'
import { type AgentRegistration, agentRegistration } from './agent-identity.ts'
import { type ChainBalance, createBalanceReader } from './chain-balances.ts'
import { gweiToWei } from './fees.ts'
import { type Network, networksOf } from './networks.ts'
import type { Node, NodeAddress } from './node.ts'
import { type SettlementChain, settlementChain } from './settlement-settings.ts'
import { createSettlements, type Settlements } from './settlements.ts'
import type { ConfirmedSettlement, Settler } from './settler.ts'
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

const loadAccount = lazily(() => import('./account.ts'))
const loadNode = lazily(() => import('./node.ts'))
const loadSettler = lazily(() => import('./settler.ts'))
const loadSigner = lazily(() => import('./signer.ts'))

/** Told, in the transaction that notes it, that the chain has taken a payment for good. */
export type OnConfirmed = (trx: Transaction<Schema>, settlement: ConfirmedSettlement) => Promise<void>

/** Everything that happens on chains. What asks one is loaded on first use, which takes about half a second. */
export interface Chain {
  settlements: Settlements
  /** The address of the wallet's own account, in lower case; null without a key. */
  address(): Promise<string | null>
  /** What an address has on every chain that is configured; see `BalanceReader`. */
  balances(address: string): Promise<ChainBalance[]>
  /** Whether each chain can be asked. Never throws for one that cannot. */
  status(): Promise<ChainStatus[]>
  /** What is owed to escrows, and what there is to pay it with. */
  vault(): Promise<Vault>
  /** Payments that nobody makes, by chain. @throws GazewayError `config_invalid` */
  stranded(): Promise<Stranded[]>
  /** Payments that wait for the chain to take what another account than the present one has signed. @throws as `stranded` */
  unkeyed(): Promise<Unkeyed[]>
  /** The agent's ERC-8004 registration file. */
  registration(origin: string): Promise<AgentRegistration>
  /** How settlements are paid; null with the ledger alone. @throws GazewayError `config_invalid` */
  settlementChain(): SettlementChain | null
  /**
   * Pays settlements on the chain until it is stopped; does nothing with the ledger alone.
   *
   * @throws GazewayError `config_invalid` when settlement is not configured whole
   */
  startSettling(onConfirmed: OnConfirmed): Pick<Settling, 'stop'>
  /**
   * The wallet's account on a chain, where transactions get their numbers whatever they are for.
   *
   * @param at.confirmations blocks that hold a transaction, its own included, before it counts
   */
  account(at: NodeAddress & { confirmations: number }, privateKey: string): Promise<ChainAccount>
}

/** The chains of `config`. */
export function createChain(deps: {
  store: Store
  config: Pick<Config, 'chain' | 'wallet' | 'mpp'>
  now: () => Date
  onError: (error: unknown) => void
}): Chain {
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

  async function account(at: NodeAddress & { confirmations: number }, privateKey: string): Promise<ChainAccount> {
    const [{ openAccount }, { openNode }, { createSigner }] = await Promise.all([
      loadAccount(),
      loadNode(),
      loadSigner(),
    ])
    const feeLimit = gweiToWei(config.chain.settlement.max_fee_gwei)
    return openAccount({
      store,
      now,
      node: openNode(at),
      signer: createSigner(privateKey),
      feeLimit,
      confirmations: at.confirmations,
    })
  }

  async function settler(chain: SettlementChain, onConfirmed: OnConfirmed): Promise<Settler> {
    const { createSettler } = await loadSettler()
    return createSettler({
      chain,
      account: await account(chain.network, chain.privateKey),
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
    account,
  }
}
