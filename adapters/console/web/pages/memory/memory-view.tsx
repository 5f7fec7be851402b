import { useState } from 'preact/hooks'
import type { Memory } from '../../../../../src/memory/records/memory-record.ts'
import { api } from '../../api.ts'
import type { Names } from '../../components/caller-name.tsx'
import { Badge, Button, Confirm, Dialog, Facts, notify, Primary, When } from '../../components/components.ts'
import { MemoryEditor } from './memory-editor.tsx'
import { Writer } from './memory-writer.tsx'
import { textOf } from './value-text.ts'
import './memory.css'

/** Dialog to read, edit or delete a memory. @param onChange called when it was stored or deleted */
export function MemoryView(props: {
  memory: Memory
  names: Names
  onClose: () => void
  onChange: (memory: Memory | null) => void
}) {
  const { memory, names } = props
  const [editing, setEditing] = useState(false)
  const [deleting, setDeleting] = useState(false)
  const remove = async () => {
    await api.delete(`/api/memory/${encodeURIComponent(memory.id)}`)
    notify(`Deleted ${memory.key}.`)
    props.onChange(null)
  }
  if (deleting)
    return (
      <Confirm
        title="Delete this memory?"
        open
        action="Delete memory"
        body={
          <p>
            <strong>{memory.key}</strong> in <strong>{memory.namespace}</strong> will be deleted for all assistants.
            This cannot be undone.
          </p>
        }
        onConfirm={remove}
        onClose={() => setDeleting(false)}
      />
    )
  return (
    <Dialog title={editing ? `Edit ${memory.key}` : memory.key} open onClose={props.onClose} wide>
      {editing ? (
        <MemoryEditor
          memory={memory}
          onCancel={() => setEditing(false)}
          onSaved={(saved) => {
            notify(`Saved ${saved.key} as version ${saved.version}.`)
            setEditing(false)
            props.onChange(saved)
          }}
        />
      ) : (
        <div class="stack">
          <pre class="memory-value" role="region" tabIndex={0} aria-label="Value">
            {textOf(memory.value)}
          </pre>
          <MemoryFacts memory={memory} names={names} />
          <div class="actions end">
            <Button tone="danger" onClick={() => setDeleting(true)}>
              Delete
            </Button>
            <Primary onClick={() => setEditing(true)}>Edit</Primary>
          </div>
        </div>
      )}
    </Dialog>
  )
}

function MemoryFacts({ memory, names }: { memory: Memory; names: Names }) {
  return (
    <Facts
      of={{
        Namespace: memory.namespace,
        Project: memory.project ?? 'all projects',
        Tags: memory.tags.length === 0 ? '—' : <Tags of={memory.tags} />,
        'Written by': <Writer memory={memory} names={names} />,
        Version: memory.version,
        Stored: <Stored memory={memory} />,
        Expires: memory.expires_at === null ? 'never' : <When at={memory.expires_at} />,
        Id: <code>{memory.id}</code>,
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
