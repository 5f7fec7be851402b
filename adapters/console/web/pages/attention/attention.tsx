import type { GazeSessionSummary } from '../../../../../src/gaze/gaze-sessions.ts'
import { Caller } from '../../components/caller-name.tsx'
import { Page } from '../../components/content.ts'
import { useFilters } from '../../components/forms.ts'
import { type Column, countColumn, figureColumn, ListCard, whenColumn } from '../../components/lists.ts'
import { shortId } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { href, type PageProps, queryOf } from '../../router.ts'
import { StatusBadge } from './attestation-view.tsx'
import { SessionView } from './session-view.tsx'
import './attention.css'

/** List of gaze sessions, or the attention of one session. */
export default function Attention({ id, query }: PageProps) {
  if (id !== null)
    return (
      <Page
        title="Attention"
        intro="Where attention was in this session, and how well it proves that a person was present."
        back={{ label: 'All sessions', href: href('attention') }}
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
      <Sessions query={query} />
    </Page>
  )
}

const COLUMNS: Column<GazeSessionSummary>[] = [
  { key: 'session_id', label: 'Session', render: ({ session_id }) => shortId(session_id) },
  {
    key: 'attestation',
    label: 'Attestation',
    render: ({ attestation }) => (attestation ? <StatusBadge status={attestation.status} /> : '—'),
  },
  figureColumn('Score', ({ attestation }) => attestation?.poa_score.toFixed(2) ?? '—'),
  countColumn('records', 'Records'),
  { key: 'task_id', label: 'Task', render: ({ task_id }) => (task_id === null ? '—' : shortId(task_id)) },
  {
    key: 'caller_id',
    label: 'From',
    render: ({ caller_id }) => (caller_id === null ? 'local tool' : <Caller id={caller_id} />),
  },
  whenColumn('updated_at', 'Last record'),
]

function Sessions({ query }: Pick<PageProps, 'query'>) {
  const filters = useFilters(query, ['task'], ['attention'])
  const page = usePage<GazeSessionSummary>(`/api/gaze/sessions${queryOf({ task_id: filters.draft.task.trim() })}`)
  return (
    <ListCard<GazeSessionSummary, typeof filters.draft>
      title="Sessions"
      filters={{
        ...filters,
        one: 'session',
        fields: [{ name: 'task', label: 'Task', placeholder: 'task_…', maxLength: 128 }],
      }}
      label="Gaze sessions"
      list={page}
      loading="the sessions"
      opens="attention"
      columns={COLUMNS}
      empty={{
        title: 'No gaze sessions yet',
        hint: 'Record a session here, or send records from an editor or eye tracker to POST /api/gaze/store.',
        action: <a href={href('capture')}>Record a session</a>,
      }}
    />
  )
}
