import * as z from 'zod'
import { isWhole, WHOLE } from '../store/storable-text.ts'
import { Capability, TaskDescription, TaskTitle } from './task-record.ts'

/** Maximum number of tasks of a swarm. */
export const MAX_PLANNED = 50
/** Longest title in characters, for the model's schema; `TaskTitle` enforces it. */
const TITLE_LENGTH = 200
/** Longest description of a planned task in characters. */
const DESCRIPTION_LENGTH = 4000
const MAX_CAPABILITIES = 16

const PlanId = z
  .string()
  .trim()
  .regex(/^\P{Cc}{1,64}$/u)
  .refine(isWhole, WHOLE)
  .meta({ accepted: 'text of 1 to 64 characters on one line' })

/** A task of a plan. Its id is valid within the plan only. */
export const PlanTask = z.object({
  id: PlanId.describe('A short id of your choice, such as t1; each task its own'),
  title: TaskTitle.describe('What is to be done, in a few words on one line'),
  description: TaskDescription.max(DESCRIPTION_LENGTH).describe(
    'All that an agent needs who sees nothing but this task: what to do, with what, and when it is done',
  ),
  capabilities: z.array(Capability).max(MAX_CAPABILITIES).describe('What an agent must be able to do to take the task'),
  depends_on: z
    .array(PlanId)
    .max(MAX_PLANNED)
    .describe('Ids of the tasks that must be completed before this one can begin; empty when none'),
})
export type PlanTask = z.infer<typeof PlanTask>

/** Reply of a model to a request for a plan. The number of tasks is checked later. */
export const PlanReply = z.object({ tasks: z.array(PlanTask) })

/** Limits of a plan. */
export interface PlanLimits {
  /** Maximum number of tasks, 1–50. */
  maxTasks: number
  /** Capabilities that tasks may require; null for any. */
  capabilities: readonly string[] | null
}

/**
 * Builds the `response_format` of a plan: structured output under a strict JSON Schema. It uses only what all providers
 * support: all fields are required, no others are allowed, and there are no bounds. Some providers reject `maxItems` or
 * `maxLength` with 400. Descriptions state the bounds for the model, and the reply is checked against them.
 */
export function planFormat({ maxTasks, capabilities }: PlanLimits) {
  const { shape } = PlanTask
  const string = { type: 'string' } as const
  const descriptionOf = (name: keyof typeof shape) => shape[name].description ?? ''
  return {
    type: 'json_schema' as const,
    json_schema: {
      name: 'plan',
      strict: true,
      schema: object({
        tasks: {
          type: 'array',
          description: `The tasks: at least 1, at most ${maxTasks}`,
          items: object({
            id: { ...string, description: descriptionOf('id') },
            title: { ...string, description: `${descriptionOf('title')}; up to ${TITLE_LENGTH} characters` },
            description: {
              ...string,
              description: `${descriptionOf('description')}; up to ${DESCRIPTION_LENGTH} characters`,
            },
            capabilities: {
              type: 'array',
              description: descriptionOf('capabilities'),
              items: capabilities ? { ...string, enum: [...capabilities] } : string,
            },
            depends_on: { type: 'array', description: descriptionOf('depends_on'), items: string },
          }),
        },
      }),
    },
  }
}

function object(properties: Record<string, unknown>): Record<string, unknown> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}
