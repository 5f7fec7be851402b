import type { Transaction } from 'kysely'
import { sql } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { ChainTransactionRow } from '../store/tables/settlements-tables.ts'

/** Transactions read per round. */
const MAX_OPEN = 200

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
  replace(
    old: SentTransaction,
    by: Pick<SentTransaction, 'raw' | 'hashes' | 'gas' | 'max_fee' | 'priority_fee' | 'signed_at'>,
  ): Promise<boolean>
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
export function createTransactions(store: Store, { chainId, address }: AccountKey): Transactions {
  const { db } = store
  const rows = () => db.selectFrom('chain_transactions').where('chain_id', '=', chainId).where('address', '=', address)
  // A literal, so that the partial index is used.
  const isOpen = sql<boolean>`status = 'sent'`

  const update = (trx: Transaction<Schema>, nonce: number) =>
    trx
      .updateTable('chain_transactions')
      .where('chain_id', '=', chainId)
      .where('address', '=', address)
      .where('nonce', '=', nonce)

  async function open(limit: number): Promise<SentTransaction[]> {
    return (await rows().selectAll().where(isOpen).orderBy('nonce').limit(limit).execute()).map(toSent)
  }

  return {
    async takeNonce(trx, atLeast) {
      await trx
        .insertInto('chain_accounts')
        .values({ chain_id: chainId, address, next_nonce: 0, tender: null, tended_until: new Date(0).toISOString() })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      const { next_nonce } = await trx
        .selectFrom('chain_accounts')
        .select('next_nonce')
        .where('chain_id', '=', chainId)
        .where('address', '=', address)
        .forUpdate()
        .executeTakeFirstOrThrow()
      const nonce = Math.max(next_nonce, atLeast)
      await trx
        .updateTable('chain_accounts')
        .set({ next_nonce: nonce + 1 })
        .where('chain_id', '=', chainId)
        .where('address', '=', address)
        .execute()
      return nonce
    },

    async nextNonce() {
      const row = await db
        .selectFrom('chain_accounts')
        .select('next_nonce')
        .where('chain_id', '=', chainId)
        .where('address', '=', address)
        .executeTakeFirst()
      return row?.next_nonce ?? 0
    },

    async add(trx, { hashes, ...row }) {
      await trx
        .insertInto('chain_transactions')
        .values({ ...row, hashes: JSON.stringify(hashes) })
        .execute()
    },

    async replace({ nonce, raw }, { hashes, ...by }) {
      const { numUpdatedRows } = await store.write((trx) =>
        update(trx, nonce)
          .set({ ...by, hashes: JSON.stringify(hashes) })
          .where('status', '=', 'sent')
          .where('raw', '=', raw)
          .executeTakeFirst(),
      )
      return numUpdatedRows === 1n
    },

    async noteBlock(trx, nonce, block) {
      await update(trx, nonce).set({ block_number: block }).where('status', '=', 'sent').execute()
    },

    async end(trx, nonce, status, block) {
      const { numUpdatedRows } = await update(trx, nonce)
        .set({ status, block_number: block })
        .where('status', '=', 'sent')
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    open: () => open(MAX_OPEN),

    async find(nonce) {
      const row = await rows().selectAll().where('nonce', '=', nonce).executeTakeFirst()
      return row ? toSent(row) : null
    },

    async findFor(purpose) {
      const row = await rows()
        .selectAll()
        .where('purpose', '=', purpose)
        .orderBy('nonce', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? toSent(row) : null
    },

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
        .where(isOpen)
        .where('chain_transactions.chain_id', '=', chainId)
        .where('chain_transactions.address', '<>', address)
        .where('chain_accounts.tended_until', '<=', at)
        .execute()
      return others.map((other) => other.address)
    },

    async anyOpen() {
      return (await open(1)).length > 0
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
