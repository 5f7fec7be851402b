import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import { nameOf } from '../../components/caller-name.tsx'
import { Countdown } from '../../components/content.ts'
import type { Moment } from '../../components/timeline.tsx'
import { shortId, usdExact } from '../../format.ts'
import { href } from '../../router.ts'

/** Events of a task and its escrows, and the possible next ones. */
export function momentsOf(task: Task, escrows: readonly Escrow[]): Moment[] {
  const made: Moment = { at: task.created_at, title: `Created by ${nameOf(task.creator)}` }
  return [
    made,
    ...escrows.map(lockMoment),
    ...workMoments(task),
    ...escrows.flatMap(endMoments),
    ...nextMoments(task, escrows),
  ]
}

function lockMoment({ created_at: at, amount_usd, payer }: Escrow): Moment {
  return { at, title: `${usdExact(amount_usd)} locked`, detail: `By ${nameOf(payer)}`, tone: 'accent' }
}

function endMoments(escrow: Escrow): Moment[] {
  const amount = usdExact(escrow.amount_usd)
  const moments: Moment[] = []
  if (escrow.released_at)
    moments.push({
      at: escrow.released_at,
      title: `${amount} released to ${nameOf(escrow.recipient ?? '')}`,
      tone: 'good',
      detail: escrow.gaze.attestation_id && (
        <>
          Against the attestation <code title={escrow.gaze.attestation_id}>{shortId(escrow.gaze.attestation_id)}</code>
        </>
      ),
    })
  if (escrow.settled_at)
    moments.push({
      at: escrow.settled_at,
      title: 'Paid on the chain',
      tone: 'good',
      detail: escrow.settlement.tx_hash && <code>{escrow.settlement.tx_hash}</code>,
    })
  if (escrow.status === 'expired') moments.push({ at: escrow.expires_at, title: 'Escrow expired', tone: 'warn' })
  if (escrow.refunded_at)
    moments.push({
      at: escrow.refunded_at,
      title: `${amount} back to ${nameOf(escrow.payer)}`,
      detail: escrow.reason,
      tone: 'warn',
    })
  return moments
}

/** Events by agents. The time of a claim is not stored once it has ended. */
function workMoments(task: Task): Moment[] {
  const { status, agent, updated_at: at } = task
  const claimed: Moment = { at: null, title: `Claimed by ${agent}`, tone: 'warn' }
  switch (status) {
    case 'claimed':
      return [{ ...claimed, at, title: `With ${agent}`, detail: <Lease of={task} /> }]
    case 'completed':
      return [claimed, { at, title: `Completed by ${agent}`, tone: 'good' }]
    case 'failed':
      return [claimed, { at, title: `Given up by ${agent}`, tone: 'bad' }]
    case 'cancelled':
      return [...(agent ? [claimed] : []), { at, title: 'Cancelled', tone: 'bad' }]
    default:
      return at === task.created_at ? [] : [{ at, title: status === 'open' ? 'Open for agents' : 'Changed' }]
  }
}

const Lease = ({ of }: { of: Task }) =>
  of.lease_expires_at && (
    <>
      Last heartbeat; the lease ends in <Countdown to={of.lease_expires_at} />
    </>
  )

/** Events that the task waits for. */
function nextMoments(task: Task, escrows: readonly Escrow[]): Moment[] {
  const ahead = (title: string, detail?: Moment['detail']): Moment => ({ at: null, title, detail, ahead: true })
  const locked = escrows.find(({ status }) => status === 'locked')
  const expiry = locked && (
    <>
      The reward stays locked for <Countdown to={locked.expires_at} over="no longer" />
    </>
  )
  if (task.status === 'blocked') return [ahead('Opens when the tasks it depends on are completed', expiry)]
  if (task.status === 'open') return [ahead('Waiting for an agent to claim it', expiry)]
  if (task.status === 'claimed') return [ahead('Waiting for completion', expiry)]
  if (task.status === 'completed' && locked)
    return [
      ahead(
        'Waiting for the release of the reward',
        <>
          {expiry}. It needs an attestation of attention:{' '}
          <a href={href('capture', { query: { task: task.id } })}>record one</a>.
        </>,
      ),
    ]
  if (escrows.some(({ status }) => status === 'expired')) return [ahead('Waiting for the refund of the reward')]
  return []
}
