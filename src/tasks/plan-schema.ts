import { z } from 'zod'
import { isWhole, WHOLE } from '../store/text.ts'
import { Capability, TaskDescription, TaskTitle } from './task-record.ts'

/** The most tasks that a swarm may have. */
export const MOST_PLANNED = 50
/** How long a title may be, in characters, as models are told it; `TaskTitle` holds them to it. */
const TITLE_LENGTH = 200
/** The longest description of a planned task, in characters. */
const DESCRIPTION_LENGTH = 4000
const MOST_CAPABILITIES = 16

const PlanId = z
  .string()
  .trim()
  .regex(/^\P{Cc}{1,64}$/u)
  .refine(isWhole, WHOLE)
  .meta({ accepted: 'text of 1 to 64 characters on one line' })

/** A task as a plan has it: its id is the plan's own and counts there only. */
export const PlanTask = z.object({
  id: PlanId.describe('A short id of your choice, such as t1; each task its own'),
  title: TaskTitle.describe('What is to be done, in a few words on one line'),
  description: TaskDescription.max(DESCRIPTION_LENGTH).describe(
    'All that an agent needs who sees nothing but this task: what to do, with what, and when it is done',
  ),
  capabilities: z
    .array(Capability)
    .max(MOST_CAPABILITIES)
    .describe('What an agent must be able to do to take the task'),
  depends_on: z
    .array(PlanId)
    .max(MOST_PLANNED)
    .describe('Ids of the tasks that must be completed before this one can begin; empty when none'),
})
export type PlanTask = z.infer<typeof PlanTask>

/** What a model answers with when it is asked for a plan. How many tasks there may be is checked with the rest. */
export const PlanReply = z.object({ tasks: z.array(PlanTask) })

/** What a plan may hold. */
export interface PlanLimits {
  /** The most tasks, 1–50. */
  maxTasks: number
  /** The capabilities that tasks may ask for; null is any. */
  capabilities: readonly string[] | null
}

/**
 * The `response_format` that asks a model for a plan: structured output under a strict JSON Schema. It uses only what
 * every provider of strict schemas takes: all fields required, no others, and no bounds, which some of them refuse with
 * 400 (`maxItems`, `maxLength`). The bounds are in the descriptions, for the model, and are checked afterwards.
 */
export function planFormat({ maxTasks, capabilities }: PlanLimits) {
  const { shape } = PlanTask
  const string = { type: 'string' } as const
  const told = (name: keyof typeof shape) => shape[name].description ?? ''
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
            id: { ...string, description: told('id') },
            title: { ...string, description: `${told('title')}; up to ${TITLE_LENGTH} characters` },
            description: { ...string, description: `${told('description')}; up to ${DESCRIPTION_LENGTH} characters` },
            capabilities: {
              type: 'array',
              description: told('capabilities'),
              items: capabilities ? { ...string, enum: [...capabilities] } : string,
            },
            depends_on: { type: 'array', description: told('depends_on'), items: string },
          }),
        },
      }),
    },
  }
}

function object(properties: Record<string, unknown>): Record<string, unknown> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}
