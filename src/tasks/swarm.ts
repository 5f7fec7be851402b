import * as z from 'zod'
import type { CallContext } from '../calls/call-record.ts'
import { GazewayError } from '../errors.ts'
import type { Escrows } from '../escrow/escrow.ts'
import { Recipient, TtlSeconds } from '../escrow/escrow-record.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import type { Upstream } from '../inference/inference.ts'
import { newId } from '../text/ids.ts'
import { Amount, type Micros, toMicros, toUsd } from '../text/money.ts'
import type { Balances } from '../wallet/ledger/account-balances.ts'
import { whyEnded } from '../wire/service-stopping.ts'
import type { CreateGraph } from './create-graph.ts'
import type { Plan } from './plan.ts'
import { MAX_PLANNED, PlanTask } from './plan-schema.ts'
import { askForPlan } from './swarm-ask.ts'
import { Capability, NewTask, Task } from './task-record.ts'

/** A goal for a group of agents. */
export const NewSwarm = z.strictObject({
  goal: z.string().trim().min(1).max(16_000).describe('Goal in words'),
  max_tasks: z.int().min(1).max(MAX_PLANNED).default(8).describe('Maximum number of tasks'),
  reward_usd: Amount.default(0).describe('Reward of all tasks together, split evenly and locked at once'),
  capabilities: z
    .array(Capability)
    .max(64)
    .default([])
    .describe('Capabilities of the available agents; tasks require no others. Empty: any'),
  dry_run: z.boolean().default(false).describe('Plan only, create nothing'),
  gaze_required: z.boolean().default(false).describe('A claim of any of the tasks needs an attestation'),
  gaze_level: NewTask.shape.gaze_level,
  recipient: Recipient.optional(),
  ttl_seconds: TtlSeconds,
})
export type NewSwarm = z.infer<typeof NewSwarm>

const PlannedShare = PlanTask.extend({ reward_usd: z.number() })

/** A plan, carried out or not. */
export const SwarmReply = z.object({
  swarm_id: z.string().nullable().describe('Null in a dry run'),
  goal: z.string(),
  tasks: z
    .union([z.array(Task), z.array(PlannedShare)])
    .describe('The created tasks; in a dry run those of the plan, with ids of the plan'),
  edges: z
    .array(z.tuple([z.string(), z.string()]))
    .describe('Every dependency as [from, to]: the task "to" waits for the task "from"'),
  order: z.array(z.string()).describe('The ids of the tasks, each after those that it waits for'),
  call_id: z.string().describe('Id of the call that produced the plan'),
})
export type SwarmReply = z.infer<typeof SwarmReply>

/** Dependencies of {@link createSwarm}. */
export interface SwarmDeps {
  upstream: Pick<Upstream, 'chat'>
  /** Reads the balances of a caller. */
  balances(callerId: string): Promise<Pick<Balances, 'available_usd'>>
  escrows: Pick<Escrows, 'funding'>
  createGraph: CreateGraph
}

/** Swarms: goals divided into tasks. */
export interface Swarm {
  /**
   * Asks the chat model (`upstream.models.chat`) to divide a goal into dependent tasks, and creates them. An invalid
   * plan is requested again with its fault, at most twice. Nothing is created on an error.
   *
   * @param keep called with the reply in the transaction that creates the tasks
   * @throws GazewayError
   * - `insufficient_credit`, or `validation_failed` for the recipient, before a model is asked or when rewards are
   *   locked
   * - `upstream_bad_reply` with the last fault when there is no valid plan
   * - `cancelled`, `service_stopping`, or an upstream failure
   */
  create(input: NewSwarm, callerId: string, context: CallContext, keep?: Keep<SwarmReply>): Promise<SwarmReply>
}

/** Creates the swarms. */
export function createSwarm({ upstream, balances, escrows, createGraph }: SwarmDeps): Swarm {
  return {
    async create(input, callerId, context, keep) {
      const { goal, max_tasks, capabilities, dry_run, recipient } = input
      const total = toMicros(input.reward_usd) as Micros
      if (!dry_run) await requireFunds(total, callerId, recipient ?? null)
      const limits = { maxTasks: max_tasks, capabilities: capabilities.length > 0 ? capabilities : null }
      const { plan, callId } = await askForPlan(upstream, goal, limits, context)
      const rewards = splitReward(total, plan.order)
      const shareOf = (id: string): Micros => rewards.get(id) ?? 0
      if (dry_run) {
        const tasks = plan.tasks.map((task) => ({ ...task, reward_usd: toUsd(shareOf(task.id)) }))
        return { swarm_id: null, goal, tasks, edges: plan.edges, order: plan.order, call_id: callId }
      }
      if (context.signal?.aborted) throw whyEnded(context.signal.reason, 'The call was cancelled by its client.')
      const swarmId = newId('swarm')
      const graph = plan.tasks.map(({ id, depends_on, ...task }) => ({
        ...task,
        ref: id,
        rewardMicros: shareOf(id),
        dependsOn: depends_on,
      }))
      const replyOf = (tasks: Task[]) => ({
        swarm_id: swarmId,
        goal,
        tasks,
        ...inIdsOf(tasks, plan),
        call_id: callId,
      })
      const tasks = await createGraph(
        {
          callerId,
          swarmId,
          goal,
          tasks: graph,
          gazeRequired: input.gaze_required,
          gazeLevel: input.gaze_level,
          ttlSeconds: input.ttl_seconds,
          ...(recipient !== undefined && { recipient }),
        },
        keep && ((trx, made) => keep(trx, replyOf(made))),
      )
      return replyOf(tasks)
    },
  }

  /** Rejects rewards that could not be locked, before a model call is paid for. The lock itself checks again. */
  async function requireFunds(micros: Micros, callerId: string, recipient: string | null): Promise<void> {
    const { limits } = await escrows.funding(callerId, recipient)
    if (micros === 0) return
    const { available_usd } = await balances(callerId)
    const most = Math.max(0, (toMicros(available_usd) ?? 0) + limits.creditMicros)
    if (micros <= most) return
    throw new GazewayError(
      'insufficient_credit',
      `${toUsd(micros)} USD is needed for the tasks, and ${toUsd(most)} USD is available. Deposit funds, or lower reward_usd.`,
      { param: 'reward_usd' },
    )
  }
}

/**
 * Splits an amount evenly over tasks. The first ones receive one more micro-dollar each until the sum is exact.
 *
 * @param order ids of the tasks
 * @example splitReward(10, ['a', 'b', 'c']) // Map { 'a' => 4, 'b' => 3, 'c' => 3 }
 */
export function splitReward(total: Micros, order: readonly string[]): Map<string, Micros> {
  const share = Math.floor(total / order.length)
  const left = total - share * order.length
  return new Map(order.map((id, place) => [id, place < left ? share + 1 : share]))
}

/** Maps a plan's edges and order to the ids of the created tasks. */
function inIdsOf(made: readonly { id: string }[], { tasks, edges, order }: Plan): Pick<Plan, 'edges' | 'order'> {
  const ids = new Map(tasks.map((task, place) => [task.id, made[place]?.id ?? '']))
  const idOf = (planned: string) => ids.get(planned) ?? ''
  return { edges: edges.map(([from, to]) => [idOf(from), idOf(to)]), order: order.map(idOf) }
}
