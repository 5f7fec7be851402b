import { PATIENT_MS } from '../../api.ts'
import { notify } from '../../components/content.ts'
import { FormDialog } from '../../components/forms.ts'
import { usePostOnce } from '../../post-once.ts'
import { go, href } from '../../router.ts'
import { amountIn, words } from '../../typed.ts'

const NEW_SWARM = { goal: '', most: '8', reward: '', capabilities: '' }

const FIELDS = [
  {
    name: 'goal',
    label: 'Goal',
    hint: 'The result to reach, in your own words. Press Ctrl+Enter to create.',
    rows: 4,
    required: true,
  },
  [
    { name: 'most', label: 'Maximum number of tasks', at: 'max_tasks', type: 'number', min: 1, max: 50 },
    {
      name: 'reward',
      label: 'Total reward in USD',
      at: 'reward_usd',
      hint: 'Split evenly over the tasks, and moved from your account into escrow.',
      inputMode: 'decimal',
      placeholder: '0',
    },
  ],
  {
    name: 'capabilities',
    label: 'Capabilities of your agents',
    hint: 'Comma-separated. Tasks require no other capabilities. Empty: any.',
  },
] as const

/** Dialog that divides a goal into tasks. */
export function NewSwarmDialog({ onClose }: { onClose: () => void }) {
  const post = usePostOnce()
  const make = async ({ goal, most, reward, capabilities }: typeof NEW_SWARM) => {
    const swarm = {
      goal,
      max_tasks: amountIn(most) ?? 8,
      reward_usd: amountIn(reward) ?? 0,
      capabilities: words(capabilities),
    }
    const { swarm_id, tasks } = await post('/api/tasks/swarm', swarm, { timeoutMs: PATIENT_MS })
    notify(`The goal is divided into ${tasks.length} tasks.`)
    onClose()
    go(href('swarm', { id: swarm_id }))
  }
  return (
    <FormDialog
      title="New swarm"
      action="Create swarm"
      waiting="The model is planning. This can take a minute."
      initial={NEW_SWARM}
      fields={FIELDS}
      onSubmit={make}
      onClose={onClose}
    />
  )
}
