import type { ReceiptRecord } from '../../../../../src/wallet/receipts/receipt.ts'
import type { UsageReport } from '../../../../../src/wallet/receipts/usage-report.ts'
import { Caller, callerOptions, type Names } from '../../components/caller-name.tsx'
import {
  Button,
  type Column,
  Empty,
  type FieldSpec,
  Filters,
  figureColumn,
  ListCard,
  whenColumn,
} from '../../components/components.ts'
import { COST_FROM } from '../../components/cost-from.ts'
import { CsvButton } from '../../components/csv-button.tsx'
import { Exact } from '../../components/exact.tsx'
import { count, duration } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { filtersIn, href, queryOf } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { timeIn } from '../../typed.ts'

const FILTERS = ['caller', 'model', 'from', 'to'] as const
/** Filter of receipts: a caller's id, a model, and times in the reader's zone (`2026-11-21T00:00`). Empty for all. */
type ReceiptFilter = Record<(typeof FILTERS)[number], string>

/** Column of an exact part of a bill. */
const exact = (key: 'upstream_cost_usd' | 'margin_usd' | 'total_usd', label: string) =>
  figureColumn<ReceiptRecord>(label, ({ billing }) => <Exact usd={billing[key]} aligned />)

const COLUMNS: Column<ReceiptRecord>[] = [
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
export function Receipts(props: {
  query: URLSearchParams
  names: Names
  onFilter: (query: Record<string, string>) => void
}) {
  const { names } = props
  const filter = filtersIn(props.query, FILTERS)
  const selection = queryOf({
    caller_id: filter.caller,
    model: filter.model,
    from: timeIn(filter.from),
    to: timeIn(filter.to),
  })
  const page = usePage<ReceiptRecord, UsageReport>(`/api/wallet/metered/usage${selection}`)
  const fields: FieldSpec<ReceiptFilter>[] = [
    {
      name: 'caller',
      label: 'Caller',
      options: [{ value: '', label: 'All callers' }, ...callerOptions(names, filter.caller)],
    },
    { name: 'model', label: 'Model', maxLength: 256 },
    { name: 'from', label: 'From', type: 'datetime-local' },
    { name: 'to', label: 'Before', type: 'datetime-local' },
  ]
  return (
    <ListCard<ReceiptRecord>
      title="Receipts"
      actions={
        <CsvButton
          path={`/api/wallet/metered/usage${selection}`}
          file="receipts.csv"
          label="Download CSV"
          said="Downloaded the receipts."
          disabled={page.total === 0}
        />
      }
      filters={
        <Filters
          draft={filter}
          edit={(change) => props.onFilter({ ...filter, ...change })}
          fields={fields.filter(({ name }) => name !== 'caller' || session.value?.isAdmin)}
        />
      }
      label="Receipts, newest first"
      list={page}
      rowKey={({ call_id }) => call_id}
      addressOf={({ call_id, upstream_call_id }) => href('calls', { id: upstream_call_id ?? call_id })}
      columns={[
        whenColumn('at', 'When'),
        { key: 'caller', label: 'Caller', render: ({ caller_id }) => <Caller id={caller_id} names={names} /> },
        ...COLUMNS,
      ]}
      empty={
        <Empty
          title="No receipts"
          hint={selection ? 'No receipts match the filters.' : 'Each metered call creates a receipt.'}
          action={
            selection && (
              <Button size="small" onClick={() => props.onFilter({})}>
                Show all
              </Button>
            )
          }
        />
      }
    />
  )
}
