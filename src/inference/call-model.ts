import { admit, type CallerContext, type ModelRequest } from './admit.ts'
import { attempt, type Result } from './attempt.ts'
import type { ModelDeps } from './model-for.ts'
import type { Receiver } from './relay/receiver.ts'
import type { Relay } from './relay/relay.ts'
import { route } from './route.ts'
import type { SettleDeps } from './settle.ts'

/** What model calls are made with. */
export interface CallDeps extends SettleDeps, ModelDeps {}

/**
 * Makes a model call: every one, whether a tool makes it or a client over HTTP. Its steps: `admit`, `route`, `attempt`,
 * which passes the reply to the receiver and observes it on the way, and `settle`.
 *
 * @returns when the reply is over and recorded
 * @throws GazewayError as `admit` and `attempt`, before the first byte of the reply
 */
export type CallModel = (asked: ModelRequest, receiver: Receiver, context: CallerContext) => Promise<Result>

/** Makes model calls over a relay. */
export function createCallModel(deps: CallDeps, relay: Relay): CallModel {
  return async (asked, receiver, context) => {
    const admission = admit(deps.provider, asked, context)
    return attempt(deps, admission, route(deps, relay, admission), receiver)
  }
}
