import { useState } from 'preact/hooks'
import type { Memory } from '../../../../../src/memory/records/memory-record.ts'
import { api } from '../../api.ts'
import { Caller } from '../../components/caller-name.tsx'
import { Badge, Card, Copy, Facts, Grid, NotLoaded, notify, Page, Verbatim, When } from '../../components/content.ts'
import { Button, Confirm, Dialog, Primary } from '../../components/forms.ts'
import { Empty } from '../../components/layout.tsx'
import { listAddressOfRecord } from '../../list-beside-record.ts'
import { go, href, queryOf } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { MemoryEditor } from './memory-editor.tsx'
import { changes } from './use-memories.ts'

/** Page of a memory: its value, and where it is from. */
export function MemoryPage({ id: key, query }: { id: string; query: URLSearchParams }) {
  const [namespace, project] = ['in', 'project'].map((name) => query.get(name))
  const [isEdited, setEdited] = useState(false)
  const [toDelete, setToDelete] = useState<Memory | null>(null)
  const live = useLive<{ memory: Memory }>(`/api/memory/recall${queryOf({ key, namespace, project })}`)
  const found = live.data?.memory
  // Without one of its project, recall finds that of no project, which is another memory.
  const memory = found && (found.project ?? null) === (project ?? null) ? found : undefined
  const close = () => setEdited(false)
  const remove = async ({ id }: Memory) => {
    await api.delete(`/api/memory/${encodeURIComponent(id)}`)
    notify(`Deleted ${key}.`)
    changes.value++
    go(listAddressOfRecord(), true)
  }
  const onSaved = ({ version }: Memory) => {
    notify(`Saved ${key} as version ${version}.`)
    close()
    live.reload()
    changes.value++
  }
  return (
    <Page
      title={key}
      back={{ label: 'Memory', href: href('memory') }}
      actions={
        memory && (
          <>
            <Button onClick={() => setToDelete(memory)}>Delete</Button>
            <Primary onClick={() => setEdited(true)}>Edit</Primary>
          </>
        )
      }
    >
      {memory ? (
        <Grid>
          <Card title="Value">
            <Verbatim label="Text of the value" text={memory.value} />
          </Card>
          <Card title="Details">
            <MemoryFacts memory={memory} />
          </Card>
        </Grid>
      ) : found ? (
        <Empty title="This memory is gone" hint="It was deleted, or moved to another project." />
      ) : (
        <NotLoaded of={live} what="the memory" />
      )}
      {memory && isEdited && (
        <Dialog title={`Edit ${key}`} onClose={close} wide>
          <MemoryEditor memory={memory} onCancel={close} onSaved={onSaved} />
        </Dialog>
      )}
      {toDelete && (
        <Confirm
          title="Delete this memory?"
          action="Delete memory"
          body={
            <p>
              <strong>{key}</strong> in <strong>{toDelete.namespace}</strong>
              {toDelete.project === null ? '' : ` of ${toDelete.project}`} will be deleted for all assistants. This
              cannot be undone.
            </p>
          }
          onConfirm={() => remove(toDelete)}
          onClose={() => setToDelete(null)}
        />
      )}
    </Page>
  )
}

function MemoryFacts({ memory }: { memory: Memory }) {
  return (
    <Facts
      of={{
        Namespace: memory.namespace,
        Project: memory.project ?? 'all projects',
        Tags: memory.tags.length === 0 ? '—' : <Tags of={memory.tags} />,
        'Written by': <Writer memory={memory} />,
        Version: memory.version,
        Stored: <Stored memory={memory} />,
        Expires: memory.expires_at === null ? 'never' : <When at={memory.expires_at} />,
        Id: <Copy text={memory.id} isShort />,
      }}
    />
  )
}

/** Tags of a memory. */
export function Tags({ of }: { of: readonly string[] }) {
  return (
    <span class="actions">
      {of.map((tag) => (
        <Badge key={tag}>{tag}</Badge>
      ))}
    </span>
  )
}

function Stored({ memory: { version, created_at, updated_at } }: { memory: Memory }) {
  return (
    <>
      <When at={updated_at} />
      {version > 1 && (
        <>
          , first <When at={created_at} />
        </>
      )}
    </>
  )
}

/** Writer of a memory: the name of its key, or this machine, for the tools of assistants on it. */
export function Writer({ memory }: { memory: Pick<Memory, 'written_by'> }) {
  const { written_by: id } = memory
  return id === null ? 'This machine' : <Caller id={id} />
}
