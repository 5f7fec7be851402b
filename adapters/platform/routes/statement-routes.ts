import * as z from 'zod'
import { SessionGroupBy } from '../../../src/calls/call-groups.ts'
import { WITHDRAWAL_COLUMNS, Withdrawal } from '../../../src/chain/withdrawals.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { GroupId } from '../../../src/identity/group.ts'
import { CallerId } from '../../../src/identity/key.ts'
import { type Identity, requireScope } from '../../../src/identity/keys.ts'
import { ListedPayment, listPayments, PAYMENT_COLUMNS } from '../../../src/payments/payment-list.ts'
import { gatewaySigner } from '../../../src/signing/gateway-keys.ts'
import { type CsvColumns, csvOf } from '../../../src/store/csv.ts'
import type { Page, Paged } from '../../../src/store/page.ts'
import {
  DEPOSIT_COLUMNS,
  ListedDeposit,
  MoneyQuery,
  SignedStatement,
  StatementPeriod,
  signStatement,
  statementCsv,
} from '../../../src/wallet/wallet.ts'
import { callerOf } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { shownTo } from '../caller.ts'
import { csvReply, wantsCsv } from '../csv.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'
import { statementPage } from '../statement-page.ts'

const StatementsQuery = z.strictObject({
  period: StatementPeriod,
  caller_id: CallerId.optional().describe('A key or a wallet. A caller that is no admin sees itself.'),
  key: CallerId.optional().describe('The same as caller_id.'),
  group: GroupId.optional().describe('All keys of a group, added up; for admins.'),
  group_by: SessionGroupBy.optional().describe('Charges by this, and not by day, model and price.'),
})

const ClosedPeriod = z.object({
  period: z.string(),
  starts_at: z.iso.datetime(),
  ends_at: z.iso.datetime(),
  closed_at: z.iso.datetime(),
  closed_by: z.string().describe('Id of the key that closed it'),
  ledger_head: z.string().nullable(),
})

const OWN_OR_ALL = 'A caller sees its own; an admin sees all. With Accept: text/csv, returns all selected ones as CSV.'

/** Routes of statements, of closing periods, and of lists of money. */
export const statementRoutes = (gateway: Gateway): Route[] => [...periodRoutes(gateway), ...moneyLists(gateway)]

const periodRoutes = (gateway: Gateway): Route[] => [
  defineRoute('GET /api/wallet/statements', {
    operation: 'getStatement',
    summary: 'Retrieve the statement of a period',
    description:
      'Opening and closing balance, movements by day and kind, calls by day, model and price. An admin gets all ' +
      'accounts without caller_id and group. With Accept: text/csv a table whose amounts sum to the closing balance; ' +
      'with text/html a page to print. The signature is over the CSV.',
    access: 'own',
    query: StatementsQuery,
    reply: SignedStatement,
    alsoAnswers: ['text/csv', 'text/html'],
    async run({ query: { period, key, caller_id = key, group, group_by }, c }) {
      const caller = callerOf(c)
      if (group !== undefined) requireScope(caller, 'admin')
      const of = { caller_id: group === undefined ? shownTo(caller, caller_id) : caller_id, group }
      const statement = await gateway.wallet.periodStatement(period, of, group_by)
      if (wantsCsv(c)) return csvReply(`statement-${period}`, linesOf(statementCsv(statement)))
      const signer = await gatewaySigner(gateway.loaded.dataDir, new Date())
      const signed = { ...statement, signature: await signStatement(statement, signer) }
      return wantsPage(c.req.header('accept')) ? pageReply(signed) : signed
    },
  }),
  defineRoute('POST /api/wallet/periods/{period}/close', {
    operation: 'closePeriod',
    summary: 'Close a period',
    description:
      'Nothing is booked into it, or before it, from here on: what comes later is dated to the first moment after it. ' +
      'A repeated request returns what the first one made; 409 for a period that has not ended.',
    access: 'admin',
    params: z.object({ period: StatementPeriod }),
    reply: ClosedPeriod,
    run: ({ params: { period }, c }) => gateway.wallet.closePeriod(period, callerOf(c).id),
  }),
]

const moneyLists = (gateway: Gateway): Route[] => [
  moneyList('deposits', {
    operation: 'listDeposits',
    summary: 'List deposits, newest first',
    item: ListedDeposit,
    columns: DEPOSIT_COLUMNS,
    list: gateway.wallet.deposits,
  }),
  moneyList('payments', {
    operation: 'listPayments',
    summary: 'List payments over HTTP 402, newest first',
    item: ListedPayment,
    columns: PAYMENT_COLUMNS,
    list: (page) => listPayments(gateway.store, page),
  }),
  moneyList('withdrawals', {
    operation: 'listWithdrawals',
    summary: 'List withdrawals, newest first',
    item: Withdrawal,
    columns: WITHDRAWAL_COLUMNS,
    list: gateway.withdrawals.list,
  }),
]

/** Route of a list that callers see their own part of, as JSON or CSV. */
function moneyList<Item extends object>(
  name: 'deposits' | 'payments' | 'withdrawals',
  {
    item,
    columns,
    list,
    ...described
  }: {
    operation: string
    summary: string
    item: z.ZodType<Item>
    columns: CsvColumns<Item>
    list: (query: Paged<MoneyQuery>) => Promise<Page<Item>>
  },
): Route {
  return defineRoute(`GET /api/wallet/${name}`, {
    ...described,
    description: OWN_OR_ALL,
    access: 'platform',
    query: MoneyQuery.strict(),
    reply: pageOf(item),
    alsoAnswers: ['text/csv'],
    async run({ query, c }) {
      const shown = shownQuery(callerOf(c), query)
      return wantsCsv(c) ? csvReply(name, csvOf(columns, list, shown)) : listReply(shown, list)
    },
  })
}

const shownQuery = (caller: Identity, query: MoneyQuery): MoneyQuery => ({
  ...query,
  caller_id: shownTo(caller, query.caller_id),
})

const wantsPage = (accept = ''): boolean => /^\s*text\/html\b/i.test(accept)

const pageReply = (statement: SignedStatement): Response =>
  new Response(statementPage(statement), {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    },
  })

async function* linesOf(csv: string): AsyncGenerator<string, void> {
  for (const line of csv.match(/.*\r\n/g) ?? []) yield line
}
