import { useState } from 'preact/hooks'
import type { ReceiptRecord } from '../../../../../src/wallet/receipts/receipt.ts'
import type { UsageReport } from '../../../../../src/wallet/receipts/usage-report.ts'
import { api, PATIENT_MS } from '../../api.ts'
import { Caller, callerOptions, type Names } from '../../components/caller-name.tsx'
import {
  Button,
  Card,
  DataTable,
  Empty,
  ErrorNote,
  Field,
  messageOf,
  notify,
  Pager,
  Select,
  TextInput,
  When,
} from '../../components/components.ts'
import { Exact } from '../../components/exact.tsx'
import { count, duration, shortId } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { session } from '../../signed-in.ts'

/** Filter of receipts: a caller's id, and the first and last day in the reader's zone (`2026-11-21`). Empty for all. */
export interface ReceiptFilter {
  caller: string
  from: string
  to: string
}

/** Receipts of metered calls, with a download of all selected ones. */
export function Receipts(props: {
  filter: ReceiptFilter
  names: Names
  onFilter: (query: Record<string, string>) => void
}) {
  const { filter, names } = props
  const selection = new URLSearchParams(selectionOf(filter)).toString()
  const page = usePage<ReceiptRecord, UsageReport>(`/api/wallet/metered/usage${selection && `?${selection}`}`)
  const [busy, setBusy] = useState(false)
  const change = (part: Partial<ReceiptFilter>) => props.onFilter({ ...filter, ...part })

  const download = async () => {
    setBusy(true)
    try {
      const csv = await api.text(`/api/wallet/metered/usage${selection && `?${selection}`}`, {
        accept: 'text/csv',
        timeoutMs: PATIENT_MS,
      })
      saveAs('receipts.csv', new Blob([csv], { type: 'text/csv' }))
      notify('Downloaded the receipts.')
    } catch (error) {
      notify(messageOf(error), 'bad')
    } finally {
      setBusy(false)
    }
  }
  return (
    <Card
      title="Receipts"
      actions={
        <Button busy={busy} disabled={page.total === 0} onClick={download}>
          Download CSV
        </Button>
      }
    >
      <div class="filters">
        {session.value?.isAdmin && (
          <Field label="Caller">
            <Select
              value={filter.caller}
              options={[{ value: '', label: 'All callers' }, ...callerOptions(names, filter.caller)]}
              onChange={(caller) => change({ caller })}
            />
          </Field>
        )}
        <Field label="From">
          <TextInput type="date" value={filter.from} onInput={(from) => change({ from })} />
        </Field>
        <Field label="Up to">
          <TextInput type="date" value={filter.to} onInput={(to) => change({ to })} />
        </Field>
      </div>
      <ErrorNote error={page.error} onRetry={page.reload} />
      <DataTable<ReceiptRecord>
        label="Receipts, newest first"
        rows={page.items}
        rowKey={({ call_id }) => call_id}
        columns={[
          { key: 'at', label: 'When', render: ({ at }) => <When at={at} /> },
          { key: 'call_id', label: 'Call', render: ({ call_id }) => <code title={call_id}>{shortId(call_id)}</code> },
          { key: 'caller', label: 'Caller', render: ({ caller_id }) => <Caller id={caller_id} names={names} /> },
          { key: 'model', label: 'Model' },
          {
            key: 'tokens',
            label: 'Tokens',
            align: 'right',
            render: ({ usage }) => `${count(usage.total_tokens)}${usage.estimated ? ' (estimated)' : ''}`,
          },
          {
            key: 'cost',
            label: 'Upstream',
            align: 'right',
            render: ({ billing }) => <Exact usd={billing.upstream_cost_usd} />,
          },
          {
            key: 'margin',
            label: 'Margin',
            align: 'right',
            render: ({ billing }) => <Exact usd={billing.margin_usd} />,
          },
          { key: 'total', label: 'Total', align: 'right', render: ({ billing }) => <Exact usd={billing.total_usd} /> },
          { key: 'latency', label: 'Took', align: 'right', render: ({ latency_ms }) => duration(latency_ms) },
        ]}
        of={page}
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
      <Pager page={page} />
    </Card>
  )
}

/** Converts a filter for the API: times in UTC, the end excluded. */
function selectionOf({ caller, from, to }: ReceiptFilter): Record<string, string> {
  return {
    ...(caller && { caller_id: caller }),
    ...(from && { from: midnight(from, 0) }),
    ...(to && { to: midnight(to, 1) }),
  }
}

/** Start of a day in the reader's zone, `later` days after it. The API refuses invalid days. */
function midnight(day: string, later: number): string {
  const at = new Date(`${day}T00:00`)
  at.setDate(at.getDate() + later)
  return Number.isNaN(at.getTime()) ? day : at.toISOString()
}

/** Saves a file through the browser. */
function saveAs(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
