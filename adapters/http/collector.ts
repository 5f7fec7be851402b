import { urlToHttpOptions } from 'node:url'
import { redactUrl } from '../../src/config/redact.ts'
import { GazewayError } from '../../src/errors.ts'
import { networkFetch } from '../../src/wire/network-fetch.ts'
import { throughProxy } from '../../src/wire/proxy-choice.ts'

/** Timeout of a collector's check, in milliseconds. */
const PATIENCE_MS = 5000

/** Kind of data that a collector takes. */
export type Signal = 'traces' | 'metrics'

/**
 * Address of the collector of spans or metrics; null when the environment names none or disables them.
 *
 * @throws GazewayError `config_invalid` with the variable whose value is not an address
 */
export function collectorUrl(
  env: Readonly<Record<string, string | undefined>>,
  signal: Signal = 'traces',
): string | null {
  const name = signal.toUpperCase()
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env[`OTEL_${name}_EXPORTER`] === 'none') return null
  const own = addressIn(env, `OTEL_EXPORTER_OTLP_${name}_ENDPOINT`)
  if (own) return own
  const base = addressIn(env, 'OTEL_EXPORTER_OTLP_ENDPOINT')
  return base ? `${base.replace(/\/+$/, '')}/v1/${signal}` : null
}

/** Reads an address. An error leaves the value out, because it may contain a key. */
function addressIn(env: Readonly<Record<string, string | undefined>>, variable: string): string | undefined {
  const text = env[variable]?.trim()
  if (!text || (/^https?:/i.test(text) && URL.canParse(text))) return text
  throw new GazewayError(
    'config_invalid',
    `${variable}: not a URL; must be http://HOST:4318 or https://…, the collector’s HTTP port.`,
    { param: variable },
  )
}

/**
 * Checks that a collector answers at the configured address, with an empty export.
 *
 * @returns a description of the result
 * @throws GazewayError as {@link collectorUrl}; `upstream_unreachable` when nothing accepts spans there
 */
export async function checkCollector(env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const url = collectorUrl(env)
  if (url === null) return 'not configured; no spans are sent'
  const shown = redactUrl(url)
  const signal = AbortSignal.timeout(PATIENCE_MS)
  // The exporter sends the name and password of an address; fetch refuses such an address.
  const address = new URL(url)
  const { auth } = urlToHttpOptions(address)
  address.username = address.password = ''
  const headers = {
    'content-type': 'application/json',
    ...(auth && { authorization: `Basic ${Buffer.from(auth).toString('base64')}` }),
  }
  const asked = { method: 'POST', headers, body: '{"resourceSpans":[]}', signal }
  const through = throughProxy(address)
  const reply = await networkFetch(address, asked).catch(() => null)
  await reply?.body?.cancel()
  if (reply === null) throw fault(`${shown}: no collector answers at this address${through}.`)
  // Any other answer shows that the path exists. The headers of OTEL_EXPORTER_OTLP_HEADERS are not sent here.
  if (reply.status !== 404) return `spans go to ${shown}${through}`
  throw fault(`${shown} answered 404: this is not an OTLP collector.`)
}

const fault = (what: string): GazewayError =>
  new GazewayError('upstream_unreachable', `${what} Check OTEL_EXPORTER_OTLP_ENDPOINT, the collector’s HTTP port.`)
