import type { Tone } from '../../components/components.ts'

/** Where an escrow may stand. */
export const ESCROW_STATUSES = ['locked', 'released', 'settled', 'expired', 'refunded'] as const
export type EscrowStatus = (typeof ESCROW_STATUSES)[number]

/** An escrow, as `GET /api/wallet/escrow` lists it. */
export interface Escrow {
  id: string
  task_id: string
  amount_usd: number
  token: string
  payer: string
  recipient: string | null
  status: EscrowStatus
  gaze: { required: boolean; attestation_id: string | null }
  settlement: { mode: 'ledger' | 'evm'; status: string; tx_hash: string | null; attempts: number; error: string | null }
  reason: string | null
  created_at: string
  expires_at: string
  released_at: string | null
  settled_at: string | null
  refunded_at: string | null
}

/** Whether its money is still locked. */
export const isLive = ({ status }: Escrow): boolean => status === 'locked' || status === 'expired'

/** What is told of an attestation, as `GET /api/attestation/status` does. */
export interface Attestation {
  id: string
  session_id: string
  task_id: string | null
  status: 'collecting' | 'passed' | 'failed'
  poa_score: number
  progress: number
  expires_at: string
}

/** The colour of an escrow's status. */
export const ESCROW_TONES: Record<EscrowStatus, Tone> = {
  locked: 'accent',
  released: 'good',
  settled: 'good',
  expired: 'warn',
  refunded: 'neutral',
}
