import { sql, type Transaction } from 'kysely'
import * as z from 'zod'
import type { Base } from '../base.ts'
import { movingToken } from '../config/moving-token.ts'
import { GazewayError } from '../errors.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import { WalletAddress } from '../identity/key.ts'
import { countMatches } from '../store/count-matches.ts'
import type { CsvColumns } from '../store/csv.ts'
import { toUtc } from '../store/dates.ts'
import { decodeCursor, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { WithdrawalRow } from '../store/tables/settlements-tables.ts'
import { newId } from '../text/ids.ts'
import { AmountAboveZero, type Micros, toMicros, toUsd } from '../text/money.ts'
import { accountOf } from '../wallet/ledger/accounts.ts'
import { lockedPayerAccount } from '../wallet/ledger/bind-wallet.ts'
import { knownCaller } from '../wallet/ledger/deposits.ts'
import { post } from '../wallet/ledger/ledger.ts'
import type { MoneyQuery } from '../wallet/wallet.ts'
import { requireAddress } from './recipient.ts'
import type { Settlements } from './settlements.ts'

/** A withdrawal to a chain. */
export const NewWithdrawal = z.strictObject({
  caller_id: z.string().min(1).max(256).describe('Id of a key, or a wallet address'),
  amount_usd: AmountAboveZero,
  to: WalletAddress.describe('The address to pay'),
})
export type NewWithdrawal = z.infer<typeof NewWithdrawal>

export const WithdrawalId = z
  .string()
  .regex(/^wd_[0-9a-f]{32}$/)
  .meta({ accepted: 'the id of a withdrawal, such as wd_019aa5b2c3d47e6f8091a2b3c4d5e6f7' })

/** A withdrawal as shown to callers. */
export const Withdrawal = NewWithdrawal.extend({
  id: WithdrawalId,
  caller_id: z.string().describe('The debited account; for a wallet, the key it is bound to'),
  to: z.string(),
  token: z.string().describe('Payment token'),
  settlement: z.object({
    status: z.enum(['none', 'pending', 'submitted', 'confirmed', 'failed']),
    tx_hash: z.string().nullable(),
    attempts: z.int(),
    error: z.string().nullable(),
  }),
  created_at: z.iso.datetime(),
  settled_at: z.iso.datetime().nullable().describe('When the chain confirmed the payment'),
})
export type Withdrawal = z.infer<typeof Withdrawal>

/** Columns of the CSV of withdrawals. */
export const WITHDRAWAL_COLUMNS: CsvColumns<Withdrawal> = {
  id: ({ id }) => id,
  caller_id: ({ caller_id }) => caller_id,
  amount_usd: ({ amount_usd }) => amount_usd,
  to: ({ to }) => to,
  token: ({ token }) => token,
  status: ({ settlement }) => settlement.status,
  tx_hash: ({ settlement }) => settlement.tx_hash ?? '',
  created_at: ({ created_at }) => created_at,
  settled_at: ({ settled_at }) => settled_at ?? '',
}

/** Withdrawals of deposits to a chain. */
export interface Withdrawals {
  /**
   * Takes deposited money out of a caller's account and queues its payment on the chain, in one transaction.
   *
   * @param keep called with the withdrawal in the same transaction
   * @throws GazewayError
   * - `conflict` when nothing is paid on a chain
   * - `validation_failed` or `not_found` for the caller or the address
   * - `insufficient_credit` when less than the amount was deposited
   */
  make(input: NewWithdrawal, keep?: Keep<Withdrawal>): Promise<Withdrawal>
  /** @throws GazewayError `not_found` */
  get(id: string): Promise<Withdrawal>
  /** Lists withdrawals, newest first. @throws GazewayError `invalid_cursor` */
  list(query: Paged<MoneyQuery>): Promise<Page<Withdrawal>>
  /**
   * Marks a withdrawal as paid, in the transaction that confirms its payment; once.
   *
   * @returns false when the payment is not of a withdrawal
   */
  settled(trx: Transaction<Schema>, of: { id: string; at: string }): Promise<boolean>
}

const PENDING = { status: 'pending', tx_hash: null, attempts: 0, error: null } as const

/** Opens the withdrawals. Their token follows the configuration in force. */
export function liveWithdrawals({ store, now, config }: Base, settlements: Settlements): Withdrawals {
  const token = () => movingToken(config.current().config, 'evm').token

  return {
    async make({ caller_id, amount_usd, to }, keep) {
      if (settlements.mode === 'ledger') throw nothingPaid()
      const recipient = addressIn(to)
      const micros = toMicros(amount_usd) as Micros
      return store.write(async (trx) => {
        const id = newId('wd')
        const at = now().toISOString()
        const owner = await accountFor(trx, caller_id)
        await post(trx, {
          key: `withdraw:${id}`,
          kind: 'withdraw',
          entries: [
            // Deposits only: nothing else may be paid out.
            { account: accountOf('caller', owner), micros: -micros, deposited: -micros },
            { account: accountOf('settling', owner), micros },
          ],
          at,
        })
        const row = {
          id,
          caller_id: owner,
          recipient,
          amount_micros: micros,
          token: token(),
          created_at: at,
          settled_at: null,
        }
        await trx.insertInto('withdrawals').values(row).execute()
        await settlements.enqueue(trx, { id, recipient, micros, at })
        const made = shown(row, PENDING)
        await keep?.(trx, made)
        return made
      })
    },

    async get(id) {
      const row = await store.db.selectFrom('withdrawals').selectAll().where('id', '=', id).executeTakeFirst()
      if (!row) throw new GazewayError('not_found', 'There is no withdrawal with this id.', { param: 'id' })
      return shown(row, (await settlements.states([id])).get(id) ?? PENDING)
    },

    list: (query) => listWithdrawals(store, settlements, query),

    async settled(trx, { id, at }) {
      const row = await trx.selectFrom('withdrawals').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
      if (!row) return false
      if (row.settled_at !== null) return true
      await trx.updateTable('withdrawals').set({ settled_at: at }).where('id', '=', id).execute()
      await post(trx, {
        key: `withdraw:${id}:settle`,
        kind: 'settle',
        entries: [
          { account: accountOf('settling', row.caller_id), micros: -row.amount_micros },
          { account: accountOf('deposits', row.caller_id), micros: row.amount_micros },
        ],
        at,
      })
      return true
    },
  }
}

async function listWithdrawals(
  store: Store,
  settlements: Settlements,
  query: Paged<MoneyQuery>,
): Promise<Page<Withdrawal>> {
  const { caller_id, from, to, cursor, offset } = query
  const reader = pageReader(store, query)
  let matches = reader.selectFrom('withdrawals')
  if (caller_id !== undefined) matches = matches.where('caller_id', '=', caller_id)
  if (from) matches = matches.where('created_at', '>=', toUtc(from))
  if (to) matches = matches.where('created_at', '<', toUtc(to))
  let page = matches.selectAll()
  if (cursor !== undefined) {
    const [at, id] = decodeCursor(cursor, z.tuple([z.iso.datetime(), z.string()]))
    page = page.where(sql<boolean>`(created_at, id) < (${at}, ${id})`)
  }
  if (offset) page = page.offset(offset)
  const newest = page.orderBy('created_at', 'desc').orderBy('id', 'desc')
  let states = new Map<string, Withdrawal['settlement']>()
  return readPage(query, {
    async rows(limit) {
      const rows = await newest.limit(limit).execute()
      states = await settlements.states(rows.map(({ id }) => id))
      return rows
    },
    total: () => countMatches(reader, matches),
    cursor: (row) => [row.created_at, row.id],
    item: (row) => shown(row, states.get(row.id) ?? PENDING),
  })
}

async function accountFor(trx: Transaction<Schema>, callerId: string): Promise<string> {
  const wallet = WalletAddress.safeParse(callerId).data
  if (wallet !== undefined) return lockedPayerAccount(trx, wallet)
  // The balance of a revoked key still belongs to its owner.
  return knownCaller({ db: trx }, callerId, { orRevoked: true })
}

function shown(row: WithdrawalRow, settlement: Withdrawal['settlement']): Withdrawal {
  const { recipient, amount_micros, ...fields } = row
  return { ...fields, to: recipient, amount_usd: toUsd(amount_micros), settlement }
}

function addressIn(to: string): string {
  try {
    return requireAddress(to)
  } catch (cause) {
    throw new GazewayError(
      'validation_failed',
      'to: the zero address; must be an address that somebody can spend from.',
      {
        param: 'to',
        cause,
      },
    )
  }
}

const nothingPaid = (): GazewayError =>
  new GazewayError('conflict', 'Withdrawals need a chain. Set chain.settlement and restart the platform.')
