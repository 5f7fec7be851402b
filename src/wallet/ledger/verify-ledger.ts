import type { Store } from '../../store/store.ts'
import type { LedgerAccountRow, LedgerTransferRow } from '../../store/tables/wallet-tables.ts'
import type { Micros } from '../../text/money.ts'
import { allTransfers } from '../archive/all-transfers.ts'
import type { Archive } from '../archive/read-archive.ts'
import { headOf } from './ledger-head.ts'
import { type Entry, FIRST_HEAD, transferHash } from './transfer.ts'

/** Reported faults; the others are counted. */
const MAX_REPORTED = 20

/** Totals of the ledger and the result of its verification. */
export interface LedgerReport {
  accounts: number
  transfers: number
  /** By kind of account; they sum to zero. */
  balances: Record<string, Micros>
  /** SHA-256 over the heads of all chains, in the order of their accounts. It changes with every transfer. */
  head: string
  /** Faults, at most 20 lines; empty when all is well. */
  faults: string[]
}

/** Progress along a chain. */
interface Followed {
  position: number
  head: string
}

/** Sums of an account's entries. Bigints, as intermediate sums may exceed safe integers. */
interface Sums {
  micros: bigint
  deposited: bigint
}

const NO_ENTRIES: Sums = { micros: 0n, deposited: 0n }

/** Totals of a ledger that is not followed. */
export async function ledgerTotals(store: Store): Promise<LedgerReport> {
  return totalsOf(await readAccounts(store))
}

const readAccounts = ({ db }: Store): Promise<LedgerAccountRow[]> =>
  db.selectFrom('ledger_accounts').selectAll().orderBy('id').execute()

const totalsOf = (accounts: readonly LedgerAccountRow[]): LedgerReport => ({
  accounts: accounts.length,
  transfers: 0,
  balances: byKind(accounts),
  head: headOf(accounts),
  faults: [],
})

/**
 * Follows every chain from its first transfer and adds up every entry. Writes may continue: it checks the state at the
 * moment of the call.
 *
 * @param archives all archives of the store, oldest first; none by default
 */
export async function verifyLedger(store: Store, archives: readonly Archive[] = []): Promise<LedgerReport> {
  const accounts = await readAccounts(store)
  const byId = new Map(accounts.map((account) => [account.id, account]))
  const chains = new Map<string, Followed>()
  const sums = new Map<string, Sums>()
  const later = new Map<string, number>()
  const faults: string[] = []
  let transfers = 0

  for await (const row of allTransfers(store, archives)) {
    if (typeof row === 'string') {
      faults.push(row)
      continue
    }
    if (row.position > (byId.get(row.chain)?.transfers ?? 0)) {
      later.set(row.chain, row.position)
      continue
    }
    transfers += 1
    const chain = chains.get(row.chain) ?? { position: 0, head: FIRST_HEAD }
    faults.push(...faultsOf(row, chain))
    chains.set(row.chain, { position: row.position, head: row.hash })
    for (const { account, micros, deposited = 0 } of entriesOf(row)) {
      const sum = sums.get(account) ?? NO_ENTRIES
      sums.set(account, { micros: sum.micros + BigInt(micros), deposited: sum.deposited + BigInt(deposited) })
    }
  }
  for (const account of accounts) faults.push(...accountFaults(account, chains.get(account.id), sums.get(account.id)))
  for (const id of sums.keys()) if (!byId.has(id)) faults.push(`${id}: it has entries, but the account is missing.`)
  faults.push(...(await unaccounted(store, later)))

  return {
    ...totalsOf(accounts),
    transfers,
    faults:
      faults.length > MAX_REPORTED
        ? [...faults.slice(0, MAX_REPORTED), `${faults.length - MAX_REPORTED} more.`]
        : faults,
  }
}

function faultsOf(row: LedgerTransferRow, before: Followed): string[] {
  const faults: string[] = []
  const entries = entriesOf(row)
  const sum = entries.reduce((total, entry) => total + BigInt(entry.micros), 0n)
  if (sum !== 0n) faults.push(`Transfer ${row.key}: its entries sum to ${sum}.`)
  const deposited = entries.reduce((total, entry) => total + BigInt(entry.deposited ?? 0), 0n)
  if (deposited !== 0n) faults.push(`Transfer ${row.key}: the deposited parts of its entries sum to ${deposited}.`)
  if (row.position !== before.position + 1)
    faults.push(`${row.chain}: a transfer is missing between ${before.position} and ${row.position}.`)
  else if (transferHash(before.head, row) !== row.hash)
    faults.push(`Transfer ${row.key}: it or the transfer before it was changed after it was written.`)
  return faults
}

function accountFaults(account: LedgerAccountRow, chain: Followed | undefined, sum = NO_ENTRIES): string[] {
  const faults: string[] = []
  const { position, head } = chain ?? { position: 0, head: FIRST_HEAD }
  if (position !== account.transfers || head !== account.head)
    faults.push(`${account.id}: its chain ends at ${position}, not at ${account.transfers} with the stored hash.`)
  if (sum.micros !== BigInt(account.balance_micros))
    faults.push(`${account.id}: the balance is ${account.balance_micros}, its entries sum to ${sum.micros}.`)
  if (sum.deposited !== BigInt(account.deposited_micros))
    faults.push(
      `${account.id}: the deposited part of the balance is ${account.deposited_micros}, that of its entries sums to ${sum.deposited}.`,
    )
  if (account.deposited_micros < 0 && account.kind !== 'deposits')
    faults.push(`${account.id}: it gave ${-account.deposited_micros} micro-dollars more of deposits than it had.`)
  return faults
}

/** Finds chains longer than their accounts say, except those that have just grown. */
async function unaccounted(store: Store, later: ReadonlyMap<string, number>): Promise<string[]> {
  const faults: string[] = []
  for (const [chain, position] of later) {
    const account = await store.db
      .selectFrom('ledger_accounts')
      .select('transfers')
      .where('id', '=', chain)
      .executeTakeFirst()
    if (position > (account?.transfers ?? 0)) faults.push(`${chain}: transfer ${position} is missing in the account.`)
  }
  return faults
}

function byKind(accounts: readonly LedgerAccountRow[]): Record<string, Micros> {
  const balances: Record<string, Micros> = {}
  for (const { kind, balance_micros } of accounts) balances[kind] = (balances[kind] ?? 0) + balance_micros
  return balances
}

const entriesOf = (row: LedgerTransferRow): Entry[] => JSON.parse(row.entries)
