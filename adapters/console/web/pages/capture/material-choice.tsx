import { useEffect, useState } from 'preact/hooks'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import { Card, ErrorNote } from '../../components/content.ts'
import { Field, SelectField, TextField, useFieldProps } from '../../components/forms.ts'
import type { List } from '../../paging.ts'
import { useLive } from '../../use-live.ts'
import { fileMaterial, type Material, sampleMaterial, taskMaterial } from './material.ts'

type Kind = 'sample' | 'task' | 'file'

const KINDS: readonly { value: Kind; label: string }[] = [
  { value: 'sample', label: 'A short text about recordings' },
  { value: 'task', label: 'A task, to prove attention for it' },
  { value: 'file', label: 'A file from this computer' },
]
/** Maximum size of a file, in bytes. A larger file is refused before it is read. */
const MAX_BYTES = 2_000_000

/** Choice of the material to read while recording. @param onChange called with null while nothing is chosen */
export function MaterialChoice(props: {
  taskId: string | null
  disabled: boolean
  onChange: (material: Material | null) => void
}) {
  const [kind, setKind] = useState<Kind>(props.taskId === null ? 'sample' : 'task')
  const choose = (next: Kind) => {
    setKind(next)
    props.onChange(next === 'sample' ? sampleMaterial() : null)
  }
  return (
    <Card title="What to read">
      <div class="fields">
        <SelectField label="Material" value={kind} options={KINDS} disabled={props.disabled} onChange={choose} />
        {kind === 'task' && <TaskChoice {...props} />}
        {kind === 'file' && <FileChoice {...props} />}
      </div>
    </Card>
  )
}

function TaskChoice(props: {
  taskId: string | null
  disabled: boolean
  onChange: (material: Material | null) => void
}) {
  const { data, error, reload } = useLive<List<Task>>('/api/tasks?limit=100', { everyMs: 10_000 })
  const given = useLive<Task>(props.taskId === null ? null : `/api/tasks/${encodeURIComponent(props.taskId)}`, {
    everyMs: 60_000,
  })
  const [id, setId] = useState(props.taskId ?? '')
  const others = (data?.items ?? []).filter((task) => task.id !== given.data?.id)
  const tasks = [
    ...(given.data ? [given.data] : []),
    ...others.sort((a, b) => Number(b.gaze_required) - Number(a.gaze_required)),
  ]
  useEffect(() => {
    if (given.data && id === given.data.id) props.onChange(taskMaterial(given.data))
    // Later versions of the task do not change the text in progress.
  }, [given.data?.id])
  const choose = (next: string) => {
    setId(next)
    const task = tasks.find((one) => one.id === next)
    props.onChange(task ? taskMaterial(task) : null)
  }
  const fault = error ?? given.error
  if (fault) return <ErrorNote error={fault} onRetry={error ? reload : given.reload} />
  return (
    <SelectField
      label="Task"
      hint={
        data?.items.length === 0
          ? 'No tasks yet. Create one on the Tasks page.'
          : 'The recording counts for this task only: to claim the task, or to release its reward.'
      }
      value={id}
      disabled={props.disabled || tasks.length === 0}
      options={[
        { value: '', label: 'Choose a task…' },
        ...tasks.map((task) => ({
          value: task.id,
          label: `${task.title}${task.gaze_required ? ' (needs gaze)' : ''} · ${task.status}`,
        })),
      ]}
      onChange={choose}
    />
  )
}

function FileChoice(props: { disabled: boolean; onChange: (material: Material | null) => void }) {
  const [text, setText] = useState<string | null>(null)
  const [path, setPath] = useState('')
  const [error, setError] = useState<string | null>(null)
  const tell = (nextPath: string, nextText: string | null) =>
    props.onChange(nextText === null || nextPath.trim() === '' ? null : fileMaterial(nextPath.trim(), nextText))
  const open = async (file: File | undefined) => {
    setError(null)
    setText(null)
    props.onChange(null)
    if (!file) return
    if (file.size > MAX_BYTES) return setError('The file is larger than 2 MB. Choose a smaller file.')
    const read = await file.text()
    if (read.includes('\0')) return setError('The file is not text. Choose a text file.')
    setText(read)
    setPath(file.name)
    tell(file.name, read)
  }
  return (
    <>
      <Field label="File" error={error} hint="The text stays in this browser. Records contain only the path and lines.">
        <FileInput disabled={props.disabled} onFile={open} />
      </Field>
      {text !== null && (
        <TextField
          label="Path in the project"
          hint="Lets the work context find the file, such as src/index.ts"
          value={path}
          disabled={props.disabled}
          onInput={(next) => {
            setPath(next)
            tell(next, text)
          }}
        />
      )}
    </>
  )
}

function FileInput(props: { disabled: boolean; onFile: (file: File | undefined) => void }) {
  const field = useFieldProps()
  return (
    <input
      {...field}
      type="file"
      disabled={props.disabled}
      onChange={(event) => props.onFile(event.currentTarget.files?.[0])}
    />
  )
}
