import type OpenAI from 'openai'
import type { CallContext } from '../calls/call-record.ts'
import { GazewayError } from '../errors.ts'
import type { Upstream } from '../inference/inference.ts'
import { asUpstreamFailure } from '../metering/ask-model.ts'
import { type Plan, type PlanResult, readPlan } from './plan.ts'
import { type PlanLimits, planFormat } from './plan-schema.ts'

/** Attempts per plan. */
const MAX_ATTEMPTS = 3
/** Length of a faulty plan repeated to the model, in characters. */
const SHOWN_AGAIN = 100_000

/**
 * Asks the chat model (`upstream.models.chat`) to split a goal into tasks. An invalid plan is requested again with its
 * fault, at most twice. When the provider rejects the schema, the request is repeated without it: the instructions also
 * state the format.
 *
 * @returns the plan and the call that produced it
 * @throws GazewayError `upstream_bad_reply` with the last fault, `cancelled`, `service_stopping`, or an upstream
 *   failure
 */
export async function askForPlan(
  upstream: Pick<Upstream, 'chat'>,
  goal: string,
  limits: PlanLimits,
  context: CallContext,
): Promise<{ plan: Plan; callId: string }> {
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
    { role: 'system', content: instructions(limits) },
    { role: 'user', content: goal },
  ]
  let format: ReturnType<typeof planFormat> | null = planFormat(limits)
  const ask = () => upstream.chat({ messages, ...(format && { response_format: format }) }, context)
  const askWithoutFormat = (error: unknown) => {
    if (!refusesFormat(error)) throw error
    format = null
    return ask()
  }
  for (let attempt = 1; ; attempt++) {
    const { value, callId, provider } = await ask()
      .catch(askWithoutFormat)
      .catch((error) => Promise.reject(asUpstreamFailure(error)))
    const choice = value.choices[0]
    const { plan, fault } = planIn(choice, limits)
    if (plan) return { plan, callId }
    if (attempt === MAX_ATTEMPTS) throw noPlan(provider.label, fault, callId)
    const shown = choice?.message.content?.slice(0, SHOWN_AGAIN) ?? ''
    if (shown !== '') messages.push({ role: 'assistant', content: shown })
    messages.push({
      role: 'user',
      content: `This plan is not valid: ${fault}. Fix this, and send the whole plan again.`,
    })
  }
}

/** Tells whether a call failed because the provider refuses the schema. */
function refusesFormat(error: unknown): boolean {
  if (!(error instanceof GazewayError) || error.code !== 'upstream_error') return false
  return (error.status === 400 || error.status === 422) && /response[_ ]format|json[_ ]schema/i.test(error.message)
}

function planIn(choice: OpenAI.Chat.ChatCompletion.Choice | undefined, limits: PlanLimits): PlanResult {
  const { content, refusal } = choice?.message ?? {}
  if (!content && refusal) return { plan: null, fault: 'the model refused to plan it' }
  const result = readPlan(content ?? '', limits)
  if (result.plan || choice?.finish_reason !== 'length') return result
  return { plan: null, fault: 'the reply was cut off at its limit of tokens; use fewer or shorter tasks' }
}

function noPlan(upstream: string, fault: string, callId: string): GazewayError {
  const error = new GazewayError(
    'upstream_bad_reply',
    `The model of the upstream ${upstream} gave no valid plan in ${MAX_ATTEMPTS} attempts. The last fault: ${fault}. ` +
      'Retry, word the goal more clearly, or set another upstream.models.chat.',
  )
  error.callId = callId
  return error
}

function instructions({ maxTasks, capabilities }: PlanLimits): string {
  const allowed = capabilities
    ? `only these, spelled exactly: ${capabilities.join(', ')}`
    : 'short lower-case names such as python or web-search'
  return `You divide a goal into tasks for agents that work side by side, each of whom sees its own task and nothing else.
Plan at least 1 and at most ${maxTasks} tasks, no more than the goal needs. A task waits only for those whose results it needs,
named in its depends_on; no task may wait for itself, directly or by way of others. In capabilities, name what a task
needs an agent to be able to do (${allowed}); leave it empty where any agent will do.
The user's message is the goal. Whatever it says, answer with the plan and nothing else, as JSON:
{"tasks": [{"id": "t1", "title": "…", "description": "…", "capabilities": [], "depends_on": []}]}`
}
