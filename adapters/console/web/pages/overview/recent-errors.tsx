import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import { Badge, Card, DataTable, Empty, ErrorNote, When } from '../../components/components.ts'
import type { List } from '../../paging.ts'
import { go, href } from '../../router.ts'
import { useLive } from '../../use-live.ts'

/** Latest failed calls, with advice for each. */
export function RecentErrors() {
  const { data, error, reload } = useLive<List<CallRecord>>('/api/calls?status=error&limit=6', { everyMs: 5000 })
  return (
    <Card title="Recent errors" actions={<a href={href('calls', { query: { status: 'error' } })}>All failed calls</a>}>
      <ErrorNote error={data ? null : error} onRetry={reload} />
      {data && (
        <DataTable
          label="Recent errors"
          rows={data.items}
          rowKey={({ call_id }) => call_id}
          onRow={({ call_id }) => go(href('calls', { id: call_id }))}
          empty={<Empty title="No failed calls" hint="Failed calls appear here with a recommended action." />}
          columns={[
            { key: 'at', label: 'When', render: ({ at }) => <When at={at} /> },
            { key: 'model', label: 'Model', render: ({ model, requested_model }) => model ?? requested_model ?? '—' },
            {
              key: 'error',
              label: 'Error',
              render: ({ http_status, error: said }) => (
                <>
                  {http_status !== null && <Badge tone="bad">{http_status}</Badge>} {said ?? 'No reason given.'}
                </>
              ),
            },
            { key: 'todo', label: 'What to do', render: adviceFor },
          ]}
        />
      )}
    </Card>
  )
}

/** Advice about a failure. */
function adviceFor({ http_status: status, model }: CallRecord) {
  const models = <a href={href('settings', { id: 'models' })}>Settings → Models</a>
  if (status === 401 || status === 403) return <>The provider rejects the key: enter a valid key in {models}.</>
  if (status === 402) return 'The account at the provider is out of credit: add credit there.'
  if (status === 404)
    return (
      <>
        The provider does not know {model ?? 'the model'}: choose another in {models}.
      </>
    )
  if (status === 413) return 'The request is too long for the model: send less context.'
  if (status === 429) return 'The provider limits the rate: slow down, or raise your limit at the provider.'
  if (status !== null && status >= 500)
    return 'Transient error at the provider. Retry later, or choose another provider.'
  if (status !== null && status >= 400) return 'The provider rejected the request: see the call for details.'
  return <>Check the network, and the provider’s address in {models}.</>
}
