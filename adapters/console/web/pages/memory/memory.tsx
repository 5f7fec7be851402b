import { useEffect, useState } from 'preact/hooks'
import type { Memory } from '../../../../../src/memory/records/memory-record.ts'
import type { MemoryStats } from '../../../../platform/routes/memory-routes.ts'
import { notify, Page } from '../../components/content.ts'
import { ALL, Dialog, type FieldSpec, Primary, useFilters } from '../../components/forms.ts'
import { type Column, ListCard, whenColumn } from '../../components/lists.ts'
import { bytes, count } from '../../format.ts'
import { go, href, type PageProps } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { MemoryEditor } from './memory-editor.tsx'
import { MemoryPage, Tags, Writer } from './memory-page.tsx'
import { type MemoryFilter, textOf, useMemories } from './use-memories.ts'

const EXCERPT = 160

/** Columns, with excerpts in place of values after a search. */
const columnsFor = (excerpts: ReadonlyMap<string, string> | null): readonly Column<Memory>[] => [
  { key: 'key', label: 'Key', align: 'words' },
  {
    key: 'value',
    label: 'Value',
    align: 'words',
    render: ({ id, value }) => (excerpts ? excerpts.get(id) : beginningOf(value)),
  },
  { key: 'tags', label: 'Tags', render: ({ tags }) => <Tags of={tags} /> },
  { key: 'namespace', label: 'Namespace' },
  { key: 'written_by', label: 'Written by', render: (memory) => <Writer memory={memory} /> },
  { key: 'version', label: 'Version', align: 'right' },
  whenColumn('updated_at', 'Stored'),
]

/** Memories that all assistants share, or one of them. */
export default function Memories({ id, query }: PageProps) {
  const [key, namespace, project] = ['key', 'in', 'project'].map((name) => query.get(name))
  useEffect(() => {
    // Addresses of before had the key of a memory in their query.
    if (id === null && key) go(href('memory', { id: key, query: { in: namespace, project } }), true)
  }, [id, key])
  if (id !== null) return <MemoryPage key={`${id} ${namespace} ${project}`} id={id} query={query} />
  return <MemoryList query={query} />
}

function MemoryList({ query }: { query: URLSearchParams }) {
  const filters = useFilters(query, ['words', 'namespace', 'tag'], ['memory'])
  const [making, setMaking] = useState(false)
  const stats = useLive<MemoryStats>('/api/memory/stats', { everyMs: 10_000 })
  const found = useMemories(filters.draft)
  const reload = () => {
    found.reload()
    stats.reload()
  }

  return (
    <Page
      title="Memory"
      intro={introOf(stats.data)}
      actions={<Primary onClick={() => setMaking(true)}>New memory</Primary>}
    >
      <ListCard<Memory, typeof filters.draft>
        label="Memories"
        filters={{
          ...filters,
          one: 'memory',
          hint: 'Try other words, or clear the filters.',
          fields: fieldsOf(stats.data?.namespaces ?? {}),
          below: found.summary && <p class="muted" role="status" children={found.summary} />,
        }}
        list={found.list}
        onRetry={reload}
        loading="the memories"
        columns={columnsFor(found.excerpts)}
        opens={({ key, namespace, project }) => href('memory', { id: key, query: { in: namespace, project } })}
        empty={{
          title: 'No memories yet',
          hint: 'Give your assistants the tools that store memories, or create one with “New memory”.',
          command: 'gazeway setup',
        }}
      />
      {making && <NewMemory onClose={() => setMaking(false)} onStored={reload} />}
    </Page>
  )
}
function NewMemory({ onClose, onStored }: { onClose: () => void; onStored: () => void }) {
  const onSaved = ({ key }: Memory) => {
    onClose()
    notify(`Stored ${key}.`)
    onStored()
  }
  return (
    <Dialog title="New memory" onClose={onClose} wide>
      <MemoryEditor memory={null} onCancel={onClose} onSaved={onSaved} />
    </Dialog>
  )
}

/** Fields of the filter. @param spaces number of memories by namespace */
function fieldsOf(spaces: MemoryStats['namespaces']): FieldSpec<MemoryFilter>[] {
  const named = Object.entries(spaces).map(([value, memories]) => ({ value, label: `${value} (${count(memories)})` }))
  return [
    { name: 'words', label: 'Search', type: 'search', placeholder: 'Words, keys, tags', maxLength: 4000 },
    { name: 'namespace', label: 'Namespace', options: [ALL, ...named] },
    { name: 'tag', label: 'Tag', maxLength: 64 },
  ]
}

function beginningOf(value: unknown): string {
  const text = textOf(value)
  return text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text
}

function introOf(stats: MemoryStats | null): string {
  const what = 'Facts shared by all assistants on this Gazeway.'
  if (stats === null) return what
  const spaces = Object.keys(stats.namespaces).length
  return `${what} ${count(stats.count)} kept in ${count(spaces)} ${spaces === 1 ? 'namespace' : 'namespaces'}, ${bytes(stats.bytes)}.`
}
