import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import { Advice } from '../../components/advice.tsx'
import { Badge, Card, DataTable, Empty, ErrorNote, When } from '../../components/components.ts'
import type { List } from '../../paging.ts'
import { href } from '../../router.ts'
import { useLive } from '../../use-live.ts'

/** Failed calls that are searched for causes. */
const SEARCHED = 100
/** Maximum number of causes shown. */
const MAX_SHOWN = 6

/** Failed calls with the same cause. */
interface Cause {
  key: string
  latest: CallRecord
  calls: number
}

/** Causes of the latest failed calls, with advice for each. */
export function RecentErrors() {
  const path = `/api/calls?status=error&limit=${SEARCHED}`
  const { data, error, reload } = useLive<List<CallRecord>>(path, { everyMs: 5000 })
  return (
    <Card title="Recent errors" actions={<a href={href('calls', { query: { status: 'error' } })}>All failed calls</a>}>
      <ErrorNote error={data ? null : error} onRetry={reload} />
      {data && (
        <DataTable<Cause>
          label="Recent errors"
          rows={causesOf(data.items).slice(0, MAX_SHOWN)}
          rowKey={({ key }) => key}
          addressOf={({ latest }) => href('calls', { id: latest.call_id })}
          empty={<Empty title="No failed calls" hint="Failed calls appear here with a recommended action." />}
          columns={[
            { key: 'at', label: 'Latest', render: ({ latest }) => <When at={latest.at} /> },
            { key: 'upstream', label: 'Upstream', render: ({ latest }) => latest.upstream },
            { key: 'model', label: 'Model', render: ({ latest }) => latest.model ?? latest.requested_model ?? '—' },
            {
              key: 'error',
              label: 'Error',
              align: 'words',
              render: ({ latest: { http_status, error: said }, calls }) => (
                <>
                  {http_status !== null && <Badge tone="bad">{http_status}</Badge>} {said ?? 'No reason given.'}
                  {calls > 1 && <span class="muted"> {calls} calls</span>}
                </>
              ),
            },
            { key: 'todo', label: 'What to do', align: 'words', render: ({ latest }) => <Advice call={latest} /> },
          ]}
        />
      )}
    </Card>
  )
}

/** Groups failed calls, newest first, by upstream, model, status and error. */
function causesOf(calls: readonly CallRecord[]): Cause[] {
  const causes = new Map<string, Cause>()
  for (const call of calls) {
    // Ids and figures in a message differ from call to call.
    const said = call.error?.replace(/\S*\d\S*/g, '#')
    const key = JSON.stringify([call.upstream, call.model, call.http_status, said])
    const cause = causes.get(key)
    if (cause) cause.calls += 1
    else causes.set(key, { key, latest: call, calls: 1 })
  }
  return [...causes.values()]
}
