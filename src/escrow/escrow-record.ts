import { z } from 'zod'
import { SETTLEMENT_MODES, type SettlementMode, type SettlementState } from '../chain/settlements.ts'
import { KeyId, WalletAddress } from '../identity/key.ts'
import { ListQuery } from '../store/page.ts'
import type { EscrowRow } from '../store/tables/escrow-tables.ts'
import { AmountAboveZero, toUsd } from '../text/money.ts'
import { ESCROW_STATUSES, type EscrowStatus } from './escrow-statuses.ts'

/** The zero address: nobody has its key, so that what is paid to it is lost. */
const NOBODY = /^0x0+$/

/** The id of an escrow. */
export const EscrowId = z
  .string()
  .regex(/^esc_[0-9a-f]{32}$/)
  .meta({ accepted: 'the id of an escrow, such as esc_019aa5b2c3d47e6f8091a2b3c4d5e6f7' })

/** The id of a task. */
export const TaskId = z
  .string()
  .regex(/^task_[0-9a-f]{32}$/)
  .meta({ accepted: 'the id of a task, such as task_019aa5b2c3d47e6f8091a2b3c4d5e6f7' })

/** The id of an attestation. Whether there is one, and what it proves, is for gaze verification to say. */
export const AttestationId = z.string().min(1).max(128).describe('An attestation that is bound to this task')

/** Whom a reward goes to: a key, by its id, or a wallet. */
export const Recipient = z
  .union([WalletAddress.refine((address) => !NOBODY.test(address)), KeyId, z.literal('key_environment')])
  .describe('The id of a key, or a wallet address; where payments settle on a chain, an address')
  .meta({ accepted: 'the id of a key (key_…) or an address of 0x and 40 hexadecimal digits' })

/** How long a reward stays locked, in seconds: a day unless said otherwise, a minute to 30 days. */
export const TtlSeconds = z.int().min(60).max(2_592_000).default(86_400).describe('How long the money stays locked.')

/** A request to lock money for a task. */
export const NewEscrow = z.strictObject({
  task_id: TaskId,
  amount_usd: AmountAboveZero,
  recipient: Recipient.optional(),
  ttl_seconds: TtlSeconds,
})
export type NewEscrow = z.infer<typeof NewEscrow>

/** A request to pay a locked reward out. */
export const Release = z.strictObject({
  escrow_id: EscrowId,
  attestation_id: AttestationId,
  recipient: Recipient.optional(),
})
export type Release = z.infer<typeof Release>

/** A request to give locked money back. */
export const Refund = z.strictObject({
  reason: z
    .string()
    .max(500)
    .refine((text) => !text.includes('\0'), 'must not contain the NUL character')
    .optional()
    .describe('Why, for whoever reads the escrow later.'),
})
export type Refund = z.infer<typeof Refund>

/** Which escrows to list. */
export const EscrowList = ListQuery.extend({
  status: z.enum(ESCROW_STATUSES).optional(),
  task_id: TaskId.optional(),
})
export type EscrowList = z.infer<typeof EscrowList>

/** An escrow as it is shown. */
export const Escrow = z.object({
  id: EscrowId,
  task_id: TaskId,
  amount_usd: z.number(),
  token: z.string(),
  payer: z.string().describe('The id of the key that paid'),
  recipient: z.string().nullable().describe('Null where the agent that completes the task is paid'),
  status: z.enum(ESCROW_STATUSES),
  gaze: z.object({
    required: z.boolean(),
    attestation_id: z.string().nullable().describe('The attestation that released it'),
  }),
  settlement: z.object({
    mode: z
      .enum(SETTLEMENT_MODES)
      .describe('`evm`: paid on a chain. `ledger`: in the ledger alone, as is a reward that was locked on credit'),
    status: z.enum(['none', 'pending', 'submitted', 'confirmed', 'failed']).describe('`none` in the ledger alone'),
    tx_hash: z.string().nullable(),
    attempts: z.int(),
    error: z.string().nullable(),
  }),
  reason: z.string().nullable().describe('Why it was refunded'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  released_at: z.iso.datetime().nullable(),
  settled_at: z.iso.datetime().nullable(),
  refunded_at: z.iso.datetime().nullable(),
})
export type Escrow = z.infer<typeof Escrow>

/** The status of a row at `at`: one that is locked beyond its time is expired, whether or not its row says so yet. */
export function statusAt(row: Pick<EscrowRow, 'status' | 'expires_at'>, at: string): EscrowStatus {
  return row.status === 'locked' && row.expires_at <= at ? 'expired' : (row.status as EscrowStatus)
}

/** A row as it is shown at `at`. */
export function toEscrow(row: EscrowRow, at: string, settlement: SettlementState | undefined): Escrow {
  const { amount_micros, attestation_id, counted_on, counted_group, settlement_mode, ...fields } = row
  return {
    ...fields,
    amount_usd: toUsd(amount_micros),
    status: statusAt(row, at),
    gaze: { required: true, attestation_id },
    settlement: {
      mode: settlement_mode as SettlementMode,
      ...(settlement ?? { status: 'none', tx_hash: null, attempts: 0, error: null }),
    },
  }
}
