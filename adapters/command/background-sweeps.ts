import { ALERTS_MS } from '../../src/alerts/alerts.ts'
import { takePending } from '../../src/coding-sessions/take-pending.ts'
import type { Gateway } from '../../src/gateway.ts'
import { type Sweep, type Sweeps, startSweeps } from '../../src/store/sweeps.ts'
import { createRepeated } from '../../src/wire/repeated-runs.ts'

/** Interval at which facts in the data folder are looked for, in milliseconds. */
const TAKING_MS = 60_000

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

/** Notes, each minute, what hooks of this machine have left in the data folder. */
export function startTakingFacts({ store, loaded, log }: Gateway): { stop(): Promise<void> } {
  const taking = createRepeated(async () => void (await takePending(store, loaded.dataDir, new Date())), {
    everyMs: TAKING_MS,
    onError: (err) => log.warn('Failed to note what hooks left in the data folder; will retry.', { err }),
  })
  void taking.run()
  taking.start()
  return taking
}

/** Sends alerts while a service runs. Of the processes on one store, one sends each alert. */
export const startAlerts = ({ store, alerts, log }: Gateway): Sweeps =>
  startSweeps({
    store,
    now: () => new Date(),
    sweeps: alerts.sending,
    lookMs: ALERTS_MS,
    onError: (err) => log.error('Failed to process alerts; will retry.', { err }),
  })
