import './reference.css'
import type { CallRecord } from '../../../../src/calls/call-record.ts'
import { Badge, When } from '../components/inline.tsx'
import { NotLoaded } from '../components/notes.tsx'
import { count, duration, usdExact } from '../format.ts'
import { queryOf } from '../router.ts'
import { session } from '../signed-in.ts'
import { useLive } from '../use-live.ts'

/** The latest model calls of the signed-in key through an endpoint. */
export function RecentCalls({ path }: { path: string }) {
  const { id = null, isAdmin = false } = session.value ?? {}
  const query = queryOf({ path, limit: '5', caller_id: isAdmin ? id : null })
  const calls = useLive<{ items: CallRecord[] }>(session.value ? `/api/calls${query}` : null, { everyMs: 10_000 })
  if (!session.value) return <p>Sign in to see your calls.</p>
  if (!calls.data) return <NotLoaded of={calls} what="your calls" />
  if (calls.data.items.length === 0) return <p class="muted">You have made none yet.</p>
  return (
    <ul class="ref-calls">
      {calls.data.items.map(({ call_id, at, model, status, latency_ms, usage, upstream_cost_usd }) => (
        <li key={call_id}>
          <a href={`/#/calls/${call_id}`}>{model ?? call_id}</a>{' '}
          <Badge tone={status === 'ok' ? 'good' : 'bad'}>{status}</Badge> <When at={at} />, {duration(latency_ms)}
          {usage && `, ${count(usage.total_tokens)} tokens`},{' '}
          {upstream_cost_usd === null ? '—' : usdExact(upstream_cost_usd)}
        </li>
      ))}
    </ul>
  )
}
