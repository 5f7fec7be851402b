import * as z from 'zod'
import type { AgentModel } from '../../src/coding-agents/coding-agent.ts'

/** Time limit for listing models, in milliseconds. */
const TIMEOUT_MS = 5000

const Tokens = z.number().int().positive().optional().catch(undefined)
const List = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      context_length: Tokens,
      top_provider: z.object({ max_completion_tokens: Tokens }).optional().catch(undefined),
    }),
  ),
})

/** Answer of a gateway that was asked for its models. */
interface Listed {
  /** Null when it does not tell them. */
  models: AgentModel[] | null
  /** Status of the answer. Null without one. */
  status: number | null
}

/** Asks a gateway for its models. */
export async function listedModels(url: string, key: string): Promise<Listed> {
  let status: number | null = null
  try {
    const response = await fetch(`${url}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'error',
    })
    status = response.status
    if (!response.ok) return { models: null, status }
    const { data } = List.parse(await response.json())
    const models = data.map(({ id, context_length, top_provider }) => ({
      id,
      context: context_length,
      output: top_provider?.max_completion_tokens,
    }))
    return { models, status }
  } catch {
    return { models: null, status }
  }
}
