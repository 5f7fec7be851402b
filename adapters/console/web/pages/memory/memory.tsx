import { useState } from 'preact/hooks'
import type { Memory } from '../../../../../src/memory/records/memory-record.ts'
import type { MemoryStats } from '../../../../platform/routes/memory-routes.ts'
import { type Names, useNames } from '../../components/caller-name.tsx'
import {
  Badge,
  Button,
  Card,
  type Column,
  DataTable,
  Dialog,
  Empty,
  ErrorNote,
  Field,
  Loading,
  notify,
  Page,
  Pager,
  Select,
  TextInput,
  When,
} from '../../components/components.ts'
import { bytes, count } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { useLive } from '../../use-live.ts'
import { MemoryEditor } from './memory-editor.tsx'
import { MemoryView } from './memory-view.tsx'
import { Writer } from './memory-writer.tsx'
import { useSearch } from './use-search.ts'
import { textOf } from './value-text.ts'
import './memory.css'

const EXCERPT = 160

const columnsFor = (names: Names): readonly Column<Memory>[] => [
  { key: 'key', label: 'Key', render: ({ key }) => <span class="memory-key">{key}</span> },
  {
    key: 'value',
    label: 'Value',
    render: ({ value }) => {
      const text = textOf(value)
      return text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text
    },
  },
  {
    key: 'tags',
    label: 'Tags',
    render: ({ tags }) => (
      <span class="actions">
        {tags.map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
      </span>
    ),
  },
  { key: 'namespace', label: 'Namespace' },
  { key: 'written_by', label: 'Written by', render: (memory) => <Writer memory={memory} names={names} /> },
  { key: 'version', label: 'Version', align: 'right' },
  { key: 'updated_at', label: 'Stored', render: ({ updated_at }) => <When at={updated_at} /> },
]

/** Memories that all assistants share: search, read, edit, delete. */
export default function Memories() {
  const [words, setWords] = useState('')
  const [namespace, setNamespace] = useState('')
  const [tag, setTag] = useState('')
  const [making, setMaking] = useState(false)
  const [shown, setShown] = useState<Memory | null>(null)
  const names = useNames()
  const query = words.trim()
  const filter = new URLSearchParams({ ...(namespace && { namespace }), ...(tag.trim() && { tag: tag.trim() }) })
  const stats = useLive<MemoryStats>('/api/memory/stats', { everyMs: 10_000 })
  const page = usePage<Memory>(query === '' ? `/api/memory${filter.size > 0 ? `?${filter}` : ''}` : null)
  const search = useSearch({ query, namespace, tag: tag.trim() })
  const namespaces = Object.keys(stats.data?.namespaces ?? {})

  const reload = () => {
    page.reload()
    search.reload()
    stats.reload()
  }
  const rows = query === '' ? page.items : (search.found?.results.map(({ memory }) => memory) ?? [])
  const isWaiting = query === '' ? page.data === null && page.loading : search.found === null && search.error === null
  const excerpts = new Map(search.found?.results.map(({ memory, excerpt }) => [memory.id, excerpt]))
  const all = columnsFor(names)
  const columns = query === '' ? all : all.map((column) => withExcerpt(column, excerpts))

  return (
    <Page
      title="Memory"
      intro={introOf(stats.data)}
      actions={
        <Button tone="primary" onClick={() => setMaking(true)}>
          New memory
        </Button>
      }
    >
      <Card>
        <div class="filters">
          <Field label="Search">
            <TextInput
              type="search"
              value={words}
              onInput={setWords}
              placeholder="Words in keys, values and tags"
              maxLength={4000}
            />
          </Field>
          <Field label="Namespace">
            <Select
              value={namespace}
              options={[
                { value: '', label: 'All' },
                ...namespaces.map((name) => ({
                  value: name,
                  label: `${name} (${count(stats.data?.namespaces[name] ?? 0)})`,
                })),
              ]}
              onChange={setNamespace}
            />
          </Field>
          <Field label="Tag">
            <TextInput value={tag} onInput={setTag} maxLength={64} />
          </Field>
        </div>
        <ErrorNote error={page.error ?? search.error} onRetry={reload} />
        {query !== '' && search.found && (
          <p class="muted" role="status">
            {count(search.found.total)} {search.found.total === 1 ? 'match' : 'matches'}
            {search.found.total > rows.length && `, showing the best ${rows.length}`}
          </p>
        )}
        {isWaiting ? (
          <Loading what="the memories" />
        ) : (
          <DataTable<Memory>
            label="Memories"
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
            onRow={setShown}
            of={query === '' ? page : { error: search.error, loading: search.found === null }}
            empty={<Nothing isFiltered={query !== '' || filter.size > 0} />}
          />
        )}
        {query === '' && <Pager page={page} />}
      </Card>
      {shown && (
        <MemoryView
          key={shown.id}
          memory={shown}
          names={names}
          onClose={() => setShown(null)}
          onChange={(memory) => {
            setShown(memory)
            reload()
          }}
        />
      )}
      <Dialog title="New memory" open={making} onClose={() => setMaking(false)} wide>
        <MemoryEditor
          memory={null}
          onCancel={() => setMaking(false)}
          onSaved={(memory) => {
            setMaking(false)
            notify(`Stored ${memory.key}.`)
            reload()
          }}
        />
      </Dialog>
    </Page>
  )
}

/** Shows the excerpt with the match in the value's column. */
function withExcerpt(column: Column<Memory>, excerpts: ReadonlyMap<string, string>): Column<Memory> {
  return column.key === 'value' ? { ...column, render: ({ id }) => excerpts.get(id) ?? '' } : column
}

function introOf(stats: MemoryStats | null): string {
  const what = 'Facts shared by all assistants on this Gazeway.'
  if (stats === null) return what
  const spaces = Object.keys(stats.namespaces).length
  return `${what} ${count(stats.count)} kept in ${count(spaces)} ${spaces === 1 ? 'namespace' : 'namespaces'}, ${bytes(stats.bytes)}.`
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No memory matches" hint="Try other words, or clear the filters." />
  return (
    <Empty
      title="No memories yet"
      hint="Assistants store memories with the tool gateway_memory_store. You can also create one with “New memory”."
    />
  )
}
