import { notify } from '../../components/content.ts'
import { Checkbox, type FieldSpec, FormDialog, FormFields } from '../../components/forms.ts'
import { usePostOnce } from '../../post-once.ts'
import { go, href } from '../../router.ts'
import { amountIn, words } from '../../typed.ts'

const NEW_TASK = {
  title: '',
  description: '',
  reward: '',
  capabilities: '',
  gaze: false,
  level: '',
  review: '',
  coverage: '100',
}
type TaskDraft = typeof NEW_TASK

const PERCENT = 100

/** Evidence that releases the reward: an attestation, or a review of the result at a level. */
const RELEASES = [
  { value: '', label: 'an attestation of attention' },
  { value: 'seen', label: 'a review of the result, seen' },
  { value: 'plausible', label: 'a review of the result, plausible' },
] as const

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

const RELEASE: FieldSpec<TaskDraft> = {
  name: 'review',
  label: 'The reward takes',
  at: 'review.level',
  hint: 'A review reads the change that the result names, in the console.',
  options: RELEASES,
}

const COVERAGE: FieldSpec<TaskDraft> = {
  name: 'coverage',
  label: 'Lines to be read in percent',
  at: 'review.coverage',
  hint: 'Least share of the changed lines.',
  inputMode: 'decimal',
}

/** Review that the draft demands; undefined for none. Text that is no number goes to the API, which refuses it. */
function reviewOf({ review, coverage }: TaskDraft) {
  if (review === '') return undefined
  const percent = amountIn(coverage)
  return { level: review, coverage: typeof percent === 'number' ? percent / PERCENT : percent }
}

const LEVEL: FieldSpec<TaskDraft> = {
  name: 'level',
  label: 'Level of attestations',
  at: 'gaze_level',
  hint: '“seen” is the word of the program that stores the gaze. “plausible” looks like a person’s.',
  options: [{ value: '', label: 'as in the settings' }, 'seen', 'plausible'],
}

/** Creates a task, and locks its reward. */
export function NewTaskDialog({ onClose }: { onClose: () => void }) {
  const post = usePostOnce()
  const make = async (draft: TaskDraft) => {
    const { title, description, reward, capabilities, gaze, level } = draft
    const task = await post('/api/tasks', {
      title,
      description,
      reward_usd: amountIn(reward) ?? 0,
      capabilities: words(capabilities),
      gaze_required: gaze,
      ...(level !== '' && { gaze_level: level }),
      review: reviewOf(draft),
    })
    notify(`The task “${task.title}” is ${task.status}.`)
    onClose()
    go(href('tasks', { id: task.id }))
  }
  return (
    <FormDialog
      title="New task"
      action="Create task"
      initial={NEW_TASK}
      fields={FIELDS}
      onSubmit={make}
      onClose={onClose}
    >
      {(form) => (
        <>
          <FormFields {...form} fields={[form.draft.review === '' ? [RELEASE] : [RELEASE, COVERAGE]]} />
          <Checkbox
            label="Require an attestation of attention to claim"
            checked={form.draft.gaze}
            onChange={(gaze) => form.edit({ gaze })}
          />
          <FormFields {...form} fields={[LEVEL]} />
        </>
      )}
    </FormDialog>
  )
}
