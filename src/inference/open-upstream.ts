import { admitting, type CallDeps, type CallModel, createCallModel } from './call-model.ts'
import { type CountPrompt, createCountPrompt } from './count-prompt.ts'
import { inProcessSend } from './relay/in-process.ts'
import { createRelay, type Relay } from './relay/relay.ts'
import { poolSend } from './relay/request-pool.ts'
import type { Replaceable } from './relay/succession.ts'

/** An upstream that is open for calls until it is closed. */
export interface OpenUpstream extends Replaceable {
  call: CallModel
  countPrompt: CountPrompt
  relay: Relay
  /** Ends what is under way, with `service_stopping`, and closes the connections. */
  close(): Promise<void>
}

/** Opens the configured upstream: over the network, or in this process for the sandbox. */
export function openUpstream(deps: CallDeps, connectTimeoutMs: number): OpenUpstream {
  const { provider } = deps
  const { send, watch, close } = provider.inProcess
    ? { send: inProcessSend(provider), watch() {}, close: async () => {} }
    : poolSend(provider, connectTimeoutMs)
  const relay = createRelay(provider, send)
  const call = createCallModel(deps, relay)
  return { call, countPrompt: createCountPrompt(deps, admitting(deps), relay), relay, watch, close }
}
