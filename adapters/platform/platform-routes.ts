import type { Agent } from '../../src/agent/agent.ts'
import type { Remote } from '../../src/agent-gateway/agent-gateway.ts'
import { createSessionDirectory } from '../../src/agent-gateway/directory.ts'
import type { Probe } from '../../src/agent-gateway/probe.ts'
import type { Gateway } from '../../src/gateway.ts'
import type { GroupedRoute, Route } from './define-route.ts'
import type { KeylessPayments } from './payments/open-payments.ts'
import { agentRegistrationRoutes } from './routes/agent-registration-routes.ts'
import { attestationRoutes } from './routes/attestation-routes.ts'
import { callRoutes } from './routes/calls-routes.ts'
import { codingSessionRoutes } from './routes/coding-sessions-routes.ts'
import { configKeyRoutes } from './routes/config-keys-routes.ts'
import { configModelRoutes } from './routes/config-model-routes.ts'
import { configRoutes } from './routes/config-routes.ts'
import { connectionRoutes } from './routes/connections-routes.ts'
import { doctorRoutes } from './routes/doctor-routes.ts'
import { escrowRoutes } from './routes/escrow-routes.ts'
import { forgetRoutes } from './routes/forget-routes.ts'
import { forgiveRoutes } from './routes/forgive-routes.ts'
import { gazeRoutes } from './routes/gaze-routes.ts'
import { groupRoutes } from './routes/groups-routes.ts'
import { healthRoutes } from './routes/health-routes.ts'
import { jobRoutes } from './routes/jobs-routes.ts'
import { keyRoutes } from './routes/keys-routes.ts'
import { memoryRoutes } from './routes/memory-routes.ts'
import { meteredRoutes } from './routes/metered-routes.ts'
import { reviewRoutes } from './routes/reviews-routes.ts'
import { sessionChatRoutes } from './routes/session-chat-routes.ts'
import { sessionRoutes } from './routes/sessions-routes.ts'
import { skillRoutes } from './routes/skills-routes.ts'
import { statementRoutes } from './routes/statement-routes.ts'
import { swarmRoutes } from './routes/swarm-routes.ts'
import { taskRoutes } from './routes/tasks-routes.ts'
import { tryUpstreamRoutes } from './routes/try-upstream-routes.ts'
import { upstreamRoutes } from './routes/upstream-routes.ts'
import { verifySessionRoutes } from './routes/verify-session-routes.ts'
import { walletRoutes } from './routes/wallet-routes.ts'
import { workspaceRoutes } from './routes/workspace-routes.ts'
import type { AgentSocket } from './socket/socket.ts'

/** Services of the routes besides the gateway's. */
export interface PlatformRoutesDeps {
  agent: Agent
  remote: Remote
  socket: AgentSocket
  payments: KeylessPayments | null
  probe: Probe
  /** Aborted when the service stops to listen: ends what would never end by itself. */
  draining: AbortSignal
  /** Aborted when the service ends pending work. */
  stopping: AbortSignal
}

/** Lists the routes of the platform, by their groups in the documentation. */
export function platformRoutes(
  gateway: Gateway,
  { agent, remote, socket, payments, probe, draining, stopping }: PlatformRoutesDeps,
): GroupedRoute[] {
  const directory = createSessionDirectory({ own: gateway.sessions, remote })
  const groups: Record<string, Route[]> = {
    Health: [...healthRoutes(gateway, { probe, takesPayments: payments !== null }), ...doctorRoutes(gateway)],
    Keys: [
      ...keyRoutes(gateway, stopping),
      ...groupRoutes(gateway),
      ...forgiveRoutes(gateway),
      ...forgetRoutes(gateway),
    ],
    Connections: connectionRoutes(socket, () => gateway.loaded.config.chain.agent.public_url),
    'Metered wallet': meteredRoutes(gateway, payments, stopping),
    Wallet: [...walletRoutes(gateway), ...statementRoutes(gateway)],
    Agent: agentRegistrationRoutes(gateway),
    Tasks: [...taskRoutes(gateway), ...swarmRoutes(gateway, stopping)],
    Escrow: escrowRoutes(gateway),
    Calls: callRoutes(gateway, draining),
    'Coding sessions': codingSessionRoutes(gateway),
    Configuration: [...configRoutes(gateway), ...configKeyRoutes(), ...configModelRoutes(gateway, stopping)],
    Upstreams: [...upstreamRoutes(gateway, stopping), ...tryUpstreamRoutes(gateway, stopping)],
    Gaze: [...gazeRoutes(gateway, stopping), ...attestationRoutes(gateway), ...verifySessionRoutes(gateway)],
    Reviews: reviewRoutes(gateway),
    Memory: memoryRoutes(gateway),
    Sessions: [...sessionRoutes(gateway, directory), ...sessionChatRoutes(gateway, agent, stopping)],
    Skills: skillRoutes(gateway, remote),
    'Agent gateway': [...jobRoutes(), ...workspaceRoutes(gateway, probe)],
  }
  return Object.entries(groups).flatMap(([group, routes]) => routes.map((route) => ({ ...route, group })))
}
