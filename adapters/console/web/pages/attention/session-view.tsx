import { useState } from 'preact/hooks'
import type { Attestation } from '../../../../../src/gaze/attestation.ts'
import type { GazeRecord } from '../../../../../src/gaze/tensor.ts'
import { Card, Copy, Empty, ErrorNote, NotLoaded, Tabs } from '../../components/content.ts'
import { LineChart } from '../../components/lists.ts'
import { count } from '../../format.ts'
import type { List } from '../../paging.ts'
import { type Live, useLive } from '../../use-live.ts'
import { Analysis } from './analysis.tsx'
import { AttestationView } from './attestation-view.tsx'
import { channelsOf } from './buckets.ts'
import { Heat } from './heat.tsx'

/** Maximum number of records that are drawn, newest first. */
const DRAWN = 1000
const STEPS = 48

const TABS = [
  { id: 'heat', label: 'Heat map' },
  { id: 'channels', label: 'Over time' },
  { id: 'analysis', label: 'Analysis' },
  { id: 'attestation', label: 'Attestation' },
] as const
type Tab = (typeof TABS)[number]['id']

/** Gaze session: places, channels over time, analysis and attestation. */
export function SessionView({ sessionId }: { sessionId: string }) {
  const [tab, setTab] = useState<Tab>('heat')
  const query = new URLSearchParams({ session_id: sessionId })
  const history = useLive<List<GazeRecord>>(`/api/gaze/history?${query}&limit=${DRAWN}`)
  const attestation = useLive<Attestation>(tab === 'attestation' ? `/api/attestation/status?${query}` : null)

  if (history.data === null) return <NotLoaded of={history} what="the records" />
  const { items, total } = history.data
  if (total === 0)
    return (
      <Empty
        title="This session has no records"
        hint="The session does not exist, belongs to another key, or its records have expired."
      />
    )
  const records = [...items].reverse()
  return (
    <>
      <p class="muted">
        Session <Copy text={sessionId} /> {count(total)} records
        {total > items.length && `; the newest ${count(items.length)} are drawn`}
      </p>
      <ErrorNote error={history.error} onRetry={history.reload} />
      <Tabs label="Views of the session" tabs={TABS} active={tab} onChange={setTab} />
      {tab === 'heat' && <Heat records={records} />}
      {tab === 'channels' && <ChannelLines records={records} />}
      {tab === 'analysis' && <Analysis sessionId={sessionId} records={total} />}
      {tab === 'attestation' && <Proof live={attestation} />}
    </>
  )
}

function ChannelLines({ records }: { records: readonly GazeRecord[] }) {
  const { cog, emo, env } = channelsOf(records, STEPS)
  return (
    <Card title="COG, EMO and ENV over time">
      <LineChart
        label="Channels over time"
        height={260}
        range={[0, 1]}
        format={(value) => value.toFixed(2)}
        series={[
          { label: 'COG', points: cog },
          { label: 'EMO', points: emo },
          { label: 'ENV', points: env },
        ]}
      />
      <p class="hint">
        COG is focus and load. EMO is the distance from calm. ENV is distraction and changes of place. Each is from 0 to
        1.
      </p>
    </Card>
  )
}

function Proof({ live }: { live: Live<Attestation> }) {
  if (live.data === null) return <NotLoaded of={live} what="the attestation" />
  return (
    <Card title="Proof of attention">
      <AttestationView attestation={live.data} />
    </Card>
  )
}
