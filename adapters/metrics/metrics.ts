import { collectDefaultMetrics } from 'prom-client'
import { VERSION } from '../../src/config/version.ts'
import type { Gateway } from '../../src/gateway.ts'
import { toUsd } from '../../src/text/money.ts'
import type { FrameContext } from '../web/frame-context.ts'
import { callerFault } from '../web/guards.ts'
import { callLabels } from './call-labels.ts'
import { callMetrics } from './call-metrics.ts'
import { keyMetrics } from './key-metrics.ts'
import { createMeters, type Meters, type Reading } from './meters.ts'
import { type OnRequest, type RequestMetrics, requestMetrics, type Service } from './request-metrics.ts'
import { upstreamGauges } from './state-gauges.ts'
import { storeGauges } from './store-gauges.ts'

/** Metrics of a process for the operator's collector, the same on each of its ports. */
export interface Metrics {
  /** Counts each request of a service; runs before everything else. */
  requests(service: Service): RequestMetrics
  /**
   * `GET /metrics`: the text format of Prometheus, for keys with the scope `admin`. Series that name keys are for them alone; this
   * machine reads the others without a key.
   *
   * @throws GazewayError `insufficient_scope` for another key
   */
  expose(c: FrameContext): Promise<Response>
  /** Has the open sockets of a kind counted. */
  countSockets(kind: 'agent' | 'responses', open: () => number): void
  /** Sets the only listener of requests; null for none. */
  onRequest(listener: OnRequest | null): void
  /** Reads all metrics, for their export. */
  read(): Promise<MetricData[]>
}

/** Values of a metric, as prom-client reads them. */
export type MetricData = Awaited<ReturnType<Meters['shared']['getMetricsAsJSON']>>[number]

/**
 * Starts measuring a gateway: HTTP requests, upstream calls, queues and money in the store, the process and its event
 * loop lag (`nodejs_eventloop_lag_*`). Requests and call records count once each, when they end. Open them once per
 * process.
 *
 * @param readiness tells whether the process is stopping
 */
export function openMetrics(gateway: Gateway, readiness: { isDraining(): boolean }): Metrics {
  const meters = createMeters()
  const { shared, ofKeys } = meters
  collectDefaultMetrics({ register: shared })
  meters.gauge('gazeway_build_info', () => [[1, VERSION]])
  meters.gauge('gazeway_draining', () => [[readiness.isDraining() ? 1 : 0]])
  const sockets = new Map<string, () => number>()
  meters.gauge('gazeway_sockets', () => [...sockets].map(([kind, open]): Reading => [open(), kind]))
  let listener: OnRequest | null = null
  const requests = requestMetrics(meters, () => listener)
  const labels = callLabels(gateway)
  gateway.calls.listen(callMetrics(meters, labels))
  gateway.calls.listen(keyMetrics(meters, labels, gateway.store))
  chargeMetrics(meters, gateway)
  upstreamGauges(meters, labels, gateway)
  storeGauges(meters, gateway)

  return {
    requests,
    async expose(c) {
      labels.refresh()
      const identity = c.get('identity')
      const fault = identity === undefined ? null : callerFault(identity, 'admin')
      if (fault !== null) throw fault
      const texts = await Promise.all(identity ? [shared.metrics(), ofKeys.metrics()] : [shared.metrics()])
      return c.body(texts.join('\n'), 200, { 'content-type': shared.contentType })
    },
    countSockets: (kind, open) => void sockets.set(kind, open),
    onRequest(of) {
      listener = of
    },
    async read() {
      labels.refresh()
      return (await Promise.all([shared.getMetricsAsJSON(), ofKeys.getMetricsAsJSON()])).flat()
    },
  }
}

/** Counts calls whose cost exceeded their reservation, and what the operator bears of the calls of charged callers. */
function chargeMetrics(meters: Meters, gateway: Pick<Gateway, 'overruns' | 'absorbedCalls'>): void {
  const overruns = meters.counter('gazeway_charge_overruns_total')()
  const above = meters.counter('gazeway_charge_overrun_usd_total')()
  const absorbed = meters.counter('gazeway_charge_absorbed_usd_total')()
  gateway.overruns.listen(({ reservedMicros, costMicros }) => {
    overruns.add(1)
    above.add(toUsd(costMicros - reservedMicros))
  })
  gateway.absorbedCalls.listen(({ micros }) => absorbed.add(toUsd(micros)))
}
