import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Micros } from '../text/money.ts'

/** What a transfer does. */
export const TransferKind = z.enum([
  'deposit',
  'reserve',
  'capture',
  'charge',
  'void',
  'lock',
  'release',
  'refund',
  'settle',
  'withdraw',
  'bind',
  'purchase',
  'return',
])
export type TransferKind = z.infer<typeof TransferKind>

/** A signed amount on one account. */
export interface Entry {
  account: string
  micros: Micros
  /** The part of `micros` that comes from deposits, with the same sign. None when absent. */
  deposited?: Micros
}

/** A stored transfer. */
export interface Transfer {
  key: string
  /** The account whose chain it is in: the first of its entries'. */
  chain: string
  /** Its place there, from 1. */
  position: number
  kind: string
  /** Sorted by account. */
  entries: readonly Entry[]
  memo: string | null
  at: string
  hash: string
}

/** What the first transfer of a chain follows on. */
export const FIRST_HEAD = '0'.repeat(64)

/**
 * The hash that chains a transfer to the one before: SHA-256, in hex, over that one's hash, a line end, and the
 * transfer's fields as a JSON list. Whoever changes a transfer must change every later one of its chain and the head in
 * its account.
 */
export function transferHash(
  previous: string,
  transfer: Omit<Transfer, 'hash' | 'entries'> & { entries: string },
): string {
  const { chain, position, key, kind, entries, memo, at } = transfer
  const canonical = JSON.stringify([chain, position, key, kind, entries, memo, at])
  return createHash('sha256').update(`${previous}\n${canonical}`).digest('hex')
}
