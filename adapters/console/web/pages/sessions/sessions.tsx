import type { CodingSession } from '../../../../../src/coding-sessions/coding-session.ts'
import { callerOptions, KeyLink, useNames } from '../../components/caller-name.tsx'
import { Button, Empty, type FieldSpec, Filters, ListCard, Page } from '../../components/components.ts'
import { usePage } from '../../paging.ts'
import { filtersIn, go, href, type PageProps, queryOf } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { timeIn } from '../../typed.ts'
import { SESSION_COLUMNS } from './session-columns.tsx'
import { SessionPage } from './session-page.tsx'

const FILTERS = ['repository', 'branch', 'client', 'key', 'group', 'from', 'to', 'sort'] as const
type Filter = Record<(typeof FILTERS)[number], string>

/** Sessions of coding agents, or one of them. */
export default function Sessions({ id, query }: PageProps) {
  if (id !== null) return <SessionPage key={`${id} ${query.get('key')}`} id={id} caller={query.get('key')} />
  return (
    <Page title="Sessions" intro="What coding agents worked on, and what it cost.">
      <SessionList filter={filtersIn(query, FILTERS)} />
    </Page>
  )
}

function SessionList({ filter }: { filter: Filter }) {
  const names = useNames()
  const { isAdmin = false } = session.value ?? {}
  const set = (change: Partial<Filter>) => go(href('sessions', { query: { ...filter, ...change } }), true)
  const asked = queryOf({ ...filter, from: timeIn(filter.from), to: timeIn(filter.to) })
  const page = usePage<CodingSession>(`/api/coding-sessions${asked}`)
  const fields: FieldSpec<Filter>[] = [
    { name: 'repository', label: 'Repository', placeholder: 'github.com/owner/name', maxLength: 2048 },
    { name: 'branch', label: 'Branch', maxLength: 255 },
    { name: 'client', label: 'Client', maxLength: 64 },
    { name: 'key', label: 'Key', options: [{ value: '', label: 'All' }, ...callerOptions(names, filter.key)] },
    { name: 'from', label: 'From', type: 'datetime-local' },
    { name: 'to', label: 'Before', type: 'datetime-local' },
    {
      name: 'sort',
      label: 'Order',
      options: [
        { value: '', label: 'Latest first' },
        { value: 'cost', label: 'Dearest first' },
      ],
    },
  ]
  return (
    <ListCard<CodingSession>
      label="Sessions"
      filters={
        <Filters draft={filter} edit={set} fields={fields.filter(({ name }) => name !== 'key' || isAdmin)}>
          {asked && <Button onClick={() => go(href('sessions'), true)}>Clear filters</Button>}
        </Filters>
      }
      list={page}
      loading="the sessions"
      rowKey={({ id, key }) => `${id} ${key}`}
      addressOf={({ id, key }) => href('sessions', { id, query: { key } })}
      columns={[
        ...SESSION_COLUMNS.slice(0, 1),
        ...(isAdmin
          ? [{ key: 'key', label: 'Key', render: ({ key }: CodingSession) => <KeyLink id={key} names={names} /> }]
          : []),
        ...SESSION_COLUMNS.slice(1),
      ]}
      empty={
        asked ? (
          <Empty title="No session matches" hint="Filters match whole names. Clear a filter to see more." />
        ) : (
          <Empty
            title="No sessions yet"
            hint="Put a coding agent behind Gazeway. Its sessions appear with the first call."
            command="gazeway connect claude"
          />
        )
      }
    />
  )
}
