import { sql } from 'kysely'
import { safeSum } from '../store/safe-sum.ts'
import type { Store } from '../store/store.ts'
import { type Micros, toUsd } from '../text/money.ts'
import type { ChainBalance } from './chain-balances.ts'
import type { Network } from './networks.ts'
import type { Node } from './node.ts'
import type { SettlementChain } from './settlement-settings.ts'
import { tokenUnits } from './token-transfer.ts'

/** Whether a chain can be asked now. */
export interface ChainStatus {
  chain_id: number
  chain: string
  reachable: boolean
  block_number: number | null
  error: string | null
}

/** What is owed to escrows, and what there is to pay it with. */
export interface Vault {
  /** Locked for tasks, and released but not yet confirmed on the chain. */
  escrow_usd: number
  /** What the wallet's account has, by chain. */
  onchain: ChainBalance[]
  /** Whether that covers what is owed. With the ledger alone, what is locked is there by construction. */
  solvent: boolean
}

/** Payments of released escrows that nobody makes, as they wait for a chain that is not paid on. */
export interface Stranded {
  chainId: number
  payments: number
  usd: number
}

/** Payments that an account has signed which is not the present one, and that no block is known to hold. */
export interface Unkeyed {
  address: string
  payments: number
  usd: number
}

/** Asks every chain for its id and newest block, all at once. */
export function chainStatus(
  networks: readonly Network[],
  nodeOf: (network: Network) => Promise<Node>,
): Promise<ChainStatus[]> {
  return Promise.all(
    networks.map(async (network) => {
      const { chainId: chain_id, name: chain } = network
      const unreachable = { chain_id, chain, reachable: false, block_number: null }
      if (network.rpcUrl === null) return { ...unreachable, error: `No node is set; set chain.rpc_urls.${chain_id}.` }
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
 * What is owed to escrows, against `onchain`.
 *
 * @param settlement null where the ledger alone pays
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

/** Written as the partial index is, so that only accounts with money in them are read. */
async function lockedMicros({ db }: Store): Promise<Micros> {
  const { rows } = await sql<{ micros: number | null }>`select ${safeSum('balance_micros')} as micros
    from ledger_accounts where kind in ('escrow', 'settling') and balance_micros > 0`.execute(db)
  return rows[0]?.micros ?? 0
}

/**
 * The payments that are not confirmed and wait for other chains than the one that is paid on.
 *
 * @param settlement null where the ledger alone pays
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

/** The payments on a chain that other accounts than `own` have signed and that no block is known to hold, by account. */
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

/** What is to be done about payments that an account has signed whose key is not set any more. */
export const keyNeeded = ({ address, payments, usd }: Unkeyed): string =>
  `${payments} payments of escrows and withdrawals, ${usd} USD in all, were signed by the account ${address}, whose key is not set any ` +
  'more, and are in no block yet. They are sent again as they are; if they stay, set GAZEWAY_WALLET_PRIVATE_KEY back to the ' +
  `key of ${address} until they are confirmed.`
