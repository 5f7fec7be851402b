import type { UpstreamDeps } from '../invoke.ts'
import { inProcessSend } from './in-process.ts'
import { poolSend } from './pool.ts'
import { createRelay, type Relay } from './relay.ts'
import type { Replaceable } from './succession.ts'

/** A relay that is open until it is closed. */
export interface OpenRelay extends Replaceable {
  /** The relay of the upstream that is configured now; each request keeps to one. */
  current(): Relay
  /** Ends what is under way, with `service_stopping`, and closes the connections. */
  close(): Promise<void>
}

/** The relay to the configured upstream: over the network, or in this process for the sandbox. */
export function openRelay(deps: UpstreamDeps, connectTimeoutMs: number): OpenRelay {
  const { provider } = deps
  const nothing = async () => {}
  const { send, idle, close } = provider.inProcess
    ? { send: inProcessSend(provider), idle: nothing, close: nothing }
    : poolSend(provider, connectTimeoutMs)
  const relay = createRelay(deps, send)
  return { current: () => relay, idle, close }
}
