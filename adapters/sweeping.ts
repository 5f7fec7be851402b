import type { Gateway } from '../src/gateway.ts'
import { retentionSweeps } from '../src/retention.ts'
import { type Sweep, type Sweeps, startSweeps } from '../src/store/sweeps.ts'

/** How long after a tool server has opened its store it looks first: not while its client starts, but in short sessions, too. */
const FIRST_LOOK_MS = 10_000

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
    sweeps: [...retention, ...more],
    onError: (err) => log.error('A sweep failed; it is tried again when it is due again.', { err }),
  })
}

/** The same in a tool server, whose sessions may be shorter than the time between two looks. Keeps no process alive. */
export function startToolServerSweeps(gateway: Gateway): Sweeps {
  const sweeps = startGatewaySweeps(gateway)
  setTimeout(() => void sweeps.runDue(), FIRST_LOOK_MS).unref()
  return sweeps
}
