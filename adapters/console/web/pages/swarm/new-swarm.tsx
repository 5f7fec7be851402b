import { useState } from 'preact/hooks'
import type { SwarmReply } from '../../../../../src/tasks/swarm.ts'
import { PATIENT_MS } from '../../api.ts'
import { Dialog, Field, notify, SubmitForm, TextInput } from '../../components/components.ts'
import { usePostOnce } from '../../once.ts'
import { go, href } from '../../router.ts'
import { amountIn, words } from '../../typed.ts'

/** Dialog that divides a goal into tasks. */
export function NewSwarmDialog({ onClose }: { onClose: () => void }) {
  const post = usePostOnce()
  const [goal, setGoal] = useState('')
  const [most, setMost] = useState('8')
  const [reward, setReward] = useState('')
  const [capabilities, setCapabilities] = useState('')

  const make = async () => {
    const swarm = {
      goal,
      max_tasks: amountIn(most) ?? 8,
      reward_usd: amountIn(reward) ?? 0,
      capabilities: words(capabilities),
    }
    const { swarm_id, tasks } = await post<SwarmReply>('/api/tasks/swarm', swarm, {
      timeoutMs: PATIENT_MS,
    })
    notify(`The goal is divided into ${tasks.length} tasks.`)
    onClose()
    go(href('swarm', { id: swarm_id }))
  }
  return (
    <Dialog title="New swarm" open onClose={onClose}>
      <SubmitForm
        action="Create swarm"
        waiting="The model is planning. This can take a minute."
        onSubmit={make}
        onCancel={onClose}
      >
        {(faultOf) => (
          <>
            <Field
              label="Goal"
              hint="The result to reach, in your own words. Press Ctrl+Enter to create."
              error={faultOf('goal')}
            >
              <TextInput value={goal} onInput={setGoal} rows={4} required />
            </Field>
            <div class="fields">
              <Field label="Maximum number of tasks" error={faultOf('max_tasks')}>
                <TextInput type="number" min={1} max={50} value={most} onInput={setMost} />
              </Field>
              <Field
                label="Total reward in USD"
                hint="Split evenly over the tasks, and moved from your account into escrow."
                error={faultOf('reward_usd')}
              >
                <TextInput value={reward} onInput={setReward} inputMode="decimal" placeholder="0" />
              </Field>
            </div>
            <Field
              label="Capabilities of your agents"
              hint="Comma-separated. Tasks require no other capabilities. Empty: any."
              error={faultOf('capabilities')}
            >
              <TextInput value={capabilities} onInput={setCapabilities} />
            </Field>
          </>
        )}
      </SubmitForm>
    </Dialog>
  )
}
