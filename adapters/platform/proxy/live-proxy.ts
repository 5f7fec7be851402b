import type { AgentGatewayTarget } from '../../../src/agent-gateway/target.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { createOwnObjects } from '../../../src/inference/admit/own-objects.ts'
import { createSuccession } from '../../../src/inference/relay/succession.ts'
import { modelBodyLimit } from '../../web/body-limit.ts'
import { createProxy, type Passage } from './proxy.ts'

/**
 * Opens the passage to the agent gateway with the settings in force.
 *
 * @param stopping aborted when the service ends pending work
 */
export function liveProxy(
  gateway: Gateway,
  target: AgentGatewayTarget,
  stopping: AbortSignal,
): Pick<Passage, 'handle' | 'close'> {
  const proxies = createSuccession<Passage>()
  const proxy = gateway.config.hotReload(
    ({ upstream, agent_gateway }) => ({
      connectTimeoutMs: upstream.connect_timeout_ms,
      timeoutMs: agent_gateway.timeout_ms,
      url: agent_gateway.url,
    }),
    (settings) =>
      proxies.put(
        createProxy({
          ...settings,
          target,
          bodyLimit: (callerId) => modelBodyLimit(gateway, callerId),
          callAgentGateway: (...call) => gateway.upstream.callAgentGateway(...call),
          objects: createOwnObjects(gateway.calls),
          stopping,
        }),
      ),
  ).always
  return { handle: (c) => proxy.handle(c), close: proxies.close }
}
