import { useState } from 'preact/hooks'
import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import { api } from '../../api.ts'
import { Caller, nameOf } from '../../components/caller-name.tsx'
import {
  Badge,
  Card,
  Copy,
  ErrorNote,
  Facts,
  Grid,
  NotLoaded,
  notify,
  Page,
  Verbatim,
  When,
} from '../../components/content.ts'
import { Button, Confirm } from '../../components/forms.ts'
import { Exact } from '../../components/inline.tsx'
import { Timeline } from '../../components/timeline.tsx'
import { percent, shortId, usdExact } from '../../format.ts'
import type { List } from '../../paging.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { useLive } from '../../use-live.ts'
import { EscrowState, isLive } from '../escrow/escrow-state.tsx'
import { EscrowActions, type EscrowAsked, EscrowDialog } from '../escrow/move-escrow.tsx'
import { useTasks } from './find-task.ts'
import { momentsOf } from './task-moments.tsx'
import { isUnfinished, TASK_TONES } from './task-status-tone.ts'
import './tasks.css'

const ALL = { label: 'All tasks', href: href('tasks') }

/** History of a task and its reward, and the possible actions. */
export function TaskStory({ id, back = ALL }: { id: string; back?: typeof ALL }) {
  const task = useLive<Task>(`/api/tasks/${encodeURIComponent(id)}`, { everyMs: 2000 })
  const escrows = useLive<List<Escrow>>(`/api/wallet/escrow?task_id=${encodeURIComponent(id)}&limit=20`)
  const [asked, setAsked] = useState<EscrowAsked | null>(null)
  if (!task.data) {
    return (
      <Page title="Task" back={back}>
        <NotLoaded of={task} what="the task" />
      </Page>
    )
  }
  const { data } = task
  const reload = () => {
    task.reload()
    escrows.reload()
  }
  return (
    <Page
      title={data.title}
      back={back}
      intro={
        <>
          <Badge tone={TASK_TONES[data.status]}>{data.status}</Badge>
          {data.swarm_id && (
            <>
              {' · '}
              <a href={href('swarm', { id: data.swarm_id })}>Its swarm</a>
            </>
          )}
        </>
      }
      actions={<CancelTask task={data} escrows={escrows.data?.items} onCancelled={reload} />}
    >
      <ErrorNote error={task.error ?? escrows.error} onRetry={reload} />
      <Grid>
        <Card title="Timeline">
          <Timeline label="Timeline" moments={momentsOf(data, escrows.data?.items ?? [])} />
        </Card>
        <div class="stack">
          <Card title="Task">
            {data.description && <p class="task-text">{data.description}</p>}
            <TaskFacts of={data} />
          </Card>
          {escrows.data?.items.map((escrow) => (
            <EscrowCard key={escrow.id} escrow={escrow} task={data} onAsk={setAsked} />
          ))}
          {data.result !== null && (
            <Card title="Result">
              <Verbatim label="Text of the result" text={data.result} />
            </Card>
          )}
        </div>
      </Grid>
      {asked && <EscrowDialog asked={asked} onMoved={reload} onClose={() => setAsked(null)} />}
    </Page>
  )
}

function EscrowCard(props: { escrow: Escrow; task: Task; onAsk: (asked: EscrowAsked) => void }) {
  const { escrow } = props
  const { recipient } = escrow
  return (
    <Card
      title={`Escrow of ${usdExact(escrow.amount_usd)}`}
      actions={<EscrowActions escrow={escrow} task={props.task} onAsk={props.onAsk} />}
    >
      <Facts
        of={{
          Status: <EscrowState of={escrow} />,
          From: <Caller id={escrow.payer} />,
          To: recipient ? <Caller id={recipient} /> : 'the completing agent',
          Expires: <When at={escrow.expires_at} />,
          Id: <Copy text={escrow.id} isShort />,
        }}
      />
    </Card>
  )
}

function TaskFacts({ of }: { of: Task }) {
  return (
    <Facts
      of={{
        Reward: <Exact usd={of.reward_usd} />,
        'Created by': <Caller id={of.creator} />,
        Agent: of.agent && (
          <>
            {of.agent}
            {of.claimed_by && (
              <>
                , with the key <Caller id={of.claimed_by} />
              </>
            )}
          </>
        ),
        Requires: of.capabilities.length > 0 ? of.capabilities.join(', ') : 'no capabilities',
        Attention: of.gaze_required ? 'a claim needs an attestation' : 'needed for the reward only',
        'Level of attention': of.gaze_level,
        Review:
          of.review &&
          `the reward takes ${percent(of.review.coverage)} of the result’s lines read, at the level “${of.review.level}”`,
        'Waits for': of.depends_on.length > 0 && <TaskLinks ids={of.depends_on} />,
        Id: <Copy text={of.id} isShort />,
      }}
    />
  )
}

function TaskLinks({ ids }: { ids: readonly string[] }) {
  const tasks = useTasks(ids)
  return (
    <>
      {ids.map((id) => (
        <div key={id}>
          <a href={href('tasks', { id })}>{tasks.get(id)?.title ?? shortId(id)}</a> {tasks.get(id)?.status}
        </div>
      ))}
    </>
  )
}

/**
 * Cancels the task, for its creator and admins. First shows which money moves.
 *
 * @param props.escrows undefined before they are loaded
 */
function CancelTask(props: { task: Task; escrows: readonly Escrow[] | undefined; onCancelled: () => void }) {
  const { task, escrows, onCancelled } = props
  const [asking, setAsking] = useState(false)
  const live = escrows?.find(isLive)
  const { id = '', isAdmin = false } = session.value ?? {}
  if (!isUnfinished(task) || !(isAdmin || id === task.creator)) return null
  const cancel = async () => {
    await api.delete(`/api/tasks/${task.id}`)
    notify(`“${task.title}” is cancelled.`)
    onCancelled()
  }
  return (
    <>
      <Button onClick={() => setAsking(true)}>Cancel the task…</Button>
      {asking && (
        <Confirm
          title="Cancel this task?"
          action="Cancel the task"
          onConfirm={cancel}
          onClose={() => setAsking(false)}
          body={
            <div class="stack">
              {!escrows && <p>The locked reward moves back to its payer.</p>}
              {live && (
                <p>
                  <strong>{usdExact(live.amount_usd)}</strong> moves from its escrow back to{' '}
                  <strong>{nameOf(live.payer)}</strong>.
                </p>
              )}
              {escrows && !live && <p>No money moves: nothing is locked for the task.</p>}
              {task.agent && <p>The agent {task.agent}, which is working on it, is not paid.</p>}
              <p>Tasks that depend on it are also cancelled and refunded.</p>
            </div>
          }
        />
      )}
    </>
  )
}
