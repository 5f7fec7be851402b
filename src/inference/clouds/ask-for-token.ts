import { GazewayError } from '../../errors.ts'
import { cut } from '../../text/cut.ts'
import { isObject, parseJson } from '../../text/json.ts'
import { fieldsOrNone, isText } from '../../text/lenient-reader.ts'
import { networkFetch } from '../../wire/network-fetch.ts'
import type { OwnProxy } from '../../wire/proxy-choice.ts'
import { clockFault } from './clock-fault.ts'

/** Time limit of a service that gives tokens over the network, and of one on this machine, in milliseconds. */
const NETWORK_MS = 10_000
const MACHINE_MS = 2_000

/** A service that gives credentials. */
export interface TokenService {
  /** Name for operators, such as `Microsoft Entra`. */
  name: string
  url: string
  init: RequestInit
  /** `network`, through the proxy if there is one; `machine`: an address of this machine, where silence means none. */
  on: { proxy: OwnProxy | null } | 'machine'
  /** Advice for a refusal. */
  remedy: string
}

/**
 * Asks a service for credentials.
 *
 * @returns the JSON object of its reply; null when a service of this machine does not answer
 * @throws GazewayError `upstream_not_configured` with its reason when it refuses, `upstream_unreachable` when it cannot
 *   be reached
 */
export async function askForToken(service: TokenService): Promise<Record<string, unknown> | null> {
  const { url, on } = service
  const signal = AbortSignal.timeout(on === 'machine' ? MACHINE_MS : NETWORK_MS)
  const init: RequestInit = { ...service.init, signal, redirect: 'error' }
  let reply: Response
  let text: string
  try {
    reply = on === 'machine' ? await fetch(url, init) : await networkFetch(url, init, on.proxy)
    text = await reply.text()
  } catch (cause) {
    if (on === 'machine') return null
    throw new GazewayError(
      'upstream_unreachable',
      `${service.name} (${new URL(url).host}) could not be reached for a token. Check the network.`,
      { cause },
    )
  }
  const body = parseJson(text)
  if (reply.ok && isObject(body)) return body
  throw new GazewayError('upstream_not_configured', refusedBy(service, reply, body))
}

/** An error of the service, with its code and its own first sentence. Its request is never shown. */
function refusedBy({ name, remedy }: TokenService, { status, headers }: Response, body: unknown): string {
  const { error, error_description: described, message } = fieldsOrNone(body)
  const own = isObject(error) ? error.message : described
  const reason = [own, message, error].find(isText)?.split(/[\r\n]/)[0]
  const stated = reason === undefined ? '' : `: ${cut(reason, 0, 300)}`
  const clock = clockFault(headers.get('date'))
  return `${name} answered ${status}${stated}${/[.!]$/.test(stated) || stated === '' ? '' : '.'} ${clock ?? remedy}`
}
