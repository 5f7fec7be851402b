import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AgentGatewayTarget } from '../../src/agent-gateway/target.ts'
import type { Gateway } from '../../src/gateway.ts'
import type { OpenCalls } from '../../src/inference/inference.ts'
import { openUpstream } from '../../src/inference/open.ts'
import { createResponsesSocket } from '../http/responses-socket/responses-socket.ts'
import { PATH, type SocketCallersDeps } from '../http/responses-socket/socket-callers.ts'
import { refusedCalls } from '../web/refused-calls.ts'

/** Handler of upgrade requests. */
type Upgrade = (incoming: IncomingMessage, raw: Duplex, head: Buffer) => void

/** The Responses API over WebSocket on the platform's port. */
export interface ResponsesDoor {
  upgrade: Upgrade
  /** Closes its connections, after the response under way. */
  stop(): void
}

/**
 * Creates the Responses socket for keys of the platform, where `/v1` leads to this process's own gateway: what is asked on a
 * connection to another agent gateway could not be billed.
 *
 * @param others handles the upgrades at other paths, and refuses this one where there is no socket
 */
export function createResponsesDoor(
  gateway: Gateway,
  target: AgentGatewayTarget,
  { hosts, count, others }: Pick<SocketCallersDeps, 'hosts' | 'count'> & { others: Upgrade },
): ResponsesDoor {
  // The gateway of this process has opened the upstreams, and closes them.
  const calls: OpenCalls = { current: () => gateway.upstream.openBy(openUpstream), async close() {} }
  const refused = refusedCalls(gateway, 'platform')
  const socket = createResponsesSocket(gateway, { calls, keys: gateway.keys, scope: 'platform', hosts, count, refused })
  return {
    upgrade(incoming, raw, head) {
      const [path] = (incoming.url ?? '').split('?', 1)
      if (path === PATH && target.isOwn) socket.upgrade(incoming, raw, head)
      else others(incoming, raw, head)
    },
    stop: socket.stop,
  }
}
