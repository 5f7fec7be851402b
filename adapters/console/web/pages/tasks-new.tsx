import { useState } from 'preact/hooks'
import { ApiError, api } from '../api.ts'
import { Button, Checkbox, Dialog, ErrorNote, Field, notify, TextInput } from '../components/index.ts'
import { go, href } from '../router.ts'
import type { Task } from './tasks-records.ts'
import { amountIn } from './wallet-limits.tsx'

/** Makes a task, and locks its reward. */
export function NewTaskDialog({ onClose }: { onClose: () => void }) {
  const [title, setTitle] = useState('')
  const [description, setDescription] = useState('')
  const [reward, setReward] = useState('')
  const [capabilities, setCapabilities] = useState('')
  const [gaze, setGaze] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const fault = error instanceof ApiError ? error : null
  const faultOf = (field: string) => (fault?.param?.split('.')[0] === field ? fault.message : null)
  const isShown = ['title', 'description', 'reward_usd', 'capabilities'].some((field) => faultOf(field) !== null)

  const make = async () => {
    setBusy(true)
    setError(null)
    try {
      const task = await api.post<Task>('/api/tasks', {
        title,
        description,
        reward_usd: amountIn(reward) ?? 0,
        capabilities: words(capabilities),
        gaze_required: gaze,
      })
      notify(`The task “${task.title}” is ${task.status}.`)
      onClose()
      go(href('tasks', { id: task.id }))
    } catch (thrown) {
      setError(thrown)
      setBusy(false)
    }
  }
  return (
    <Dialog title="New task" open onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <Field label="Title" error={faultOf('title')}>
          <TextInput value={title} onInput={setTitle} required maxLength={200} />
        </Field>
        <Field label="What to do" error={faultOf('description')}>
          <TextInput value={description} onInput={setDescription} rows={4} />
        </Field>
        <div class="fields">
          <Field
            label="Reward in USD"
            hint="Moves from your account into escrow at once."
            error={faultOf('reward_usd')}
          >
            <TextInput value={reward} onInput={setReward} inputMode="decimal" placeholder="0" />
          </Field>
          <Field label="Asks for" hint="Capabilities, with commas between." error={faultOf('capabilities')}>
            <TextInput value={capabilities} onInput={setCapabilities} placeholder="python, web-search" />
          </Field>
        </div>
        <Checkbox label="A claim needs an attestation of attention" checked={gaze} onChange={setGaze} />
        {!isShown && <ErrorNote error={error} />}
        <div class="actions end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={busy}>
            Make the task
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** `a, b` as a list. */
export const words = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
