import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { VERSION } from '../../src/config/version.ts'
import type { Gateway } from '../../src/gateway.ts'
import { toUsd } from '../../src/text/money.ts'
import type { AbsorbedCall } from '../../src/wallet/budget/absorbed.ts'
import type { Overrun } from '../../src/wallet/budget/overruns.ts'
import type { FrameContext } from '../web/frame-context.ts'
import { callMetrics } from './call-metrics.ts'
import { type RequestMetrics, requestMetrics } from './request-metrics.ts'

/** Metrics of the service for the operator's collector. */
export interface Metrics {
  /** Counts each request; runs before everything else. */
  requests: RequestMetrics
  /** `GET /metrics`: the text format of Prometheus. */
  expose(c: FrameContext): Promise<Response>
  /** Stops listening to calls and overruns. */
  stop(): void
}

/**
 * Starts measuring a gateway: HTTP requests, upstream calls, the process and its event loop lag
 * (`nodejs_eventloop_lag_*`). Requests and call records count once each, when they end.
 */
export function listenToMetrics(gateway: Gateway): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'gazeway_build_info',
    help: 'Build information: the version is a label, the value is always 1.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: VERSION }, 1)
  const requests = requestMetrics(registry)
  const calls = callMetrics(registry, gateway)
  const ends = [
    gateway.calls.listen(calls.count),
    gateway.overruns.listen(overrunMetrics(registry)),
    gateway.absorbedCalls.listen(absorbedMetrics(registry)),
  ]
  return {
    requests,
    async expose(c) {
      calls.refresh()
      return c.body(await registry.metrics(), 200, { 'content-type': registry.contentType })
    },
    stop() {
      for (const end of ends) end()
    },
  }
}

/** Counts calls whose cost exceeded their reservation, and the cost above it. */
function overrunMetrics(registry: Registry): (overrun: Overrun) => void {
  const registers = [registry]
  const overruns = new Counter({
    name: 'gazeway_charge_overruns_total',
    help: 'Calls whose reported cost exceeded their reservation.',
    registers,
  })
  const above = new Counter({
    name: 'gazeway_charge_overrun_usd_total',
    help: 'Reported cost above reservations in US dollars.',
    registers,
  })
  return ({ reservedMicros, costMicros }) => {
    overruns.inc()
    above.inc(toUsd(costMicros - reservedMicros))
  }
}

/** Counts what the operator bears of the calls of charged callers. */
function absorbedMetrics(registry: Registry): (of: AbsorbedCall) => void {
  const absorbed = new Counter({
    name: 'gazeway_charge_absorbed_usd_total',
    help: 'Cost in US dollars that the operator bears for charged callers.',
    registers: [registry],
  })
  return ({ micros }) => absorbed.inc(toUsd(micros))
}
