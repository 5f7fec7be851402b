import { createOwnObjects } from './admit/own-objects.ts'
import { type CallDeps, type CallModel, createCallModel, createMakeCall, type MakeCall } from './call.ts'
import { cloudOf } from './clouds/cloud-of.ts'
import { cloudSend } from './clouds/cloud-send.ts'
import { geminiSend } from './relay/gemini-send.ts'
import { inProcessSend } from './relay/in-process.ts'
import { createRelays, type Relays } from './relay/relays.ts'
import { poolSend, type RequestPool } from './relay/request-pool.ts'
import type { Replaceable } from './relay/succession.ts'
import { ownRouting } from './route/own-plan.ts'
import { createPlans } from './route/route.ts'
import { createVerbatimRoutes } from './route/verbatim-routes.ts'
import type { NamedUpstream } from './upstreams/named-upstream.ts'
import { type CallVerbatim, createCallVerbatim } from './verbatim/call-verbatim.ts'
import { type CountPrompt, createCountPrompt } from './verbatim/count-prompt.ts'

/** The upstreams, open for calls until closed. */
export interface OpenUpstream extends Replaceable {
  makeCall: MakeCall
  call: CallModel
  countPrompt: CountPrompt
  callVerbatim: CallVerbatim
  /** Relays to one of the upstreams. */
  relaysOf(upstream: NamedUpstream): Relays
  /** Ends calls in flight with `service_stopping` and closes the connections. */
  close(): Promise<void>
}

/** Opens the configured upstreams: over the network, or in this process for the sandbox. */
export function openUpstream(deps: CallDeps): OpenUpstream {
  const pools: RequestPool[] = []
  const relays = new Map<NamedUpstream, Relays>()

  function open(upstream: NamedUpstream): Relays {
    const { provider, connectTimeoutMs } = upstream
    if (provider.inProcess) return createRelays(upstream, inProcessSend(provider))
    const { googleApi } = provider
    const pool = poolSend(googleApi === null ? provider : { ...provider, baseUrl: googleApi.baseUrl }, connectTimeoutMs)
    pools.push(pool)
    if (googleApi !== null) return createRelays(upstream, geminiSend(pool.send, googleApi.compatible))
    return createRelays(upstream, provider.cloud === null ? pool.send : cloudSend(() => cloudOf(provider), pool.send))
  }
  for (const upstream of deps.routing.upstreams) relays.set(upstream, open(upstream))
  const relaysOf = (upstream: NamedUpstream) => relays.get(upstream) as Relays
  const objects = createOwnObjects(deps.calls)

  const makeCall = createMakeCall(deps)
  const own = ownRouting(deps.routing)
  const routes = createVerbatimRoutes(deps.routing, relaysOf)
  const ownRoutes = createVerbatimRoutes(own, relaysOf, false)
  const { identity } = deps.billing
  const { detached } = deps.late
  const call = createCallModel(makeCall, createPlans(deps, relaysOf), createPlans({ ...deps, routing: own }, relaysOf))

  return {
    makeCall,
    call,
    countPrompt: createCountPrompt(call, objects, deps.billing),
    callVerbatim: createCallVerbatim({ makeCall, routes, ownRoutes, objects, detached, identity }),
    relaysOf,
    watch(listener) {
      let busy = 0
      for (const pool of pools)
        pool.watch((isBusy) => {
          busy += isBusy ? 1 : -1
          if (isBusy ? busy === 1 : busy === 0) listener(isBusy)
        })
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.close()))
      await Promise.all([deps.late.reads.ended(), detached.ended()])
    },
  }
}
