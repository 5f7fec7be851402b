import type { Page, Paged } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { type Balances, readBalances } from './account-balances.ts'
import { sweepAllowances } from './allowances.ts'
import { type Credit, creditAccount, type DepositReceipt, knownCaller, makeDeposit } from './deposits.ts'
import { forgetAnswers } from './forget.ts'
import { createHolds, type Holds } from './holds.ts'
import type { LimitsOf } from './limits.ts'
import type { Overrun } from './overruns.ts'
import { type Pricing, type PricingConfig, priceList } from './pricing.ts'
import { readStatement, type StatementLine } from './statement.ts'
import { usageCsv } from './usage-csv.ts'
import { type ReceiptPage, type UsageQuery, type UsageReport, usageReceipts, usageReport } from './usage-report.ts'
import { callFaults } from './verify-calls.ts'
import { type LedgerReport, verifyLedger } from './verify-ledger.ts'

export { Balances } from './account-balances.ts'
export { Deposit, DepositReceipt } from './deposits.ts'
export { Pricing } from './pricing.ts'
export { Receipt, ReceiptRecord } from './receipt.ts'
export { StatementLine, StatementQuery } from './statement.ts'
export { UsageQuery, UsageSums } from './usage-report.ts'

/** How often money that was set aside too long ago is looked for, in milliseconds. */
const HOLDS_MS = 60_000
const ANSWERS_MS = 600_000

/** Accounts, and what calls took from them. */
export interface Wallet {
  /** Money that is reserved for a call, and captured or given back. */
  holds: Holds
  /** Whose account a deposit for this id or wallet address goes to. @throws see `knownCaller` in `deposits.ts` */
  knownCaller(callerId: string): Promise<string>
  /** Credits a caller's account, once per `reference`. @throws see `makeDeposit` */
  deposit(input: unknown): Promise<DepositReceipt>
  /** Credits the very account that is named, or the one that a wallet's money goes to, once per `reference`. @throws see `creditAccount` */
  credit(credit: Credit): Promise<DepositReceipt>
  /** What a caller has. */
  balances(callerId: string): Promise<Balances>
  /** What came into a caller's account and left it, newest first. @throws GazewayError `invalid_cursor` */
  statement(callerId: string, query: Paged): Promise<Page<StatementLine>>
  /** Receipts, and what they add up to. @throws GazewayError `invalid_cursor` */
  usage(query: Paged<UsageQuery>): Promise<UsageReport>
  /** The receipts alone. @throws GazewayError `invalid_cursor` */
  receipts(query: Paged<UsageQuery>): Promise<ReceiptPage>
  /** All receipts of a selection as lines of CSV. @throws GazewayError `invalid_cursor` */
  usageCsv(query: Omit<UsageQuery, 'limit'>): AsyncGenerator<string, void>
  /** What calls cost now. */
  pricing(): Pricing
  /** Compares the ledger with itself, with receipts and with daily spending. */
  verify(): Promise<LedgerReport>
  /** Gives back at most `limit` holds whose calls never ended, as after a crash. @returns how many */
  sweepHolds(limit: number): Promise<number>
  /** What a long-running process does again and again, for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/** What the wallet is made with. */
export interface WalletDeps {
  store: Store
  limitsOf: LimitsOf
  pricing: PricingConfig
  now: () => Date
  /** Whether a fixed key is set, whose account may be paid into; none is when absent. */
  hasFixedKey?: () => boolean
  /** Told of each call whose cost was above its reservation. */
  onOverrun: (overrun: Overrun) => void
  /** Gives back what this process has set aside for calls of a key to come; nothing is when absent. */
  giveBackIdle?: (callerId: string) => Promise<void>
}

/** The wallet on `store`. */
export function createWallet(deps: WalletDeps): Wallet {
  const { store, limitsOf, pricing, now, onOverrun, hasFixedKey = () => false, giveBackIdle = async () => {} } = deps
  const holds = createHolds({ store, now, limitsOf, onOverrun })
  const receipts = (query: Paged<UsageQuery>) => usageReceipts(store, query)
  return {
    holds,
    knownCaller: (callerId) => knownCaller(store, callerId, { hasFixedKey: hasFixedKey() }),
    deposit: (input) => makeDeposit(store, input, now(), { hasFixedKey: hasFixedKey() }),
    credit: (credit) => creditAccount(store, credit, now()),
    async balances(callerId) {
      await giveBackIdle(callerId)
      return readBalances(store, callerId, { limitsOf, now: now() })
    },
    statement: (callerId, query) => readStatement(store, callerId, query),
    usage: (query) => usageReport(store, query),
    receipts,
    usageCsv: (query) => usageCsv(receipts, query),
    pricing: () => priceList(pricing),
    async verify() {
      const { faults, ...report } = await verifyLedger(store)
      return { ...report, faults: [...faults, ...(await callFaults(store))] }
    },
    sweepHolds: holds.sweep,
    sweeps: [
      { name: 'wallet.holds', everyMs: HOLDS_MS, batch: holds.sweep },
      { name: 'wallet.allowances', everyMs: HOLDS_MS, batch: (limit) => sweepAllowances(store, now(), limit) },
      { name: 'wallet.answers', everyMs: ANSWERS_MS, batch: (limit) => forgetAnswers(store, now(), limit) },
    ],
  }
}
