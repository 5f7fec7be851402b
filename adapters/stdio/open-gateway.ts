import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import type { Gateway } from '../../src/gateway.ts'
import { lazily } from '../../src/lazily.ts'
import type { Sweeps } from '../../src/store/sweeps.ts'
import { inTime } from '../../src/wire/with-timeout.ts'
import type { Tracing } from '../http/tracing.ts'

/** Delay of the first retention sweep: after the client has started, and before short sessions end. */
const FIRST_SWEEP_MS = 10_000

/** Timeout at shutdown for opening the store and for a running sweep, in milliseconds. */
const SETTLE_MS = 2_500

/** Loaded separately from the protocol, so that a client's handshake does not wait for it. */
const loadGateway = lazily(() => import('../../src/gateway.ts'))
const loadTracing = lazily(() => import('../http/tracing.ts'))
/** Loaded after the first call, which does not wait for it. */
const loadSweeping = lazily(() => import('../command/background-sweeps.ts'))

/** Creates a function that opens the gateway with its first call. After a failure, the next call retries. */
export function gatewayOpener(loaded: LoadedConfig, log: Log): (() => Promise<Gateway>) & { close(): Promise<void> } {
  let opening: Promise<Gateway> | undefined
  let looking: NodeJS.Timeout | undefined
  let sweeps: Sweeps | undefined
  let tracing: Tracing | undefined
  let closed = false
  const open = async () => {
    const { createGateway } = await loadGateway()
    const opened = await createGateway(loaded, log)
    const { startTracing } = await loadTracing()
    tracing = await startTracing(opened, process.env)
    looking = setTimeout(() => {
      sweep(opened).catch((err) => log.error('Failed to start the retention sweeps of this process.', { err }))
    }, FIRST_SWEEP_MS).unref()
    return opened
  }
  /** Loads the sweeps late, so that the first call does not wait for them. */
  const sweep = async (opened: Gateway) => {
    const { startGatewaySweeps } = await loadSweeping()
    if (closed) return
    sweeps = startGatewaySweeps(opened)
    await sweeps.runDue()
  }
  const gateway = () => {
    opening ??= open().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }
  return Object.assign(gateway, {
    async close() {
      // A gateway that failed to open needs no closing. The call that opened it has reported the error.
      const opened = await inTime(
        SETTLE_MS,
        opening?.catch(() => undefined),
      )
      closed = true
      clearTimeout(looking)
      await inTime(SETTLE_MS, sweeps?.stop())
      await tracing?.stop()
      await opened?.close()
    },
  })
}
