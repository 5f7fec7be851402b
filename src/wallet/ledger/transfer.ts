import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { Micros } from '../../text/money.ts'

/** Kind of a transfer. */
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
  /** Deposited part of `micros`, with the same sign; zero when absent. */
  deposited?: Micros
}

/** A stored transfer. */
export interface Transfer {
  key: string
  /** Account whose chain contains it: that of its first entry. */
  chain: string
  /** Position in the chain, from 1. */
  position: number
  kind: string
  /** Sorted by account. */
  entries: readonly Entry[]
  memo: string | null
  at: string
  hash: string
}

/** Head of an empty chain. */
export const FIRST_HEAD = '0'.repeat(64)

/**
 * Hash that chains a transfer to the previous one: SHA-256 in hex over the previous hash, a line end, and the
 * transfer's fields as a JSON list. Changing a transfer breaks every later hash of its chain and the head in its
 * account.
 */
export function transferHash(
  previous: string,
  transfer: Omit<Transfer, 'hash' | 'entries'> & { entries: string },
): string {
  const { chain, position, key, kind, entries, memo, at } = transfer
  const canonical = JSON.stringify([chain, position, key, kind, entries, memo, at])
  return createHash('sha256').update(`${previous}\n${canonical}`).digest('hex')
}
