import type { Transaction } from 'kysely'
import type { Base } from '../base.ts'
import type { SettlementMode, Settlements } from '../chain/settlements.ts'
import { movingToken } from '../config/moving-token.ts'
import type { GazeVerifier } from '../gaze/verification.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import type { EscrowRow } from '../store/tables/escrow-tables.ts'
import type { LimitsOf } from '../wallet/budget/spending-limits.ts'
import { type Caller, found, requireSeen, type Viewer } from './escrow-access.ts'
import { createExpiry } from './escrow-expiry.ts'
import { attestationFaults, escrowFaults } from './escrow-faults.ts'
import { type Escrow, type EscrowList, type NewEscrow, type Refund, type Release, toEscrow } from './escrow-record.ts'
import { createTally } from './escrow-tally.ts'
import { type Funding, lockedRow, settle } from './escrow-transfers.ts'
import { fundEscrow } from './fund.ts'
import { listEscrows } from './list-escrows.ts'
import { createPayees } from './payee.ts'
import { refundEscrow } from './refund.ts'
import { createRelease } from './release.ts'

export type { Caller } from './escrow-access.ts'
export { Escrow, EscrowList, NewEscrow, Refund, Release } from './escrow-record.ts'

const EXPIRY_MS = 60_000

/** Rewards that are locked until their tasks are completed. */
export interface Escrows {
  /**
   * Locks the caller's money for its own task; an admin may lock it for any task.
   *
   * @param keep called with the escrow in the same transaction
   * @throws GazewayError
   * - `not_found` or `forbidden`
   * - `invalid_transition` for a task that failed or was cancelled
   * - `conflict` when the task has an escrow or was paid by one
   * - `validation_failed`, `insufficient_credit` or `budget_reached`
   */
  create(input: NewEscrow, caller: Caller, keep?: Keep<Escrow>): Promise<Escrow>
  /**
   * Lists escrows, newest first.
   *
   * @param viewer key that sees those it pays, and those of tasks that it created or claimed; of one task also those that
   *   pay it. Null for all escrows
   * @throws GazewayError `invalid_cursor`
   */
  list(query: Paged<EscrowList>, viewer: Viewer | null): Promise<Page<Escrow>>
  /**
   * Reads an escrow.
   *
   * @param viewer key that sees those it pays or is paid by, and those of tasks that it created or claimed; null for all
   * @throws GazewayError `not_found`
   */
  get(id: string, viewer: Viewer | null): Promise<Escrow>
  /**
   * Releases an escrow, once; later calls return the same reply. For its payer, its recipient and admins. Nothing
   * changes on an error.
   *
   * @throws GazewayError
   * - `not_found` or `forbidden`
   * - `invalid_transition` or `task_not_completed`
   * - `recipient_fixed` for another recipient than the escrow's
   * - `validation_failed` for a recipient that cannot be paid
   * - `gaze_verification_failed`
   */
  release(input: Release, caller: Caller): Promise<Escrow>
  /**
   * Refunds an escrow, once; later calls return the same reply. For its payer and admins.
   *
   * @throws GazewayError `not_found`, `forbidden` or `invalid_transition`
   */
  refund(id: string, input: Refund, caller: Caller): Promise<Escrow>
  /** Marks an escrow as settled, once, in the transaction that confirms its payment. */
  settled(trx: Transaction<Schema>, of: { id: string; at: string }): Promise<void>
  /**
   * Finds payer, limits and settlement for rewards of `payer`, before the transaction that locks them.
   *
   * @throws GazewayError `validation_failed` for a recipient that cannot be paid
   */
  funding(payer: string, recipient: string | null): Promise<Funding>
  /** Expires at most `limit` escrows that are due. @returns how many */
  expire(limit: number): Promise<number>
  /** Compares escrows with the ledger and with uses of attestations. Returns the faults; empty without any. */
  verify(): Promise<string[]>
  /** Periodic work of a long-running process, for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/** Dependencies of {@link createEscrows}. */
export interface EscrowsDeps {
  store: Store
  now: () => Date
  limitsOf: LimitsOf
  settlements: Settlements
  verifier: GazeVerifier
  /** Tells whether a fixed key is set, so that it may be a recipient; false by default. */
  hasFixedKey?: () => boolean
  /** Token of amounts, by settlement mode. */
  token: (mode: SettlementMode) => string
}

/** Opens the room: amounts have the token in force. */
export function liveEscrows(
  { store, now, config }: Base,
  rooms: Pick<EscrowsDeps, 'limitsOf' | 'settlements' | 'verifier'>,
): Escrows {
  const settings = () => config.current().config
  return createEscrows({
    ...rooms,
    store,
    now,
    hasFixedKey: () => settings().identity.api_key !== null,
    token: (mode) => movingToken(settings(), mode).token,
  })
}

/** Creates the escrows of `store`. */
export function createEscrows(deps: EscrowsDeps): Escrows {
  const { store, now, limitsOf, settlements, token } = deps
  const payees = createPayees(deps)
  const release = createRelease({ ...deps, payees })
  const expiry = createExpiry(deps)

  /** Only released escrows have a settlement. */
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
    async create(input, caller, keep) {
      return fundEscrow(deps, input, { caller, keep, paid: await funding(caller.id, input.recipient ?? null) })
    },

    async list(query, viewer) {
      const at = now().toISOString()
      await expiry.seeDue(at)
      return listEscrows(store, { query, viewer }, (rows) => shownAll(rows, at))
    },

    async get(id, viewer) {
      const row = await store.db.selectFrom('escrows').selectAll().where('id', '=', id).executeTakeFirst()
      if (viewer !== null) await requireSeen(store.db, found(row), viewer)
      return shown(found(row), now().toISOString())
    },

    async release(input, caller) {
      const at = now().toISOString()
      return shown(await release(input, caller, at), at)
    },

    async refund(id, { reason = null }, caller) {
      const at = now().toISOString()
      return shown(await refundEscrow(store, id, { reason, at, caller }), at)
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
