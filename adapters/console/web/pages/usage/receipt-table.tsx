import type { ReceiptRecord } from '../../../../../src/wallet/receipts/receipt.ts'
import type { UsageReport } from '../../../../../src/wallet/receipts/usage-report.ts'
import { Caller, callerOptions } from '../../components/caller-name.tsx'
import { Exact } from '../../components/content.ts'
import { COST_FROM } from '../../components/cost-from.ts'
import { CsvButton } from '../../components/csv-button.tsx'
import { ALL, TIMES, useFilters } from '../../components/forms.ts'
import { type Column, figureColumn, ListCard, whenColumn } from '../../components/lists.ts'
import { count, duration } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { href, type PageProps, queryOf } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { timeIn } from '../../typed.ts'
import { groupOptions, useGroups } from '../../use-groups.ts'

/** Column of an exact part of a bill. */
const exact = (key: 'upstream_cost_usd' | 'margin_usd' | 'total_usd', label: string) =>
  figureColumn<ReceiptRecord>(label, ({ billing }) => <Exact usd={billing[key]} aligned />)

const COLUMNS: Column<ReceiptRecord>[] = [
  whenColumn('at', 'When'),
  { key: 'caller', label: 'Caller', render: ({ caller_id }) => <Caller id={caller_id} /> },
  { key: 'model', label: 'Model' },
  figureColumn('Tokens', ({ usage }) => `${count(usage.total_tokens)}${usage.estimated ? ' (estimated)' : ''}`),
  exact('upstream_cost_usd', 'Upstream'),
  {
    key: 'price',
    label: 'Price',
    render: ({ price, stated }) => (stated ? COST_FROM.stated : price && COST_FROM[price.from]),
  },
  exact('margin_usd', 'Margin'),
  { ...exact('total_usd', 'Total'), fold: 'last' },
  figureColumn('Took', ({ latency_ms }) => duration(latency_ms)),
]

/** Receipts of metered calls, with a download of all selected ones. */
export function Receipts({ id, query }: PageProps) {
  const filters = useFilters(query, ['caller', 'group', 'model', 'from', 'to'], ['usage', id])
  const { caller, from, to, ...same } = filters.draft
  const asked = queryOf({ ...same, caller_id: caller, from: timeIn(from), to: timeIn(to) })
  const path = `/api/wallet/metered/usage${asked}`
  const { isAdmin = false } = session.value ?? {}
  const groups = useGroups(isAdmin && same.group !== '')
  const ofGroup = { name: 'group', label: 'Group', options: [ALL, ...groupOptions(groups, same.group)] } as const
  const page = usePage<ReceiptRecord, UsageReport>(path)
  const callers = [{ value: '', label: 'All callers' }, ...callerOptions(caller)]
  const csv = { path, file: 'receipts.csv', label: 'Download CSV', said: 'Downloaded the receipts.' }
  return (
    <ListCard<ReceiptRecord, typeof filters.draft>
      title="Receipts"
      actions={<CsvButton {...csv} disabled={page.total === 0} />}
      filters={{
        ...filters,
        one: 'receipt',
        fields: [
          ...(isAdmin ? [{ name: 'caller', label: 'Caller', options: callers } as const] : []),
          ...(same.group ? [ofGroup] : []),
          { name: 'model', label: 'Model', maxLength: 256 },
          ...TIMES,
        ],
      }}
      label="Receipts, newest first"
      list={page}
      opens={({ call_id, upstream_call_id }) => href('calls', { id: upstream_call_id ?? call_id })}
      columns={COLUMNS}
      empty={{ title: 'No receipts', hint: 'Each metered call creates a receipt.' }}
    />
  )
}
