import { foldingSweep } from '../../src/calls/fold-calls.ts'
import type { Gateway } from '../../src/gateway.ts'
import { retentionSweeps } from '../../src/retention.ts'
import { type Sweep, type Sweeps, startSweeps } from '../../src/store/sweeps.ts'

/**
 * What is past its retention is cleared away while a process runs; of processes on one store, one does it.
 *
 * @param more sweeps beside those of retention
 */
export function startGatewaySweeps(gateway: Gateway, more: readonly Sweep[] = []): Sweeps {
  const { store, memory, idempotency, log } = gateway
  const now = () => new Date()
  const retention = retentionSweeps({
    store,
    now,
    memory,
    idempotency,
    get callDays() {
      return gateway.loaded.config.audit.retention_days
    },
    get gazeDays() {
      return gateway.loaded.config.gaze.retention_days
    },
  })
  return startSweeps({
    store,
    now,
    sweeps: [foldingSweep(store, now), ...retention, ...more],
    onError: (err) => log.error('A sweep failed; it is tried again when it is due again.', { err }),
  })
}
