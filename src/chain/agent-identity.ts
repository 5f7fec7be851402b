import * as z from 'zod'
import type { Config } from '../config/config-schema.ts'

/** Type of an ERC-8004 registration file. */
const REGISTRATION = 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1'

/** An ERC-8004 registration file: https://eips.ethereum.org/EIPS/eip-8004#agent-uri-and-agent-registration-file */
export const AgentRegistration = z.object({
  type: z.literal(REGISTRATION),
  name: z.string(),
  description: z.string(),
  image: z.string().describe('Empty without an image'),
  services: z.array(z.object({ name: z.string(), endpoint: z.string(), version: z.string().optional() })),
  x402Support: z.boolean(),
  active: z.boolean(),
  registrations: z.array(z.object({ agentId: z.int(), agentRegistry: z.string() })),
  supportedTrust: z.array(z.string()),
})
export type AgentRegistration = z.infer<typeof AgentRegistration>

/**
 * Builds this agent's registration file.
 *
 * @param address the wallet's account; null without one
 * @param origin origin of the request, used when `chain.agent.public_url` is not set
 */
export function agentRegistration(
  { chain: { agent, settlement, networks } }: Pick<Config, 'chain'>,
  address: string | null,
  origin: string,
): AgentRegistration {
  const url = (agent.public_url ?? origin).replace(/\/+$/, '')
  const chainId = settlement.chain_id ?? Object.keys(networks)[0]
  const wallet = address === null || chainId === undefined ? null : `eip155:${chainId}:${address}`
  return {
    type: REGISTRATION,
    name: agent.name,
    description: agent.description,
    image: agent.image ?? '',
    services: [
      { name: 'web', endpoint: `${url}/` },
      { name: 'OpenAPI', endpoint: `${url}/openapi.json`, version: '3.1.0' },
      ...(wallet === null ? [] : [{ name: 'agentWallet', endpoint: wallet }]),
    ],
    // Payments use HTTP 402 with MPP's `Payment` scheme. A client of x402 looks for its headers and finds none.
    x402Support: false,
    active: agent.active,
    registrations: agent.registrations.map(({ agent_id, agent_registry }) => ({
      agentId: agent_id,
      agentRegistry: agent_registry,
    })),
    supportedTrust: [...agent.supported_trust],
  }
}
