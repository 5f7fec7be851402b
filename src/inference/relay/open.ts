import type { UpstreamDeps } from '../invoke.ts'
import { inProcessSend } from './in-process.ts'
import { poolSend } from './pool.ts'
import { createRelay, type Relay } from './relay.ts'
import type { Replaceable } from './succession.ts'

/** A relay that is open until it is closed. */
export interface OpenRelay {
  /** The relay of the upstream that is configured now; each request keeps to one. */
  current(): Relay
  /** Ends what is under way, with `service_stopping`, and closes the connections. */
  close(): Promise<void>
}

/** One that others may take the place of. */
export interface ReplaceableRelay extends OpenRelay, Replaceable {}

/** The relay to the configured upstream: over the network, or in this process for the sandbox. */
export function openRelay(deps: UpstreamDeps, connectTimeoutMs: number): ReplaceableRelay {
  const { provider } = deps
  const { send, watch, close } = provider.inProcess
    ? { send: inProcessSend(provider), watch() {}, close: async () => {} }
    : poolSend(provider, connectTimeoutMs)
  const relay = createRelay(deps, send)
  return { current: () => relay, watch, close }
}
