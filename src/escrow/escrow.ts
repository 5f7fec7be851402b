import type { Transaction } from 'kysely'
import type { SettlementMode, Settlements } from '../chain/settlements.ts'
import type { GazeVerifier } from '../gaze/verification.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import type { EscrowRow } from '../store/tables/escrow-tables.ts'
import { newId } from '../text/ids.ts'
import { type Micros, toMicros } from '../text/money.ts'
import type { LimitsOf } from '../wallet/limits.ts'
import { type Caller, found, requireFundable, requirePayer, requireRefundable } from './access.ts'
import { createExpiry } from './escrow-expiry.ts'
import { attestationFaults, escrowFaults } from './escrow-faults.ts'
import { type Escrow, type EscrowList, type NewEscrow, type Refund, type Release, toEscrow } from './escrow-record.ts'
import { createTally } from './escrow-tally.ts'
import { listEscrows } from './list-escrows.ts'
import { type Funding, lock, lockedRow, refund, settle } from './moves.ts'
import { createPayees } from './payee.ts'
import { createRelease } from './release.ts'
import { taskStatusAt } from './task-status.ts'

export type { Caller } from './access.ts'
export { Escrow, EscrowList, NewEscrow, Refund, Release } from './escrow-record.ts'

const EXPIRY_MS = 60_000

/** Rewards that are locked until their tasks are done. */
export interface Escrows {
  /**
   * Locks money of the caller's for a task of its own (an admin: for any).
   *
   * @param keep told of the escrow in the same transaction
   * @throws GazewayError `not_found`, `forbidden`, `invalid_transition` for a task that failed or was cancelled,
   *   `conflict` when it has an escrow, or was paid by one, `validation_failed`, `insufficient_credit` or `budget_reached`
   */
  create(input: NewEscrow, caller: Caller, keep?: Keep<Escrow>): Promise<Escrow>
  /** Escrows, newest first. @throws GazewayError `invalid_cursor` */
  list(query: Paged<EscrowList>): Promise<Page<Escrow>>
  /** @throws GazewayError `not_found` */
  get(id: string): Promise<Escrow>
  /**
   * Pays an escrow out, once; later calls get the same reply. For its payer, its recipient and admins.
   *
   * @throws GazewayError `not_found`, `forbidden`, `invalid_transition`, `task_not_completed`, `recipient_fixed` for another
   *   recipient than the escrow's, `validation_failed` for one that cannot be paid, `gaze_verification_failed`; nothing has
   *   changed then
   */
  release(input: Release, caller: Caller): Promise<Escrow>
  /**
   * Gives an escrow's money back, once; later calls get the same reply. For its payer and admins.
   *
   * @throws GazewayError `not_found`, `forbidden` or `invalid_transition`
   */
  refund(id: string, input: Refund, caller: Caller): Promise<Escrow>
  /** Notes, in the transaction in which a chain's payment is confirmed, that the escrow is settled; once. */
  settled(trx: Transaction<Schema>, of: { id: string; at: string }): Promise<void>
  /**
   * What a transaction that locks rewards of `payer` must know, found before it begins.
   *
   * @throws GazewayError `validation_failed` for a recipient that could not be paid
   */
  funding(payer: string, recipient: string | null): Promise<Funding>
  /** Moves the escrows whose time is over to `expired`, at most `limit`. @returns how many */
  expire(limit: number): Promise<number>
  /** Where escrows, the ledger and the uses of attestations do not agree; empty when all is well. */
  verify(): Promise<string[]>
  /** What a long-running process does again and again, for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/** What escrows are made with. */
export interface EscrowsDeps {
  store: Store
  now: () => Date
  limitsOf: LimitsOf
  settlements: Settlements
  verifier: GazeVerifier
  /** Whether a fixed key is set, which may be named as a recipient; none is when absent. */
  hasFixedKey?: () => boolean
  /** What amounts are said to be in. */
  token: (mode: SettlementMode) => string
}

/** The escrows in `store`. */
export function createEscrows(deps: EscrowsDeps): Escrows {
  const { store, now, limitsOf, settlements, token } = deps
  const payees = createPayees(deps)
  const release = createRelease({ ...deps, payees })
  const expiry = createExpiry(deps)

  /** Only what was released is paid. */
  async function shownAll(rows: readonly EscrowRow[], at: string): Promise<Escrow[]> {
    const states = await settlements.states(rows.filter((row) => row.released_at !== null).map(({ id }) => id))
    return rows.map((row) => toEscrow(row, at, states.get(row.id)))
  }
  const shown = async (row: EscrowRow, at: string) => (await shownAll([row], at))[0] as Escrow

  async function funding(payer: string, recipient: string | null): Promise<Funding> {
    if (recipient !== null) await payees.check(recipient)
    return { payer, limits: await limitsOf(payer), settlement: settlements.mode, tokenOf: token }
  }

  return {
    async create({ task_id, amount_usd, recipient = null, ttl_seconds }, caller, keep) {
      const paid = await funding(caller.id, recipient)
      const at = now()
      return store.write(async (trx) => {
        const { completedBy } = await requireFundable(trx, task_id, caller)
        const tally = createTally()
        const of = {
          id: newId('esc'),
          taskId: task_id,
          micros: toMicros(amount_usd) as Micros,
          recipient: recipient ?? completedBy,
          at: at.toISOString(),
          expiresAt: new Date(at.getTime() + ttl_seconds * 1000).toISOString(),
        }
        const locked = await lock(trx, paid, of, tally)
        await trx
          .updateTable('tasks')
          .set({
            escrow_id: of.id,
            reward_micros: of.micros,
            reward_expires_at: of.expiresAt,
            reward_settlement: locked.settlement_mode,
            updated_at: of.at,
          })
          .where('id', '=', task_id)
          .execute()
        await tally.write(trx)
        const made = toEscrow(locked, of.at, undefined)
        await keep?.(trx, made)
        return made
      })
    },

    async list(query) {
      const at = now().toISOString()
      await expiry.seeDue(at)
      return listEscrows(store, query, (rows) => shownAll(rows, at))
    },

    async get(id) {
      const row = await store.db.selectFrom('escrows').selectAll().where('id', '=', id).executeTakeFirst()
      return shown(found(row), now().toISOString())
    },

    async release(input, caller) {
      const at = now().toISOString()
      return shown(await release(input, caller, at), at)
    },

    async refund(id, { reason = null }, caller) {
      const at = now().toISOString()
      const row = await store.write(async (trx) => {
        const held = found(await lockedRow(trx, id))
        requirePayer(held, caller)
        if (held.status === 'refunded') return held
        const task = await trx
          .selectFrom('tasks')
          .select(['status', 'lease_expires_at'])
          .where('id', '=', held.task_id)
          .executeTakeFirstOrThrow()
        requireRefundable(held, { taskStatus: taskStatusAt(task, at), at })
        const tally = createTally()
        const refunded = await refund(trx, held, { reason, at }, tally)
        await tally.write(trx)
        return refunded
      })
      return shown(row, at)
    },

    async settled(trx, { id, at }) {
      const row = found(await lockedRow(trx, id))
      if (row.status === 'settled') return
      const tally = createTally()
      await settle(trx, row, { at }, tally)
      await tally.write(trx)
    },

    funding,
    expire: expiry.sweep,
    verify: async () => [...(await escrowFaults(store)), ...(await attestationFaults(store))],
    sweeps: [{ name: 'escrow.expiry', everyMs: EXPIRY_MS, batch: expiry.sweep }],
  }
}
