import { createServer } from 'node:net'
import type { Kysely } from 'kysely'
import { settlementChain } from '../../src/chain/settlement-settings.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import { type ErrorCode, GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import { ENVIRONMENT_IDENTITY, type Identity } from '../../src/identity/identity.ts'
import { paymentSettings } from '../../src/payments/payment-settings.ts'
import { readExistingStore } from '../../src/store/existing-store.ts'
import type { Schema } from '../../src/store/schema.ts'
import { callerOf, type FrameContext } from '../web/frame-context.ts'
import { hostFault, hostRules } from '../web/hosts.ts'
import { listen } from '../web/listen.ts'

/**
 * Refuses a configuration that would lock its sender out, now or after a restart.
 *
 * @param next the new configuration
 * @throws GazewayError `conflict`, `validation_failed` with the faulty key in `param`
 */
export async function refuseLockOut(next: LoadedConfig, c: FrameContext, gateway: Gateway): Promise<void> {
  const stored = gateway.config.stored()
  const present = stored.config
  const { chain, http, identity, mpp, wallet } = next.config
  const { allowed_hosts, allowed_origins } = http

  // The current host, and the host after a restart.
  for (const host of [gateway.loaded.config.http.host, http.host]) {
    const fault = hostFault(c.env.incoming.headers, hostRules(host, allowed_hosts, allowed_origins))
    if (fault !== null) throw refusal('http.allowed_hosts', `this request itself would be refused. ${fault.message}`)
  }

  if (identity.api_key === null && present.identity.api_key !== null && !(await gateway.keys.hasAdmin()))
    throw refusal('identity.api_key', 'there is no other admin key. Create one first: POST /api/keys, scope admin.')

  // Checked only on a change: a service that runs alone may already have the port of the other.
  const isMoved = http.port !== present.http.port || http.platform_port !== present.http.platform_port
  if (isMoved && http.port === http.platform_port && http.port !== 0)
    throw unstartable('http.platform_port', `${http.port} is already the port of the gateway. Choose another port.`)
  if (http.host !== present.http.host) await checkAddress(http.host)
  if (next.storeUrl !== stored.storeUrl) await checkStore(next.storeUrl, callerOf(c))
  if (mpp.enabled) checkWhole('mpp.enabled', () => paymentSettings({ mpp, wallet }))
  checkWhole('chain.settlement.mode', () => settlementChain({ chain, wallet }))
}

/** Checks that services can be created from related settings. */
function checkWhole(param: string, make: () => unknown): void {
  try {
    make()
  } catch (cause) {
    if (!(cause instanceof GazewayError)) throw cause
    throw unstartable(cause.param ?? param, cause.message, cause)
  }
}

/** Checks that the store of the next start exists and has the caller's key. Changes nothing. */
async function checkStore(url: string, { id }: Identity): Promise<void> {
  const found = await readExistingStore(url, (db) => hasKey(db, id)).catch((cause: unknown) => {
    if (!(cause instanceof GazewayError)) throw cause
    throw unstartable('store.url', cause.message, cause)
  })
  if (found === null) throw elsewhere('it has no Gazeway store')
  if (!found && id !== ENVIRONMENT_IDENTITY.id) throw elsewhere('your key is not in it')
}

async function hasKey(db: Kysely<Schema>, id: string): Promise<boolean> {
  const keys = db.selectFrom('keys').select('id').where('id', '=', id).where('revoked_at', 'is', null)
  return (await keys.executeTakeFirst()) !== undefined
}

const elsewhere = (why: string): GazewayError =>
  refusal(
    'store.url',
    `${why}. Copy the records to a file or database of their own first: gazeway store copy --to URL.`,
  )

/** Checks that this machine can listen on `host`. */
async function checkAddress(host: string): Promise<void> {
  const server = createServer()
  try {
    await listen(server, { host, port: 0, flag: '--port' })
  } catch (cause) {
    throw unstartable('http.host', `not an address of this machine; must be one of its own, such as 127.0.0.1.`, cause)
  } finally {
    server.close()
  }
}

const refusal = (param: string, why: string): GazewayError =>
  refused('conflict', `${param}: nothing was changed, because you would lock yourself out: ${why}`, param)

const unstartable = (param: string, why: string, cause?: unknown): GazewayError =>
  refused('validation_failed', why.startsWith(param) ? why : `${param}: ${why}`, param, cause)

function refused(code: ErrorCode, message: string, param: string, cause?: unknown): GazewayError {
  return new GazewayError(code, message, { param, cause })
}
