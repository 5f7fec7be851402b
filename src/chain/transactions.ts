import type { Kysely, Transaction } from 'kysely'
import { sql } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { ChainTransactionRow } from '../store/tables/settlements-tables.ts'

/** Transactions read per round. */
const MAX_OPEN = 200
/** A literal, so that the partial index is used. */
const IS_OPEN = sql<boolean>`status = 'sent'`

/** An account on a chain. */
export interface AccountKey {
  chainId: number
  /** In lower case. */
  address: string
}

/** A nonce of an account and the transaction signed with it. */
export interface SentTransaction extends Omit<ChainTransactionRow, 'hashes' | 'raw'> {
  raw: `0x${string}`
  /** Hashes of all signed versions, the newest last. */
  hashes: readonly `0x${string}`[]
}

/** A transaction signed again with a higher fee. */
export type Replacement = Pick<SentTransaction, 'raw' | 'hashes' | 'gas' | 'max_fee' | 'priority_fee' | 'signed_at'>

/** The transactions of one account. They are stored before they are sent. */
export interface Transactions {
  /**
   * Takes the account's next nonce and locks it until the transaction ends. All processes on a store take nonces here.
   *
   * @param atLeast the next nonce according to the chain
   */
  takeNonce(trx: Transaction<Schema>, atLeast: number): Promise<number>
  /** Next nonce after all signed here; 0 without any. */
  nextNonce(): Promise<number>
  add(trx: Transaction<Schema>, transaction: SentTransaction): Promise<void>
  /** Stores a replacement of `old` under its nonce. @returns false when another process did so before */
  replace(old: SentTransaction, by: Replacement): Promise<boolean>
  /** Stores the block of one of its hashes; null after a reorganisation removed it. */
  noteBlock(trx: Transaction<Schema>, nonce: number, block: number | null): Promise<void>
  /** Ends a transaction. @returns false when another process did so before */
  end(trx: Transaction<Schema>, nonce: number, status: 'final' | 'reverted' | 'lost', block: number): Promise<boolean>
  /** Lists transactions that are not final, by nonce. */
  open(): Promise<SentTransaction[]>
  find(nonce: number): Promise<SentTransaction | null>
  /** Finds the latest transaction for a purpose. */
  findFor(purpose: string): Promise<SentTransaction | null>
  /** Lists other accounts on this chain with open transactions that no process tends at `at`. */
  untended(at: string): Promise<string[]>
  /** Tells whether any transaction is open. */
  anyOpen(): Promise<boolean>
  /**
   * Takes or extends the turn to tend the account. The turn only saves work: results are right even when two processes
   * tend.
   *
   * @returns whether this tender has the turn
   */
  tend(tender: string, at: Date, until: Date): Promise<boolean>
}

/** Opens the transactions of `account` in `store`. */
export function createTransactions(store: Store, account: AccountKey): Transactions {
  const { db } = store
  const { chainId, address } = account
  const rows = () => db.selectFrom('chain_transactions').where('chain_id', '=', chainId).where('address', '=', address)

  /** Changes a transaction that is open. @returns false when another process ended or replaced it before */
  async function change(
    trx: Transaction<Schema>,
    { nonce, raw }: Pick<SentTransaction, 'nonce'> & Partial<SentTransaction>,
    values: Partial<ChainTransactionRow>,
  ): Promise<boolean> {
    let update = trx
      .updateTable('chain_transactions')
      .set(values)
      .where('chain_id', '=', chainId)
      .where('address', '=', address)
      .where('nonce', '=', nonce)
      .where('status', '=', 'sent')
    if (raw !== undefined) update = update.where('raw', '=', raw)
    return (await update.executeTakeFirst()).numUpdatedRows === 1n
  }
  const open = (limit: number) => rows().selectAll().where(IS_OPEN).orderBy('nonce').limit(limit).execute()

  return {
    ...accountTurns(store, account),
    async add(trx, { hashes, ...row }) {
      await trx
        .insertInto('chain_transactions')
        .values({ ...row, hashes: JSON.stringify(hashes) })
        .execute()
    },
    replace: ({ nonce, raw }, { hashes, ...by }) =>
      store.write((trx) => change(trx, { nonce, raw }, { ...by, hashes: JSON.stringify(hashes) })),
    async noteBlock(trx, nonce, block) {
      await change(trx, { nonce }, { block_number: block })
    },
    end: (trx, nonce, status, block) => change(trx, { nonce }, { status, block_number: block }),
    open: async () => (await open(MAX_OPEN)).map(toSent),
    anyOpen: async () => (await open(1)).length > 0,
    async find(nonce) {
      const row = await rows().selectAll().where('nonce', '=', nonce).executeTakeFirst()
      return row ? toSent(row) : null
    },
    async findFor(purpose) {
      const latest = rows().selectAll().where('purpose', '=', purpose).orderBy('nonce', 'desc').limit(1)
      const row = await latest.executeTakeFirst()
      return row ? toSent(row) : null
    },
  }
}

/** Creates the nonces of an account, and the turns of processes to tend it. */
function accountTurns(
  { db }: Store,
  { chainId, address }: AccountKey,
): Pick<Transactions, 'takeNonce' | 'nextNonce' | 'untended' | 'tend'> {
  const nonceIn = (on: Kysely<Schema> | Transaction<Schema>) =>
    on.selectFrom('chain_accounts').select('next_nonce').where('chain_id', '=', chainId).where('address', '=', address)

  return {
    async takeNonce(trx, atLeast) {
      await trx
        .insertInto('chain_accounts')
        .values({ chain_id: chainId, address, next_nonce: 0, tender: null, tended_until: new Date(0).toISOString() })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      const { next_nonce } = await nonceIn(trx).forUpdate().executeTakeFirstOrThrow()
      const nonce = Math.max(next_nonce, atLeast)
      await trx
        .updateTable('chain_accounts')
        .set({ next_nonce: nonce + 1 })
        .where('chain_id', '=', chainId)
        .where('address', '=', address)
        .execute()
      return nonce
    },

    nextNonce: async () => (await nonceIn(db).executeTakeFirst())?.next_nonce ?? 0,

    async untended(at) {
      const others = await db
        .selectFrom('chain_transactions')
        .innerJoin('chain_accounts', (join) =>
          join
            .onRef('chain_accounts.chain_id', '=', 'chain_transactions.chain_id')
            .onRef('chain_accounts.address', '=', 'chain_transactions.address'),
        )
        .select('chain_transactions.address')
        .distinct()
        .where(IS_OPEN)
        .where('chain_transactions.chain_id', '=', chainId)
        .where('chain_transactions.address', '<>', address)
        .where('chain_accounts.tended_until', '<=', at)
        .execute()
      return others.map((other) => other.address)
    },

    async tend(tender, at, until) {
      const mine = { tender, tended_until: until.toISOString() }
      const taken = await db
        .insertInto('chain_accounts')
        .values({ chain_id: chainId, address, next_nonce: 0, ...mine })
        .onConflict((conflict) =>
          conflict
            .columns(['chain_id', 'address'])
            .doUpdateSet(mine)
            .where((eb) =>
              eb.or([
                eb('chain_accounts.tended_until', '<=', at.toISOString()),
                eb('chain_accounts.tender', '=', tender),
              ]),
            ),
        )
        .returning('tender')
        .execute()
      return taken.length === 1
    },
  }
}

function toSent({ hashes, ...row }: ChainTransactionRow): SentTransaction {
  return { ...row, raw: row.raw as `0x${string}`, hashes: JSON.parse(hashes) }
}
