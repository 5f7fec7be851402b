import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { nameInRecords } from '../../src/inference/upstreams/provider-config.ts'
import { isProvider } from '../../src/providers/providers.ts'
import type { Comparison } from '../../src/reconcile/compare-bill.ts'
import { REASONS, type Reason } from '../../src/reconcile/difference-reasons.ts'
import { type Reconciliation, reconcile, type Totals } from '../../src/reconcile/reconcile.ts'
import { reconciliationCsv } from '../../src/reconcile/reconciliation-csv.ts'
import { aligned } from './text-table.ts'
import { withStoredKeys } from './with-keys.ts'

/** Interval of progress reports, in milliseconds. */
const PROGRESS_MS = 2_000

/** Flags of `gazeway reconcile`. */
export interface ReconcileFlags {
  month?: string
  upstream?: string | undefined
  json?: boolean
  csv?: boolean
}

/** Prints the bills of a month beside the recorded calls, as a table, JSON or CSV. */
export function showReconciliation(loaded: LoadedConfig, log: Log, flags: ReconcileFlags): Promise<void> {
  if (flags.json && flags.csv)
    throw new GazewayError('validation_failed', '--json: name either --json or --csv.', { param: '--json' })
  const { upstream } = flags
  const progress = reportProgress()
  return withStoredKeys(loaded, log, async ({ store, config, now }) => {
    const found = await reconcile(
      { store, config, env: loaded.request.env, now: now(), onProgress: progress.at },
      {
        month: flags.month ?? now().toISOString().slice(0, 7),
        upstream: upstream !== undefined && isProvider(upstream) ? nameInRecords({ provider: upstream }) : upstream,
      },
    )
    process.stdout.write(textOf(found, flags))
  }).finally(progress.end)
}

/** Reports on stderr what the command waits for, every two seconds. */
function reportProgress(): { at(what: string): void; end(): void } {
  let present = 'opening the store'
  const timer = setInterval(() => process.stderr.write(`${present} …\n`), PROGRESS_MS)
  return {
    at(what) {
      present = what
    },
    end: () => clearInterval(timer),
  }
}

function textOf(found: Reconciliation, { json, csv }: ReconcileFlags): string {
  if (json) return `${JSON.stringify(found, null, 2)}\n`
  return csv ? reconciliationCsv(found) : inWords(found)
}

const HEAD = ['DAY', 'UPSTREAM', 'KEY', 'MODEL', 'BILLED', 'COUNTED', 'DIFFERENCE', 'ELSEWHERE', 'WHY']

function inWords({ month, accounts, totals }: Reconciliation): string {
  const days = accounts.flatMap(({ vendor, days: of }) => of.flatMap((day) => rowsOf(vendor, day)))
  const sums = accounts.map((account) => [
    account.upstreams.join(', '),
    ...amountsOf(account.totals),
    account.source ?? 'no bill',
  ])
  const keys = accounts.flatMap(({ vendor, days: of }) => keysOf(vendor, of))
  const used = new Set(
    accounts.flatMap(({ days: of }) => of.flatMap(({ reasons }) => reasons.map((one) => one.reason))),
  )
  return [
    days.length === 0 ? '' : aligned(HEAD, days),
    keys.length === 0 ? '' : aligned(['UPSTREAM', 'KEY', 'NAME', 'THROUGH US', 'BILLED'], keys),
    aligned(
      [`RECONCILED ${month}`, 'BILLED', 'COUNTED', 'DIFFERENCE', 'ELSEWHERE', 'UNEXPLAINED', 'BILL'],
      [...sums, ['all', ...amountsOf(totals), '']],
    ),
    [...used].map((reason) => `${reason}: ${REASONS[reason]}.\n`).join(''),
    accounts.flatMap(({ upstreams, notes }) => notes.map((note) => `${upstreams.join(', ')}: ${note}\n`)).join(''),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** A line for what was billed and counted, and one below it for each of our own keys. */
const rowsOf = (vendor: string, { day, model, is_explained, reasons, counted, ...of }: Comparison): string[][] => [
  [
    day,
    vendor,
    of.provider_key ?? '-',
    model,
    String(of.billed_usd),
    String(of.counted_usd),
    String(of.difference_usd),
    String(of.elsewhere_usd),
    [...reasons.map(reasonText), ...(is_explained ? [] : ['unexplained'])].join(', '),
  ],
  ...counted.map(({ caller_id, usd }) => [
    ' ',
    ' ',
    ' ',
    `  ${caller_id ?? 'this machine'}`,
    ' ',
    String(usd),
    ' ',
    ' ',
    ' ',
  ]),
]

function reasonText({ reason, calls, usd }: Reason): string {
  const facts = [...(calls === undefined ? [] : [`${calls} calls`]), ...(usd === undefined ? [] : [`${usd} USD`])]
  return facts.length === 0 ? reason : `${reason} (${facts.join(', ')})`
}

const amountsOf = (totals: Totals): string[] =>
  [totals.billed_usd, totals.counted_usd, totals.difference_usd, totals.elsewhere_usd, totals.unexplained_usd].map(
    String,
  )

/** Sums of the keys on a bill over the month. */
function keysOf(vendor: string, days: readonly Comparison[]): string[][] {
  const keys = new Map<string, { name: string | null; isOurs: boolean | null; micros: number }>()
  for (const { key, name, is_ours, usd } of days.flatMap(({ billed }) => billed)) {
    if (key === null) continue
    const sum = keys.get(key) ?? { name, isOurs: is_ours, micros: 0 }
    sum.micros += Math.round(usd * 1e6)
    keys.set(key, sum)
  }
  const through = (isOurs: boolean | null) => (isOurs === null ? 'unknown' : isOurs ? 'yes' : 'no')
  return [...keys].map(([key, { name, isOurs, micros }]) => [
    vendor,
    key,
    name ?? '',
    through(isOurs),
    String(micros / 1e6),
  ])
}
