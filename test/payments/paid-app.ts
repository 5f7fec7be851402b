import { Hono } from 'hono'
import { paymentGate } from '../../adapters/platform/payments/payment-gate.ts'
import { clientAddresses } from '../../adapters/web/client-address.ts'
import { errorHandler } from '../../adapters/web/error-handler.ts'
import { frame } from '../../adapters/web/frame.ts'
import type { Frame } from '../../adapters/web/frame-context.ts'
import { hostRules } from '../../adapters/web/hosts.ts'
import { ALREADY_SENT } from '../../adapters/web/http-receiver.ts'
import { serve } from '../../adapters/web/serve.ts'
import { createChain } from '../../src/chain/chain.ts'
import { Config } from '../../src/config/config-schema.ts'
import { createLog } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { createKeys } from '../../src/identity/keys.ts'
import { watchHeartbeats } from '../../src/inference/relay/heartbeats.ts'
import { loadMethods } from '../../src/payments/methods.ts'
import { paymentSettings } from '../../src/payments/payment-settings.ts'
import { createPayments, type FailedPayment, type Payments } from '../../src/payments/payments.ts'
import { openStore } from '../../src/store/open-store.ts'
import { creditAccount } from '../../src/wallet/ledger/deposits.ts'

/** A service behind the payment gate. */
export interface PaidApp {
  url: string
  payments: Payments
  /** Requests that came through the gate. */
  served(): number
  errors: unknown[]
  /** The payments that were not taken. */
  failed: FailedPayment[]
  /** The payments that were ended because they can never be made. */
  spent: string[]
  close(): Promise<void>
}

/**
 * Serves, behind the gate: `/v1/echo`, which answers; `/v1/failing`, which does not; `/v1/refusing`, which passes on a
 * 404; `/v1/cut`, whose reply breaks off; and `/v1/held`, which answers once `/go` was asked for.
 */
export async function startPaidApp(
  storeUrl: string,
  config: Pick<Config, 'mpp' | 'wallet'>,
  { leaseMs = 60_000, now = () => new Date() } = {},
): Promise<PaidApp> {
  const store = await openStore(storeUrl)
  const errors: unknown[] = []
  const failed: FailedPayment[] = []
  const spent: string[] = []
  const onError = (error: unknown) => void errors.push(error)
  const settings = paymentSettings(config)
  const payments = createPayments({
    store,
    now,
    methods: await loadMethods(
      settings,
      createChain({ store, config: { ...Config.parse({}), ...config }, now, onError }),
    ),
    credit: (credit) => creditAccount(store, credit, now()),
    onError: (error) => errors.push(error),
    onFailed: (failure) => failed.push(failure),
    onSpent: ({ id }) => spent.push(id),
    leaseMs,
  })
  const keys = createKeys({ store, now, fixedKey: null, onError: (error) => errors.push(error) })
  let served = 0
  const app = new Hono<Frame>()
  const log = createLog({ level: 'silent', secrets: () => [] })
  app.onError(errorHandler(log, () => {}))
  app.use(frame({ keys, scope: 'platform', hosts: hostRules('127.0.0.1', [], []), open: () => true }))
  app.use(
    '/v1/*',
    paymentGate({
      payments,
      price: () => settings.amount,
      keyed: async () => null,
      check: async () => {},
      heartbeat: watchHeartbeats(),
    }),
  )
  app.use('/v1/*', async (_, next) => {
    served += 1
    await next()
  })
  app.all('/v1/echo', (c) => c.json({ payer: c.get('identity')?.wallet }))
  app.all('/v1/failing', () => {
    throw new GazewayError('upstream_error', 'The upstream failed.')
  })
  app.all('/v1/refusing', ({ env: { outgoing } }) => {
    outgoing.writeHead(404).end('{}')
    return ALREADY_SENT
  })
  app.all('/v1/cut', async ({ env: { outgoing } }) => {
    await new Promise<void>((written) => outgoing.writeHead(200).write('half of ', () => written()))
    outgoing.destroy(new Error('the upstream broke off'))
    return ALREADY_SENT
  })
  app.all('/v1/waiting', async ({ env: { outgoing } }) => {
    // Until the process is killed.
    outgoing.writeHead(200).write('wait')
    await new Promise(() => {})
    return ALREADY_SENT
  })
  let go = () => {}
  const told = new Promise<void>((resolve) => {
    go = resolve
  })
  let held = 0
  app.get('/held', (c) => c.json(held))
  app.all('/v1/held', async (c) => {
    held += 1
    await told
    return c.json({ answer: 'late' })
  })
  app.all('/go', (c) => {
    go()
    return c.json({})
  })
  const listening = await serve(app, {
    host: '127.0.0.1',
    port: 0,
    flag: '--platform-port',
    headerTimeoutMs: 10_000,
    requestTimeoutMs: 60_000,
    keepAliveMs: 75_000,
    drainMs: () => 10_000,
    addresses: clientAddresses([]),
    log,
  })
  return {
    url: listening.url,
    payments,
    served: () => served,
    errors,
    failed,
    spent,
    async close() {
      await listening.stop()
      await keys.close()
      await store.close()
    },
  }
}
