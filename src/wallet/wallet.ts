import { type Base, logged } from '../base.ts'
import type { SessionGroupBy } from '../calls/call-groups.ts'
import type { SpendOf } from '../identity/spend.ts'
import { gatewayKeys } from '../signing/gateway-keys.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import type { ClosedPeriodRow } from '../store/tables/wallet-tables.ts'
import { type Micros, toMicros, toUsd } from '../text/money.ts'
import { listArchives } from './archive/archives.ts'
import { type ReadKeys, verifyArchives } from './archive/verify-archives.ts'
import { type Absorbed, type AbsorbedCall, createAbsorbed } from './budget/absorbed-costs.ts'
import { forgetSessions } from './budget/forget-sessions.ts'
import { forgiveDebts } from './budget/forgive-debts.ts'
import { spentAndOwed } from './budget/open-debts.ts'
import type { Overrun } from './budget/overruns.ts'
import { releasePresumed, sweepAllowances } from './budget/presumed-spending.ts'
import { createReports, type Reports } from './budget/reports.ts'
import { createReservations, type Reservations } from './budget/reservations.ts'
import { createLimits, type LimitsOf } from './budget/spending-limits.ts'
import { type Burn, burnList, burnTerms } from './burn/burn.ts'
import { type LiveJournal, liveJournal } from './journal/live-journal.ts'
import { type Balances, readBalances } from './ledger/account-balances.ts'
import { bindWallet, unbindWallet } from './ledger/bind-wallet.ts'
import { closePeriod } from './ledger/closed-periods.ts'
import { type ListedDeposit, listDeposits, type MoneyQuery } from './ledger/deposit-list.ts'
import { type Credit, creditAccount, type DepositReceipt, knownCaller, makeDeposit } from './ledger/deposits.ts'
import { readStatement, type StatementLine } from './ledger/transfer-list.ts'
import { type LedgerReport, ledgerTotals, verifyLedger } from './ledger/verify-ledger.ts'
import { type CallMoney, moneyOfCalls } from './receipts/call-receipts.ts'
import { type ChargeCall, createCharges } from './receipts/charges.ts'
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

export type { Overrun } from './budget/overruns.ts'
export type { Reservations } from './budget/reservations.ts'
export type { LiveJournal } from './journal/live-journal.ts'
export { Balances } from './ledger/account-balances.ts'
export { DEPOSIT_COLUMNS, ListedDeposit, MoneyQuery } from './ledger/deposit-list.ts'
export { Deposit, DepositReceipt } from './ledger/deposits.ts'
export { StatementPeriod } from './ledger/statement-period.ts'
export { StatementLine, StatementQuery, TRANSFER_COLUMNS } from './ledger/transfer-list.ts'
export type { ChargeCall } from './receipts/charges.ts'
export { Pricing } from './receipts/pricing.ts'
export { Receipt, ReceiptRecord } from './receipts/receipt.ts'
export { UsageQuery, UsageSums } from './receipts/usage-report.ts'
export { signStatement } from './statements/sign-statement.ts'
export { SignedStatement, StatementCharge } from './statements/statement.ts'
export { statementCsv } from './statements/statement-csv.ts'

/** Interval of the sweep for expired allowances, in milliseconds. */
const ALLOWANCES_MS = 60_000
/** Interval of the sweep for sessions that are over, in milliseconds. */
const SESSIONS_MS = 3_600_000

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
  periodStatement(period: string, of: StatementOf, groupBy?: SessionGroupBy): Promise<Statement>
  /** Closes a period. @throws see `closePeriod` */
  closePeriod(period: string, by: string): Promise<ClosedPeriodRow>
  /** Reports receipts and their sums. @throws GazewayError `invalid_cursor` */
  usage(query: Paged<UsageQuery>): Promise<UsageReport>
  /** Reads receipts without sums. @throws GazewayError `invalid_cursor` */
  receipts(query: Paged<UsageQuery>): Promise<ReceiptPage>
  /** Writes all receipts of a selection as lines of CSV. @throws GazewayError `invalid_cursor` */
  usageCsv(query: Omit<UsageQuery, 'limit'>): AsyncGenerator<string, void>
  /** Reads the receipts of calls by their ids, and the transfers that took their money. */
  moneyOfCalls(callIds: readonly string[]): Promise<CallMoney>
  /** Releases what is presumed spent of a key or group. @returns the amount */
  releasePresumed(owner: string): Promise<Micros>
  /** Current price list. */
  pricing(): Pricing
  /** Checks the ledger against itself, receipts and daily spending. */
  verify(): Promise<WalletReport>
  /** Periodic work of a long-running process, for `startSweeps`. */
  sweeps: readonly Sweep[]
}

const NO_KEYS: ReadKeys = async () => null

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
  /** Reads the gateway's keys; archives' signatures are not checked without. */
  signingKeys?: ReadKeys
}

/** Creates the wallet of `store`. */
export function createWallet(deps: WalletDeps): Wallet {
  const { store, limitsOf, pricing, now, hasFixedKey = () => false, giveBackIdle = async () => {} } = deps
  const { retentionDays = () => null, signingKeys = NO_KEYS } = deps
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
    periodStatement: async (period, of, groupBy) => buildStatement(store, period, await subjectOf(store, of), groupBy),
    closePeriod: (period, by) => closePeriod(store, { period, by, now: now() }),
    usage: (query) => usageReport(store, query),
    receipts,
    usageCsv: (query) => usageCsv(receipts, query),
    moneyOfCalls: (callIds) => moneyOfCalls(store, callIds),
    releasePresumed: (owner) => releasePresumed(store, owner),
    pricing: () => priceList(pricing),
    verify: () => verifyWallet(store, signingKeys),
    sweeps: [
      { name: 'wallet.allowances', everyMs: ALLOWANCES_MS, batch: (limit) => sweepAllowances(store, now(), limit) },
      { name: 'wallet.sessions', everyMs: SESSIONS_MS, batch: (limit) => forgetSessions(store, now(), limit) },
      missingRecords(store, now, retentionDays),
    ],
  }
}

/** Totals of the ledger, and the result of its verification. */
export interface WalletReport extends LedgerReport {
  /** Months that are read in archives. Null when one of them cannot be read, so that the ledger was not followed. */
  archives: number | null
}

/**
 * Checks the ledger of a store, with what is archived, against itself, receipts and daily spending. Only reads.
 *
 * @param readKeys reads the gateway's keys, which archives are signed with; by default signatures are not checked
 */
export async function verifyWallet(store: Store, readKeys: ReadKeys = NO_KEYS): Promise<WalletReport> {
  const proof = await verifyArchives(store, readKeys)
  if (proof.archives === null) return { ...(await ledgerTotals(store)), archives: null, faults: proof.faults }
  const { faults: ofLedger, ...report } = await verifyLedger(store, proof.archives)
  const faults = [...proof.faults, ...ofLedger, ...(await callFaults(store, proof.calls))]
  // A month that was archived meanwhile is missed in the store.
  const isComplete = (await listArchives(store.db)).length === proof.archives.length
  return faults.length === 0 || isComplete
    ? { ...report, archives: proof.archives.length, faults }
    : verifyWallet(store, readKeys)
}

/** Part of the wallet that keys and groups use. */
export interface KeyAccounts {
  spendOf: SpendOf
  /** Drops what is known of a key after its limits changed. */
  onChanged(keyId: string): void
  /** Called in the transaction that gives a key a wallet address, and that takes it away. */
  onBound: typeof bindWallet
  onUnbound: typeof unbindWallet
}

/** Part of the wallet that calls use, to reserve and to charge. */
export interface Billing {
  reservations: Reservations
  absorbed: Absorbed
  charge: ChargeCall
  onAbsorbed: Reports<AbsorbedCall>['report']
  onOverrun: Reports<Overrun>['report']
}

/** The wallet of the configuration in force, and its doors for keys and calls. */
export interface LiveWallet {
  wallet: Wallet
  accounts: KeyAccounts
  billing: Billing
  /** Reads the limits of a caller that is about to spend. Gives back its unused reservations first. */
  limitsToSpend: LimitsOf
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
  const absorbedCalls = createReports<AbsorbedCall>()
  const inForce = () => config.current().config
  const defaultCredit = () => toMicros(inForce().wallet.default_credit_limit_usd) as Micros
  const { now: limits } = config.hotReload(defaultCredit, (credit) => createLimits(store, credit))
  const journal = liveJournal(base)
  const reservations = createReservations({
    store,
    now,
    journal,
    onError: logged(base, 'Failed to release reserved money; will retry.'),
  })
  const { giveBackIdle } = reservations
  const { always: wallet } = config.hotReload(pricingOf, (pricing) =>
    createWallet({
      pricing,
      store,
      now,
      limitsOf: (id) => limits().of(id),
      hasFixedKey: () => inForce().identity.api_key !== null,
      giveBackIdle,
      retentionDays: () => inForce().audit.retention_days,
      signingKeys: () => gatewayKeys(config.current().dataDir, now()),
    }),
  )
  const charge = createCharges(store, {
    note: journal.noteCharge,
    onError: logged(base, 'Failed to record the cost of a call that was not charged; will retry.'),
  })
  const absorbed = createAbsorbed(store, now, () => toMicros(inForce().wallet.absorbed_usd_per_day) as Micros)
  return {
    wallet,
    accounts: {
      spendOf: spentAndOwed(store, defaultCredit),
      onChanged: (keyId) => limits().forget(keyId),
      onBound: bindWallet,
      onUnbound: unbindWallet,
    },
    billing: { reservations, absorbed, charge, onAbsorbed: absorbedCalls.report, onOverrun: overruns.report },
    async limitsToSpend(callerId) {
      await giveBackIdle(callerId)
      return limits().of(callerId)
    },
    journal,
    overruns,
    absorbedCalls,
    burn: (query) => burnList({ store, now, ...burnTerms(inForce()) }, query),
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
