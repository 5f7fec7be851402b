import { createServer } from 'node:net'
import type { LoadedConfig } from '../../src/config/config.ts'
import { type ErrorCode, GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import { paymentSettings } from '../../src/payments/settings.ts'
import type { FrameContext } from '../web/frame.ts'
import { checkHost, hostRules } from '../web/hosts.ts'
import { listen } from '../web/listen.ts'

/**
 * Refuses a configuration that would shut out whoever sends it, now or after a restart.
 *
 * @param next what the configuration would be
 * @throws GazewayError `conflict`, `validation_failed` with the key at fault in `param`
 */
export async function refuseLockOut(next: LoadedConfig, c: FrameContext, gateway: Gateway): Promise<void> {
  const present = gateway.config.stored().config
  const { http, identity, mpp, wallet } = next.config
  const { allowed_hosts, allowed_origins } = http

  const rules = hostRules(gateway.loaded.config.http.host, allowed_hosts, allowed_origins)
  try {
    checkHost(c.env.incoming.headers, rules)
  } catch (cause) {
    throw refusal(
      'http.allowed_hosts',
      'this request itself would be refused by its Host or Origin. Keep them listed.',
      {
        cause,
      },
    )
  }

  if (identity.api_key === null && present.identity.api_key !== null && !(await gateway.keys.hasAdmin()))
    throw refusal('identity.api_key', 'there is no other admin key. Make one first: POST /api/keys, scope admin.')

  if (http.port === http.platform_port && http.port !== 0)
    throw unstartable('http.platform_port', `${http.port} is the port of the gateway; accepted: another one.`)
  if (http.host !== present.http.host) await checkAddress(http.host)
  if (mpp.enabled) {
    try {
      paymentSettings({ mpp, wallet })
    } catch (cause) {
      if (!(cause instanceof GazewayError)) throw cause
      throw unstartable(cause.param ?? 'mpp.enabled', cause.message, cause)
    }
  }
}

/** Whether this machine can listen on `host`. */
async function checkAddress(host: string): Promise<void> {
  const server = createServer()
  try {
    await listen(server, { host, port: 0, flag: '--port' })
  } catch (cause) {
    throw unstartable(
      'http.host',
      `not an address of this machine; accepted: one of its own, such as 127.0.0.1.`,
      cause,
    )
  } finally {
    server.close()
  }
}

const refusal = (param: string, why: string, more: { cause?: unknown } = {}): GazewayError =>
  refused('conflict', `${param}: nothing was changed, because you would lock yourself out: ${why}`, param, more.cause)

const unstartable = (param: string, why: string, cause?: unknown): GazewayError =>
  refused('validation_failed', why.startsWith(param) ? why : `${param}: ${why}`, param, cause)

function refused(code: ErrorCode, message: string, param: string, cause: unknown): GazewayError {
  return new GazewayError(code, message, { param, cause })
}
