import type { ComponentChildren } from 'preact'
import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import type { Names } from '../../components/caller-name.tsx'
import { Confirm, Facts, notify } from '../../components/components.ts'
import { usdExact } from '../../format.ts'

/** An escrow that is released or refunded. */
export interface Moving {
  escrow: Escrow
  task: Task
  names: Names
  onMoved: () => void
  onClose: () => void
}

/**
 * Confirms that the money of an escrow moves.
 *
 * @param facts from where, to whom and for what
 * @param move sends the request; returns the notice that the money has moved
 * @param children the field of the request
 */
export function MoveDialog(
  props: Omit<Moving, 'task' | 'names'> & {
    action: 'Release' | 'Refund'
    facts: Record<string, ComponentChildren>
    move: () => Promise<string>
    children: ComponentChildren
  },
) {
  const { escrow, action, facts, move, onMoved, onClose } = props
  const amount = usdExact(escrow.amount_usd)
  const what = (
    <>
      <strong>{amount}</strong> in {escrow.token}
    </>
  )
  const confirm = async () => {
    notify(`${amount} ${await move()}.`)
    onMoved()
  }
  return (
    <Confirm
      title={`${action} ${amount}?`}
      open
      tone={action === 'Release' ? 'primary' : 'danger'}
      action={`${action} ${amount}`}
      onConfirm={confirm}
      onClose={onClose}
      body={
        <div class="stack">
          <Facts of={{ 'What moves': what, ...facts }} />
          {props.children}
        </div>
      }
    />
  )
}
