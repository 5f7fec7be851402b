import type { SessionGroupBy } from '../../src/calls/call-groups.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { gatewaySigner } from '../../src/signing/gateway-keys.ts'
import { closePeriod } from '../../src/wallet/ledger/closed-periods.ts'
import { buildStatement } from '../../src/wallet/statements/build-statement.ts'
import { subjectOf } from '../../src/wallet/statements/statement-subject.ts'
import { type SignedStatement, signStatement, statementCsv } from '../../src/wallet/wallet.ts'
import { statementPage } from '../platform/statement-page.ts'
import { aligned } from './text-table.ts'
import { withStoredKeys } from './with-keys.ts'

/** Flags of `gazeway statement`. */
export interface StatementFlags {
  month?: string
  day?: string
  key?: string
  group?: string
  format: 'table' | 'json' | 'csv' | 'html'
  close?: boolean
  by?: SessionGroupBy
}

/** Prints the statement of a period, of this month by default. Closes the period before where that is asked. */
export function showStatement(loaded: LoadedConfig, log: Log, flags: StatementFlags): Promise<void> {
  return withStoredKeys(loaded, log, async ({ store, now }) => {
    const period = flags.day ?? flags.month ?? now().toISOString().slice(0, 7)
    if (flags.close) await closePeriod(store, { period, by: 'gazeway statement --close', now: now() })
    const subject = await subjectOf(store, { caller_id: flags.key, group: flags.group })
    const statement = await buildStatement(store, period, subject, flags.by)
    const signature = await signStatement(statement, await gatewaySigner(loaded.dataDir, now()))
    process.stdout.write(FORMATS[flags.format]({ ...statement, signature }))
  })
}

const FORMATS: Readonly<Record<StatementFlags['format'], (statement: SignedStatement) => string>> = {
  table: (statement) => inWords(statement),
  json: (statement) => `${JSON.stringify(statement, null, 2)}\n`,
  csv: statementCsv,
  html: statementPage,
}

function inWords({
  period,
  closed_at,
  opening_usd,
  closing_usd,
  totals,
  charges,
  ledger_head,
  group_by,
}: SignedStatement): string {
  const calls = aligned(
    [
      ...(group_by === undefined ? ['DAY', 'MODEL', 'UPSTREAM'] : [group_by.toUpperCase()]),
      'CALLS',
      'INPUT',
      'CACHED',
      'OUTPUT',
      'COST',
      'MARGIN',
      'CHARGED',
    ],
    charges.map((charge) => [
      ...(group_by === undefined
        ? [charge.day ?? '', charge.model ?? '', charge.upstream ?? '']
        : [charge.group ?? '-']),
      String(charge.calls),
      String(charge.prompt_tokens),
      String(charge.cached_tokens),
      String(charge.completion_tokens),
      String(charge.upstream_cost_usd),
      String(charge.margin_usd),
      charge.charged ? 'yes' : 'no',
    ]),
  )
  const sums = Object.entries({ opening_usd, ...totals, closing_usd }).map(([name, usd]) => [name, String(usd)])
  const state = closed_at === null ? 'not closed' : `closed ${closed_at}`
  return `${aligned([`STATEMENT ${period}`, 'USD'], sums)}\n${calls}\n${state}; head of the ledger ${ledger_head}\n`
}
