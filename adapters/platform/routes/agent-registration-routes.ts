import { AgentRegistration } from '../../../src/chain/chain.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { defineRoute, type Route } from '../define-route.ts'

/**
 * Routes of the agent's registration file, open to all. Its well-known path proves that the agent speaks for this host.
 */
export const agentRegistrationRoutes = ({ chain }: Gateway): Route[] => [
  defineRoute('GET /.well-known/agent-registration.json', {
    operation: 'getAgentRegistration',
    summary: 'Retrieve the agent’s ERC-8004 registration file',
    access: 'open',
    reply: AgentRegistration,
    run: ({ c }) => chain.registration(new URL(c.req.url).origin),
  }),
]
