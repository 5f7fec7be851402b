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
        action="Divide it"
        waiting="The model is planning; this can take a minute."
        onSubmit={make}
        onCancel={onClose}
      >
        {(faultOf) => (
          <>
            <Field
              label="Goal"
              hint="What is to be reached, in your own words. Ctrl+Enter divides it."
              error={faultOf('goal')}
            >
              <TextInput value={goal} onInput={setGoal} rows={4} required />
            </Field>
            <div class="fields">
              <Field label="At most so many tasks" error={faultOf('max_tasks')}>
                <TextInput type="number" min={1} max={50} value={most} onInput={setMost} />
              </Field>
              <Field
                label="Reward in USD, for all together"
                hint="Split evenly; moves from your account into escrow."
                error={faultOf('reward_usd')}
              >
                <TextInput value={reward} onInput={setReward} inputMode="decimal" placeholder="0" />
              </Field>
            </div>
            <Field
              label="What your agents can do"
              hint="Capabilities, with commas between; tasks ask for nothing else. Empty: anything."
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
