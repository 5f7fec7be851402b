import { useState } from 'preact/hooks'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import { Checkbox, Dialog, Field, notify, SubmitForm, TextInput } from '../../components/components.ts'
import { usePostOnce } from '../../once.ts'
import { go, href } from '../../router.ts'
import { amountIn, words } from '../../typed.ts'

/** Creates a task, and locks its reward. */
export function NewTaskDialog({ onClose }: { onClose: () => void }) {
  const post = usePostOnce()
  const [title, setTitle] = useState('')
  const [description, setDescription] = useState('')
  const [reward, setReward] = useState('')
  const [capabilities, setCapabilities] = useState('')
  const [gaze, setGaze] = useState(false)

  const make = async () => {
    const task = await post<Task>('/api/tasks', {
      title,
      description,
      reward_usd: amountIn(reward) ?? 0,
      capabilities: words(capabilities),
      gaze_required: gaze,
    })
    notify(`The task “${task.title}” is ${task.status}.`)
    onClose()
    go(href('tasks', { id: task.id }))
  }
  return (
    <Dialog title="New task" open onClose={onClose}>
      <SubmitForm action="Create task" onSubmit={make} onCancel={onClose}>
        {(faultOf) => (
          <>
            <Field label="Title" error={faultOf('title')}>
              <TextInput value={title} onInput={setTitle} required maxLength={200} />
            </Field>
            <Field label="Description" error={faultOf('description')}>
              <TextInput value={description} onInput={setDescription} rows={4} />
            </Field>
            <div class="fields">
              <Field
                label="Reward in USD"
                hint="Moved from your account into escrow at once."
                error={faultOf('reward_usd')}
              >
                <TextInput value={reward} onInput={setReward} inputMode="decimal" placeholder="0" />
              </Field>
              <Field label="Required capabilities" hint="Comma-separated." error={faultOf('capabilities')}>
                <TextInput value={capabilities} onInput={setCapabilities} placeholder="python, web-search" />
              </Field>
            </div>
            <Checkbox label="Require an attestation of attention to claim" checked={gaze} onChange={setGaze} />
          </>
        )}
      </SubmitForm>
    </Dialog>
  )
}
