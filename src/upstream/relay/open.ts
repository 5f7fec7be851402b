import type { UpstreamDeps } from '../invoke.ts'
import { inProcessSend } from './in-process.ts'
import { poolSend } from './pool.ts'
import { createRelay, type Relay } from './relay.ts'

/** The relay to the configured upstream: over the network, or in this process for the sandbox. */
export function openRelay(deps: UpstreamDeps, connectTimeoutMs: number): Relay & { close(): Promise<void> } {
  if (deps.provider.inProcess) return { ...createRelay(deps, inProcessSend(deps.provider)), close: async () => {} }
  const { send, close } = poolSend(deps.provider, connectTimeoutMs)
  return { ...createRelay(deps, send), close }
}
