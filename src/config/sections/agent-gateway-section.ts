import * as z from 'zod'
import { isBaseUrl } from '../addresses.ts'
import { section } from './section.ts'
import { credential, milliseconds } from './setting-values.ts'

/** The agent gateway that the platform forwards /v1 to. */
export const agentGatewaySection = section(() => ({
  url: z.string().max(2048).refine(isBaseUrl, 'not a base URL').nullable().default(null).meta({
    variable: 'GAZEWAY_AGENT_GATEWAY_URL',
    description: 'The agent gateway that the platform passes /v1 on to. Unset: the gateway of this machine.',
    accepted: 'a base URL such as http://127.0.0.1:8642 (without credentials or query), or null',
  }),
  key: credential.nullable().default(null).meta({
    variable: 'GAZEWAY_AGENT_GATEWAY_KEY',
    description: 'API key for the agent gateway.',
    accepted: 'a key without spaces, or null',
    secret: 'value',
  }),
  timeout_ms: milliseconds
    .default(600_000)
    .describe('Idle timeout of the agent gateway, before its first byte and between bytes.'),
}))
