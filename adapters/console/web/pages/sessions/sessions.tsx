import type { CodingSession } from '../../../../../src/coding-sessions/coding-session.ts'
import { callerOptions, KeyLink } from '../../components/caller-name.tsx'
import { Page } from '../../components/content.ts'
import { ALL, TIMES, useFilters, WHOLE_NAMES } from '../../components/forms.ts'
import { ListCard } from '../../components/lists.ts'
import { usePage } from '../../paging.ts'
import { href, type PageProps } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { SESSION_COLUMNS } from './session-columns.tsx'
import { SessionPage } from './session-page.tsx'

const FILTERS = ['repository', 'branch', 'client', 'key', 'group', 'from', 'to', 'sort'] as const
const SORTS = [
  { value: '', label: 'Latest first' },
  { value: 'cost', label: 'Dearest first' },
]

/** Sessions of coding agents, or one of them. */
export default function Sessions({ id, query }: PageProps) {
  if (id !== null) return <SessionPage key={`${id} ${query.get('key')}`} id={id} caller={query.get('key')} />
  return (
    <Page title="Sessions" intro="What coding agents worked on, and what it cost.">
      <SessionList query={query} />
    </Page>
  )
}

function SessionList({ query }: Pick<PageProps, 'query'>) {
  const filters = useFilters(query, FILTERS, ['sessions'], { sort: SORTS })
  const page = usePage<CodingSession>(`/api/coding-sessions${filters.asked}`)
  const keys = [ALL, ...callerOptions(filters.draft.key)]
  const [work, ...others] = SESSION_COLUMNS
  const key = { key: 'key', label: 'Key', render: ({ key: id }: CodingSession) => <KeyLink id={id} /> }
  const isAdmin = session.value?.isAdmin === true
  return (
    <ListCard<CodingSession, typeof filters.draft>
      label="Sessions"
      filters={{
        ...filters,
        one: 'session',
        hint: WHOLE_NAMES,
        fields: [
          { name: 'repository', label: 'Repository', placeholder: 'github.com/owner/name', maxLength: 2048 },
          { name: 'branch', label: 'Branch', maxLength: 255 },
          { name: 'client', label: 'Client', maxLength: 64 },
          ...(isAdmin ? [{ name: 'key', label: 'Key', options: keys } as const] : []),
          ...TIMES,
          { name: 'sort', label: 'Order', options: SORTS },
        ],
      }}
      list={page}
      loading="the sessions"
      rowKey={({ id, key }) => `${id} ${key}`}
      opens={({ id, key }) => href('sessions', { id, query: { key } })}
      columns={[work, ...(isAdmin ? [key] : []), ...others]}
      empty={{
        title: 'No sessions yet',
        hint: 'Put a coding agent behind Gazeway. Its sessions appear with the first call.',
        command: 'gazeway connect claude-code',
      }}
    />
  )
}
