import { useState } from 'preact/hooks'
import type { GazeSessionSummary } from '../../../../../src/gaze/gaze-sessions.ts'
import {
  Card,
  DataTable,
  Empty,
  ErrorNote,
  Field,
  Loading,
  Page,
  Pager,
  TextInput,
  When,
} from '../../components/components.ts'
import { count, shortId } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { go, href, type PageProps } from '../../router.ts'
import { StatusBadge } from './attestation-view.tsx'
import { SessionView } from './session-view.tsx'
import './attention.css'

/** List of gaze sessions, or the attention of one session. */
export default function Attention({ id }: PageProps) {
  if (id !== null)
    return (
      <Page
        title="Attention"
        intro="Where attention was in this session, and how well it proves that a person was present."
        actions={<a href={href('attention')}>All sessions</a>}
      >
        <SessionView key={id} sessionId={id} />
      </Page>
    )
  return (
    <Page
      title="Attention"
      intro="Gaze records from editors, eye trackers, webcams and pointers, by session. A key sees its own sessions; an admin sees all."
      actions={
        <a class="button primary" href={href('capture')}>
          Record a session
        </a>
      }
    >
      <Sessions />
    </Page>
  )
}

function Sessions() {
  const [task, setTask] = useState('')
  const filter = task.trim() === '' ? '' : `?task_id=${encodeURIComponent(task.trim())}`
  const page = usePage<GazeSessionSummary>(`/api/gaze/sessions${filter}`)
  return (
    <Card title="Sessions">
      <div class="filters">
        <Field label="Task">
          <TextInput value={task} onInput={setTask} placeholder="task_…" maxLength={128} />
        </Field>
      </div>
      <ErrorNote error={page.error} onRetry={page.reload} />
      {page.data === null && page.loading ? (
        <Loading what="the sessions" />
      ) : (
        <DataTable<GazeSessionSummary>
          label="Gaze sessions"
          rows={page.items}
          rowKey={(session) => session.session_id}
          onRow={(session) => go(href('attention', { id: session.session_id }))}
          columns={[
            { key: 'session_id', label: 'Session', render: ({ session_id }) => shortId(session_id) },
            {
              key: 'attestation',
              label: 'Attestation',
              render: ({ attestation }) => (attestation ? <StatusBadge status={attestation.status} /> : '—'),
            },
            {
              key: 'score',
              label: 'Score',
              align: 'right',
              render: ({ attestation }) => attestation?.poa_score.toFixed(2) ?? '—',
            },
            { key: 'records', label: 'Records', align: 'right', render: ({ records }) => count(records) },
            { key: 'task_id', label: 'Task', render: ({ task_id }) => (task_id === null ? '—' : shortId(task_id)) },
            {
              key: 'caller_id',
              label: 'From',
              render: ({ caller_id }) => (caller_id === null ? 'local tool' : shortId(caller_id)),
            },
            { key: 'updated_at', label: 'Last record', render: ({ updated_at }) => <When at={updated_at} /> },
          ]}
          of={page}
          empty={
            <Empty
              title={filter ? 'No session for this task' : 'No gaze sessions yet'}
              hint="Record a session here, or send records from an editor or eye tracker to POST /api/gaze/store."
              action={<a href={href('capture')}>Record a session</a>}
            />
          }
        />
      )}
      <Pager page={page} />
    </Card>
  )
}
