import { ALERTS_MS } from '../../src/alerts/alerts.ts'
import type { Gateway } from '../../src/gateway.ts'
import { type Sweep, type Sweeps, startSweeps } from '../../src/store/sweeps.ts'

/**
 * Runs the sweeps of all rooms while the process runs. Of the processes on one store, one runs each sweep.
 *
 * @param more sweeps of the adapter itself
 */
export const startGatewaySweeps = ({ store, sweeps, log }: Gateway, more: readonly Sweep[] = []): Sweeps =>
  startSweeps({
    store,
    now: () => new Date(),
    sweeps: [...sweeps, ...more],
    onError: (err) => log.error('Failed to run a sweep; will run again when due.', { err }),
  })

/** Sends alerts while a service runs. Of the processes on one store, one sends each alert. */
export const startAlerts = ({ store, alerts, log }: Gateway): Sweeps =>
  startSweeps({
    store,
    now: () => new Date(),
    sweeps: alerts.sending,
    lookMs: ALERTS_MS,
    onError: (err) => log.error('Failed to process alerts; will retry.', { err }),
  })
