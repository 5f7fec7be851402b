import { useState } from 'preact/hooks'
import { ApiError, api } from '../api.ts'
import { Button, Dialog, ErrorNote, Field, notify, TextInput } from '../components/index.ts'
import { go, href } from '../router.ts'
import { words } from './tasks-new.tsx'
import { amountIn } from './wallet-limits.tsx'

/** Has a goal divided into tasks. */
export function NewSwarmDialog({ onClose }: { onClose: () => void }) {
  const [goal, setGoal] = useState('')
  const [most, setMost] = useState('8')
  const [reward, setReward] = useState('')
  const [capabilities, setCapabilities] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const fault = error instanceof ApiError ? error : null
  const faultOf = (field: string) => (fault?.param?.split('.')[0] === field ? fault.message : null)
  const isShown = ['goal', 'max_tasks', 'reward_usd', 'capabilities'].some((field) => faultOf(field) !== null)

  const make = async () => {
    setBusy(true)
    setError(null)
    try {
      const { swarm_id, tasks } = await api.post<{ swarm_id: string; tasks: unknown[] }>('/api/tasks/swarm', {
        goal,
        max_tasks: amountIn(most) ?? 8,
        reward_usd: amountIn(reward) ?? 0,
        capabilities: words(capabilities),
      })
      notify(`The goal is divided into ${tasks.length} tasks.`)
      onClose()
      go(href('swarm', { id: swarm_id }))
    } catch (thrown) {
      setError(thrown)
      setBusy(false)
    }
  }
  return (
    <Dialog title="New swarm" open onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <Field label="Goal" hint="What is to be reached, in your own words." error={faultOf('goal')}>
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
        {!isShown && <ErrorNote error={error} />}
        {busy && <p class="hint">The model is planning; this can take a minute.</p>}
        <div class="actions end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={busy}>
            Divide it
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
