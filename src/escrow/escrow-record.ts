import * as z from 'zod'
import { SETTLEMENT_MODES, type SettlementMode, type SettlementState } from '../chain/settlements.ts'
import { CallerId, KeyId, WalletAddress } from '../identity/key.ts'
import { ListQuery } from '../store/page.ts'
import type { EscrowRow } from '../store/tables/escrow-tables.ts'
import { AmountAboveZero, toUsd } from '../text/money.ts'
import { ESCROW_STATUSES, type EscrowStatus, STATUS_GROUPS } from './escrow-statuses.ts'

/** The zero address. Nobody has its key, so money paid to it is lost. */
const NOBODY = /^0x0+$/

/** Id of an escrow. */
export const EscrowId = z
  .string()
  .regex(/^esc_[0-9a-f]{32}$/)
  .meta({ accepted: 'the id of an escrow, such as esc_019aa5b2c3d47e6f8091a2b3c4d5e6f7' })

/** Id of a task. */
export const TaskId = z
  .string()
  .regex(/^task_[0-9a-f]{32}$/)
  .meta({ accepted: 'the id of a task, such as task_019aa5b2c3d47e6f8091a2b3c4d5e6f7' })

/** Id of an attestation. Gaze verification checks that it exists and what it proves. */
export const AttestationId = z.string().min(1).max(128).describe('An attestation that is bound to this task')

/** Recipient of a reward: a key id or a wallet address. */
export const Recipient = z
  .union([WalletAddress.refine((address) => !NOBODY.test(address)), KeyId, z.literal('key_environment')])
  .describe('Key id or wallet address; an address where payments settle on a chain')
  .meta({ accepted: 'the id of a key (key_…) or an address of 0x and 40 hexadecimal digits' })

/** Lifetime of a lock in seconds: one minute to 30 days, a day by default. */
export const TtlSeconds = z.int().min(60).max(2_592_000).default(86_400).describe('Lifetime of the lock.')

/** A request to lock money for a task. */
export const NewEscrow = z.strictObject({
  task_id: TaskId,
  amount_usd: AmountAboveZero,
  recipient: Recipient.optional(),
  ttl_seconds: TtlSeconds,
})
export type NewEscrow = z.infer<typeof NewEscrow>

/** A request to pay a locked reward. */
export const Release = z.strictObject({
  escrow_id: EscrowId,
  attestation_id: AttestationId,
  recipient: Recipient.optional(),
})
export type Release = z.infer<typeof Release>

/** A request to refund locked money. */
export const Refund = z.strictObject({
  reason: z
    .string()
    .max(500)
    .refine((text) => !text.includes('\0'), 'must not contain the NUL character')
    .optional()
    .describe('Reason shown with the escrow.'),
})
export type Refund = z.infer<typeof Refund>

/** Filters of a list of escrows. */
export const EscrowList = ListQuery.extend({
  status: z
    .enum([...ESCROW_STATUSES, ...STATUS_GROUPS])
    .optional()
    .describe('`live`: locked or expired, so that the money is in escrow. `paid`: released or settled.'),
  task_id: TaskId.optional(),
  payer: CallerId.optional().describe('Only those that this key or wallet pays.'),
})
export type EscrowList = z.infer<typeof EscrowList>

/** An escrow as shown to callers. */
export const Escrow = z.object({
  id: EscrowId,
  task_id: TaskId,
  amount_usd: z.number(),
  token: z.string(),
  payer: z.string().describe('Id of the paying key'),
  recipient: z.string().nullable().describe('Null to pay the agent that completes the task'),
  status: z.enum(ESCROW_STATUSES),
  gaze: z.object({
    required: z.boolean(),
    attestation_id: z.string().nullable().describe('The attestation that released it'),
  }),
  settlement: z.object({
    mode: z
      .enum(SETTLEMENT_MODES)
      .describe('`evm`: paid on a chain. `ledger`: paid in the ledger, as rewards locked on credit always are'),
    status: z.enum(['none', 'pending', 'submitted', 'confirmed', 'failed']).describe('`none` when paid in the ledger'),
    tx_hash: z.string().nullable(),
    attempts: z.int(),
    error: z.string().nullable(),
  }),
  reason: z.string().nullable().describe('Reason of the refund'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  released_at: z.iso.datetime().nullable(),
  settled_at: z.iso.datetime().nullable(),
  refunded_at: z.iso.datetime().nullable(),
})
export type Escrow = z.infer<typeof Escrow>

/** Status of a row at `at`. A lock past its expiry counts as expired before the row is updated. */
export function statusAt(row: Pick<EscrowRow, 'status' | 'expires_at'>, at: string): EscrowStatus {
  return row.status === 'locked' && row.expires_at <= at ? 'expired' : (row.status as EscrowStatus)
}

/** Converts a row to the escrow that callers see, with its status at `at`. */
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
