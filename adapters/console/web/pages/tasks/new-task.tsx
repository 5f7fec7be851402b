import { Checkbox, FormDialog, FormFields, notify } from '../../components/components.ts'
import { usePostOnce } from '../../once.ts'
import { go, href } from '../../router.ts'
import { amountIn, words } from '../../typed.ts'

const NEW_TASK = { title: '', description: '', reward: '', capabilities: '', gaze: false }

const FIELDS = [
  { name: 'title', label: 'Title', required: true, maxLength: 200 },
  { name: 'description', label: 'Description', rows: 4 },
  [
    {
      name: 'reward',
      label: 'Reward in USD',
      at: 'reward_usd',
      hint: 'Moved from your account into escrow at once.',
      inputMode: 'decimal',
      placeholder: '0',
    },
    {
      name: 'capabilities',
      label: 'Required capabilities',
      hint: 'Comma-separated.',
      placeholder: 'python, web-search',
    },
  ],
] as const

/** Creates a task, and locks its reward. */
export function NewTaskDialog({ onClose }: { onClose: () => void }) {
  const post = usePostOnce()
  const make = async ({ title, description, reward, capabilities, gaze }: typeof NEW_TASK) => {
    const task = await post('/api/tasks', {
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
    <FormDialog title="New task" action="Create task" initial={NEW_TASK} onSubmit={make} onClose={onClose}>
      {(form) => (
        <>
          <FormFields {...form} fields={FIELDS} />
          <Checkbox
            label="Require an attestation of attention to claim"
            checked={form.draft.gaze}
            onChange={(gaze) => form.edit({ gaze })}
          />
        </>
      )}
    </FormDialog>
  )
}
