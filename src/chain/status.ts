import { sql } from 'kysely'
import { safeSum } from '../store/safe-sum.ts'
import type { Store } from '../store/store.ts'
import { type Micros, toUsd } from '../text/money.ts'
import type { ChainBalance } from './chain-balances.ts'
import type { Node } from './chain-node.ts'
import type { Network } from './networks.ts'
import type { SettlementChain } from './settlement-settings.ts'
import { tokenUnits } from './token-transfer.ts'

/** Result of a check of one chain. */
export interface ChainStatus {
  chain_id: number
  chain: string
  reachable: boolean
  block_number: number | null
  error: string | null
}

/** Debt to escrows and the funds to pay it. */
export interface Vault {
  /** Locked for tasks, or released and not confirmed on the chain yet. */
  escrow_usd: number
  /** Balances of the wallet's account, by chain. */
  onchain: ChainBalance[]
  /** Tells whether the funds cover the debt. Always true when escrows are paid in the ledger. */
  solvent: boolean
}

/** Unconfirmed payments of released escrows on a chain that settlement no longer uses. */
export interface Stranded {
  chainId: number
  payments: number
  usd: number
}

/** Payments signed by an account other than the current one and not mined yet. */
export interface Unkeyed {
  address: string
  payments: number
  usd: number
}

/** Asks every chain for its id and latest block, all at once. */
export function chainStatus(
  networks: readonly Network[],
  nodeOf: (network: Network) => Promise<Node>,
): Promise<ChainStatus[]> {
  return Promise.all(
    networks.map(async (network) => {
      const { chainId: chain_id, name: chain } = network
      const unreachable = { chain_id, chain, reachable: false, block_number: null }
      if (network.rpcUrl === null) return { ...unreachable, error: `No node is set. Set chain.rpc_urls.${chain_id}.` }
      const node = await nodeOf(network)
      try {
        const [, block] = await Promise.all([node.verify(), node.client.getBlockNumber()])
        return { chain_id, chain, reachable: true, block_number: Number(block), error: null }
      } catch (error) {
        return { ...unreachable, error: node.faultOf(error) }
      }
    }),
  )
}

/**
 * Compares the debt to escrows with `onchain`.
 *
 * @param settlement null when escrows are paid in the ledger
 */
export async function vaultOf(
  store: Store,
  onchain: ChainBalance[],
  settlement: Pick<SettlementChain, 'network' | 'token'> | null,
): Promise<Vault> {
  const owed = await lockedMicros(store)
  return { escrow_usd: toUsd(owed), onchain, solvent: settlement === null || covers(onchain, settlement, owed) }
}

function covers(
  onchain: readonly ChainBalance[],
  { network, token }: Pick<SettlementChain, 'network' | 'token'>,
  owed: Micros,
): boolean {
  const held = onchain
    .find(({ chain_id }) => chain_id === network.chainId)
    ?.tokens.find(({ address }) => address === token.address)
  return held !== undefined && BigInt(held.raw) >= tokenUnits(owed, token.decimals)
}

/** Repeats the condition of the partial index, so that only accounts with money are read. */
async function lockedMicros({ db }: Store): Promise<Micros> {
  const { rows } = await sql<{ micros: number | null }>`select ${safeSum('balance_micros')} as micros
    from ledger_accounts where kind in ('escrow', 'settling') and balance_micros > 0`.execute(db)
  return rows[0]?.micros ?? 0
}

/**
 * Lists unconfirmed payments on chains that settlement no longer uses.
 *
 * @param settlement null when escrows are paid in the ledger
 */
export async function strandedIn(
  { db }: Store,
  settlement: Pick<SettlementChain, 'network'> | null,
): Promise<Stranded[]> {
  const rows = await db
    .selectFrom('settlements')
    .select(['chain_id', ({ fn }) => fn.countAll().as('payments'), safeSum('micros').as('micros')])
    .where('status', '<>', 'confirmed')
    // No chain has the id 0.
    .where('chain_id', '<>', settlement?.network.chainId ?? 0)
    .groupBy('chain_id')
    .orderBy('chain_id')
    .execute()
  return rows.map(({ chain_id, payments, micros }) => ({
    chainId: chain_id,
    payments: Number(payments),
    usd: toUsd(Number(micros)),
  }))
}

/** Lists payments signed by accounts other than `own` and not mined yet, by account. */
export async function unkeyedIn(
  { db }: Store,
  { network }: Pick<SettlementChain, 'network'>,
  own: string,
): Promise<Unkeyed[]> {
  const rows = await db
    .selectFrom('chain_transactions as sent')
    .innerJoin('settlements', (join) =>
      join
        .onRef('settlements.chain_id', '=', 'sent.chain_id')
        .on('sent.purpose', '=', sql<string>`'settlement:' || settlements.id`),
    )
    .select([
      'sent.address',
      ({ fn }) => fn.countAll().as('payments'),
      ({ fn }) => fn.sum<number>('micros').as('micros'),
    ])
    .where(sql<boolean>`sent.status = 'sent'`)
    .where('sent.chain_id', '=', network.chainId)
    .where('sent.address', '<>', own)
    .where('sent.block_number', 'is', null)
    .groupBy('sent.address')
    .orderBy('sent.address')
    .execute()
  return rows.map(({ address, payments, micros }) => ({
    address,
    payments: Number(payments),
    usd: toUsd(Number(micros)),
  }))
}

/** Describes what to do about payments of an account whose key is no longer set. */
export const keyNeeded = ({ address, payments, usd }: Unkeyed): string =>
  `${payments} payments of escrows and withdrawals, ${usd} USD in all, were signed by the account ${address}, whose key is no longer ` +
  'set, and are not mined yet. They are resent unchanged; if they stay pending, set GAZEWAY_WALLET_PRIVATE_KEY back to the ' +
  `key of ${address} until they are confirmed.`
