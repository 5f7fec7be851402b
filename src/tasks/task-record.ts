import * as z from 'zod'
import { SETTLEMENT_MODES, type SettlementMode } from '../chain/settlements.ts'
import { GazeLevel } from '../config/sections/gaze-section.ts'
import { AttestationId, Recipient, TaskId, TtlSeconds } from '../escrow/escrow-record.ts'
import { TASK_STATUSES, taskStatusAt } from '../escrow/task-status.ts'
import { Memory } from '../memory/records/memory-record.ts'
import { ReviewDemand } from '../review/task-review.ts'
import { ListQuery } from '../store/page.ts'
import { isWhole, WHOLE } from '../store/storable-text.ts'
import type { TaskRow } from '../store/tables/tasks-tables.ts'
import { Amount, toUsd } from '../text/money.ts'

const MAX_CAPABILITIES = 32
/** Maximum number of dependencies of a task. */
const MAX_DEPENDENCIES = 50

const noNul = (text: string) => !text.includes('\0')

/** Title of a task. */
export const TaskTitle = z
  .string()
  .trim()
  .regex(/^\P{Cc}{1,200}$/u)
  .refine(isWhole, WHOLE)
  .meta({ accepted: 'text of 1 to 200 characters on one line' })

/** Description of a task. */
export const TaskDescription = z
  .string()
  .max(20_000)
  .refine(noNul, 'must not contain the NUL character')
  .refine(isWhole, WHOLE)

/** Capability that a task requires of an agent. */
export const Capability = z
  .string()
  .trim()
  .regex(/^\P{Cc}{1,64}$/u)
  .refine(isWhole, WHOLE)
  .meta({ accepted: 'text of 1 to 64 characters on one line' })

const Capabilities = z
  .array(Capability)
  .max(MAX_CAPABILITIES)
  .transform((names) => [...new Set(names)])

/** Name of an agent, chosen by the agent. */
const AgentName = z
  .string()
  .trim()
  .regex(/^\P{Cc}{1,128}$/u)
  .refine(isWhole, WHOLE)
  .describe('Name of the agent, of its own choice')
  .meta({ accepted: 'text of 1 to 128 characters on one line' })

/** Id of a swarm. */
export const SwarmId = z
  .string()
  .regex(/^swarm_[0-9a-f]{32}$/)
  .meta({ accepted: 'the id of a swarm, such as swarm_019aa5b2c3d47e6f8091a2b3c4d5e6f7' })

const LeaseSeconds = z.int().min(1).max(86_400)

/** A task to create. */
export const NewTask = z.strictObject({
  title: TaskTitle,
  description: TaskDescription.default(''),
  reward_usd: Amount.default(0).describe('Locked in escrow when the task is created'),
  capabilities: Capabilities.default([]).describe('Capabilities that the agent must have'),
  gaze_required: z.boolean().default(false).describe('A claim needs an attestation'),
  gaze_level: GazeLevel.optional().describe(
    'Least level of evidence of the attestations for a claim and for the reward; `gaze.require` by default',
  ),
  review: ReviewDemand.optional(),
  recipient: Recipient.optional(),
  depends_on: z
    .array(TaskId)
    .max(MAX_DEPENDENCIES)
    .transform((ids) => [...new Set(ids)])
    .default([])
    .describe('Tasks that must be completed before this one opens'),
  ttl_seconds: TtlSeconds,
})
export type NewTask = z.infer<typeof NewTask>

/** Filters of a list of tasks. */
export const TaskList = ListQuery.extend({
  status: z.enum(TASK_STATUSES).optional(),
  agent: AgentName.optional(),
  capability: Capability.optional(),
  swarm_id: SwarmId.optional(),
})
export type TaskList = z.infer<typeof TaskList>

/** A claim of a task. */
export const Claim = z.strictObject({
  agent: AgentName,
  attestation_id: AttestationId.optional(),
  lease_seconds: LeaseSeconds.default(3600).describe('Length of the lease, renewed by heartbeats.'),
})
export type Claim = z.infer<typeof Claim>

/** A heartbeat of a claim, with its token, or with its agent when the token was lost. */
export const Heartbeat = z
  .strictObject({
    claim_token: z.string().min(1).max(128).optional(),
    agent: AgentName.optional().describe('Agent of the claim, enough when the token was lost'),
  })
  .refine(({ claim_token, agent }) => claim_token !== undefined || agent !== undefined, {
    path: ['claim_token'],
    message: 'missing, and so is agent',
  })
export type Heartbeat = z.infer<typeof Heartbeat>

/** The outcome of a task. */
export const Completion = z.strictObject({
  agent: AgentName,
  claim_token: z.string().min(1).max(128).optional(),
  result: Memory.shape.value.default(null).describe('Text, or any JSON value of at most 256 KiB.'),
  status: z.enum(['completed', 'failed']).default('completed'),
})
export type Completion = z.infer<typeof Completion>

/** A task as shown to callers. */
export const Task = z.object({
  id: TaskId,
  title: z.string(),
  description: z.string(),
  reward_usd: z.number(),
  capabilities: z.array(z.string()),
  status: z.enum(TASK_STATUSES),
  creator: z.string().describe('Id of the creating key'),
  agent: z.string().nullable(),
  claimed_by: z.string().nullable().describe('Id of the claiming key, which receives the reward'),
  result: z.unknown(),
  gaze_required: z.boolean(),
  gaze_level: GazeLevel.nullable().describe('Level that its attestations need; null: `gaze.require` of the settings'),
  review: ReviewDemand.nullable(),
  depends_on: z.array(z.string()),
  swarm_id: z.string().nullable(),
  escrow_id: z.string().nullable(),
  lease_expires_at: z.iso.datetime().nullable(),
  claimed_at: z.iso.datetime().nullable().describe('Time of the current claim, or of the one that completed it'),
  completed_at: z.iso.datetime().nullable(),
  reward_expires_at: z.iso
    .datetime()
    .nullable()
    .describe('End of the reward’s lock; the task cannot be claimed after it'),
  reward_settlement: z
    .enum(SETTLEMENT_MODES)
    .nullable()
    .describe('`evm`: the reward is paid on a chain. `ledger`: in the ledger, as rewards locked on credit always are'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type Task = z.infer<typeof Task>

/** Number of tasks by status, and sums of their rewards. */
export const TaskStats = z.object({
  total: z.int(),
  by_status: z.record(z.enum(TASK_STATUSES), z.int()),
  reward_usd: z.object({
    locked: z.number().describe('In escrow now, expired ones included'),
    paid: z.number(),
    refunded: z.number(),
  }),
})
export type TaskStats = z.infer<typeof TaskStats>

/** Builds the shown task of a row at `at`. */
export function toTask(row: TaskRow, at: string): Task {
  const status = taskStatusAt(row, at)
  return {
    id: row.id,
    title: row.title,
    description: row.description,
    reward_usd: toUsd(row.reward_micros),
    capabilities: JSON.parse(row.capabilities),
    status,
    creator: row.creator,
    agent: status === 'open' ? null : row.agent,
    claimed_by: status === 'open' ? null : row.claimed_by,
    result: row.result === null ? null : JSON.parse(row.result),
    gaze_required: row.gaze_required === 1,
    gaze_level: row.gaze_level as GazeLevel | null,
    review: row.review === null ? null : JSON.parse(row.review),
    depends_on: JSON.parse(row.depends_on),
    swarm_id: row.swarm_id,
    escrow_id: row.escrow_id,
    lease_expires_at: status === 'claimed' ? row.lease_expires_at : null,
    claimed_at: status === 'open' ? null : row.claimed_at,
    completed_at: row.completed_at,
    reward_expires_at: row.reward_expires_at,
    reward_settlement: row.reward_settlement as SettlementMode | null,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
