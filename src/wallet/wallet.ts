import { type Base, logged } from '../base.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import type { ClosedPeriodRow } from '../store/tables/wallet-tables.ts'
import { type Micros, toMicros, toUsd } from '../text/money.ts'
import { type Absorbed, type AbsorbedCall, createAbsorbed } from './budget/absorbed.ts'
import { forgiveDebts } from './budget/forgive-debts.ts'
import { createLimits, type KnownLimits, type Limits, type LimitsOf } from './budget/limits.ts'
import type { Overrun } from './budget/overruns.ts'
import { releasePresumed, sweepAllowances } from './budget/presumed.ts'
import { createReports, type Reports } from './budget/reports.ts'
import { createReservations, type Reservations } from './budget/reservations.ts'
import { type Burn, burnList, burnTerms } from './burn/burn.ts'
import { type LiveJournal, liveJournal } from './journal/live-journal.ts'
import { type Balances, readBalances } from './ledger/account-balances.ts'
import { closePeriod } from './ledger/closed-periods.ts'
import { type ListedDeposit, listDeposits, type MoneyQuery } from './ledger/deposit-list.ts'
import { type Credit, creditAccount, type DepositReceipt, knownCaller, makeDeposit } from './ledger/deposits.ts'
import { readStatement, type StatementLine } from './ledger/transfer-list.ts'
import { type LedgerReport, verifyLedger } from './ledger/verify-ledger.ts'
import { missingRecords } from './receipts/missing-records.ts'
import { type Pricing, type PricingConfig, priceList, pricingOf } from './receipts/pricing.ts'
import { usageCsv } from './receipts/usage-csv.ts'
import {
  type ReceiptPage,
  type UsageQuery,
  type UsageReport,
  usageReceipts,
  usageReport,
} from './receipts/usage-report.ts'
import { callFaults } from './receipts/verify-calls.ts'
import { buildStatement } from './statements/build-statement.ts'
import type { Statement } from './statements/statement.ts'
import { type StatementOf, subjectOf } from './statements/statement-subject.ts'

export { Balances } from './ledger/account-balances.ts'
export { DEPOSIT_COLUMNS, ListedDeposit, MoneyQuery } from './ledger/deposit-list.ts'
export { Deposit, DepositReceipt } from './ledger/deposits.ts'
export { StatementPeriod } from './ledger/statement-period.ts'
export { StatementLine, StatementQuery, TRANSFER_COLUMNS } from './ledger/transfer-list.ts'
export { Pricing } from './receipts/pricing.ts'
export { Receipt, ReceiptRecord } from './receipts/receipt.ts'
export { UsageQuery, UsageSums } from './receipts/usage-report.ts'
export { signStatement } from './statements/sign-statement.ts'
export { SignedStatement, Statement, StatementCharge } from './statements/statement.ts'
export { statementCsv } from './statements/statement-csv.ts'

/** Interval of the sweep for expired allowances, in milliseconds. */
const ALLOWANCES_MS = 60_000

/** Accounts of callers and the receipts of their calls. */
export interface Wallet {
  /**
   * Finds the account that a deposit for this id or wallet address goes to. @throws see `knownCaller` in `deposits.ts`
   */
  knownCaller(callerId: string): Promise<string>
  /** Credits a caller's account, once per `reference`. @throws see `makeDeposit` */
  deposit(input: unknown): Promise<DepositReceipt>
  /** Credits a named account, or the payer account of a wallet, once per `reference`. @throws see `creditAccount` */
  credit(credit: Credit): Promise<DepositReceipt>
  /** Gives back this process's unused reservations of a caller, so that it can spend its whole balance. */
  giveBackIdle(callerId: string): Promise<void>
  /** Forgives the debts of the budgets of a key or group. @returns the largest of them */
  forgive(ownerId: string): Promise<Micros>
  /** Reads the balances of a caller. */
  balances(callerId: string): Promise<Balances>
  /** Reads the transfers of a caller's account, newest first. @throws GazewayError `invalid_cursor` */
  statement(callerId: string, query: Paged<Omit<MoneyQuery, 'caller_id'>>): Promise<Page<StatementLine>>
  /** Lists deposits, newest first. @throws GazewayError `invalid_cursor` */
  deposits(query: Paged<MoneyQuery>): Promise<Page<ListedDeposit>>
  /** Builds the statement of a period. @throws see `buildStatement` and `subjectOf` */
  periodStatement(period: string, of: StatementOf): Promise<Statement>
  /** Closes a period. @throws see `closePeriod` */
  closePeriod(period: string, by: string): Promise<ClosedPeriodRow>
  /** Reports receipts and their sums. @throws GazewayError `invalid_cursor` */
  usage(query: Paged<UsageQuery>): Promise<UsageReport>
  /** Reads receipts without sums. @throws GazewayError `invalid_cursor` */
  receipts(query: Paged<UsageQuery>): Promise<ReceiptPage>
  /** Writes all receipts of a selection as lines of CSV. @throws GazewayError `invalid_cursor` */
  usageCsv(query: Omit<UsageQuery, 'limit'>): AsyncGenerator<string, void>
  /** Releases what is presumed spent of a key or group. @returns the amount */
  releasePresumed(owner: string): Promise<Micros>
  /** Current price list. */
  pricing(): Pricing
  /** Checks the ledger against itself, receipts and daily spending. */
  verify(): Promise<LedgerReport>
  /** Periodic work of a long-running process, for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/** Dependencies of {@link createWallet}. */
export interface WalletDeps {
  store: Store
  limitsOf: LimitsOf
  pricing: PricingConfig
  now: () => Date
  /** Tells whether a fixed key is set, so that its account can receive deposits; false by default. */
  hasFixedKey?: () => boolean
  /** Gives back this process's unused reservations of a key; does nothing by default. */
  giveBackIdle?: (callerId: string) => Promise<void>
  /** `audit.retention_days`; all call records are kept by default. */
  retentionDays?: () => number | null
}

/** Creates the wallet of `store`. */
export function createWallet(deps: WalletDeps): Wallet {
  const { store, limitsOf, pricing, now, hasFixedKey = () => false, giveBackIdle = async () => {} } = deps
  const { retentionDays = () => null } = deps
  const receipts = (query: Paged<UsageQuery>) => usageReceipts(store, query)
  return {
    giveBackIdle,
    knownCaller: (callerId) => knownCaller(store, callerId, { hasFixedKey: hasFixedKey() }),
    deposit: (input) => makeDeposit(store, input, now(), { hasFixedKey: hasFixedKey() }),
    credit: (credit) => creditAccount(store, credit, now()),
    forgive: (ownerId) => forgiveDebts(store, ownerId, now()),
    async balances(callerId) {
      await giveBackIdle(callerId)
      return readBalances(store, callerId, { limitsOf, now: now() })
    },
    statement: (callerId, query) => readStatement(store, callerId, query),
    deposits: (query) => listDeposits(store, query),
    periodStatement: async (period, of) => buildStatement(store, period, await subjectOf(store, of)),
    closePeriod: (period, by) => closePeriod(store, { period, by, now: now() }),
    usage: (query) => usageReport(store, query),
    receipts,
    usageCsv: (query) => usageCsv(receipts, query),
    releasePresumed: (owner) => releasePresumed(store, owner),
    pricing: () => priceList(pricing),
    async verify() {
      const { faults, ...report } = await verifyLedger(store)
      return { ...report, faults: [...faults, ...(await callFaults(store))] }
    },
    sweeps: [
      { name: 'wallet.allowances', everyMs: ALLOWANCES_MS, batch: (limit) => sweepAllowances(store, now(), limit) },
      missingRecords(store, now, retentionDays),
    ],
  }
}

/** The wallet of the configuration in force, and what calls reserve and spend. */
export interface LiveWallet {
  wallet: Wallet
  limits: KnownLimits
  /** Reads the limits of a caller that is about to spend. Gives back its unused reservations first. */
  limitsToSpend: LimitsOf
  reservations: Reservations
  absorbed: Absorbed
  journal: LiveJournal
  /** Charged calls that cost more than their reservation. */
  overruns: Reports<Overrun>
  /** Calls that the operator bears a part of. */
  absorbedCalls: Reports<AbsorbedCall>
  /**
   * Keys and groups by the time until their budgets run out.
   *
   * @throws see `burnList`
   */
  burn(query: Paged): Promise<Page<Burn>>
}

/** Opens the room: it follows prices and the default credit. */
export function liveWallet(base: Base): LiveWallet {
  const { store, now, config } = base
  const overruns = loggedOverruns(base)
  const { now: newestLimits } = config.follow(
    ({ wallet }) => toMicros(wallet.default_credit_limit_usd) as Micros,
    (defaultCredit) => createLimits(store, defaultCredit),
  )
  const limits: KnownLimits = { of: (id) => newestLimits().of(id), forget: (id) => newestLimits().forget(id) }
  const journal = liveJournal(base)
  const reservations = createReservations({
    store,
    now,
    journal,
    onError: logged(base, 'Failed to release reserved money; will retry.'),
  })
  const { always: wallet } = config.follow(pricingOf, (pricing) =>
    createWallet({
      pricing,
      store,
      now,
      limitsOf: limits.of,
      hasFixedKey: () => config.current().config.identity.api_key !== null,
      giveBackIdle: reservations.giveBackIdle,
      retentionDays: () => config.current().config.audit.retention_days,
    }),
  )
  const absorbed = createAbsorbed(
    store,
    now,
    () => toMicros(config.current().config.wallet.absorbed_usd_per_day) as Micros,
  )
  const burn = (query: Paged) => burnList({ store, now, ...burnTerms(config.current().config) }, query)
  async function limitsToSpend(callerId: string): Promise<Limits> {
    await reservations.giveBackIdle(callerId)
    return limits.of(callerId)
  }
  return {
    wallet,
    limits,
    limitsToSpend,
    reservations,
    absorbed,
    overruns,
    absorbedCalls: createReports(),
    burn,
    journal,
  }
}

function loggedOverruns({ log }: Base): Reports<Overrun> {
  const overruns = createReports<Overrun>()
  overruns.listen(({ callId, callerId, model, reservedMicros, costMicros, absorbedMicros }) =>
    log.warn('A call cost more than was reserved for it.', {
      call_id: callId,
      caller_id: callerId,
      model,
      reserved_usd: toUsd(reservedMicros),
      cost_usd: toUsd(costMicros),
      absorbed_usd: toUsd(absorbedMicros),
    }),
  )
  return overruns
}
