import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { parseJson } from '../text/json.ts'
import { networkFetch } from '../wire/network-fetch.ts'
import { readText, refusesKey } from './request-agent-gateway.ts'
import type { AgentGatewayTarget } from './target.ts'

/** Oldest supported minor version of the agent gateway, 0.12. */
const OLDEST_MINOR = 12
/** Largest health reply that is read, in bytes. */
const MAX_BYTES = 64 * 1024
/** Statuses of `/health` from services without that route, or that restrict it. They may still serve models. */
const NO_HEALTH = [401, 403, 404, 405]

/** Result of a check of an agent gateway's address. */
export interface Detected {
  reachable: boolean
  /** A Gazeway, an agent gateway that the platform supports, or another service. */
  kind: 'gazeway' | 'agent_gateway' | 'unknown'
  /** Reported version; a range when only its routes show it. */
  version: string | null
  supported: boolean
  latencyMs: number | null
  /** Reason why it is unreachable or unusable, as a sentence; null without a fault. */
  error: string | null
}

/** Fields of a health reply that identify the service. */
const Health = z.object({
  version: z.string().optional(),
  platform: z.string().optional(),
  store: z.object({ engine: z.string() }).optional(),
})

/** Address and key of a check. This process's own gateway needs no key. */
export type Target = Pick<AgentGatewayTarget, 'url' | 'key' | 'isOwn'>

/**
 * Detects the service at an address, and whether it accepts the key. Never throws; an unreachable service is a result.
 *
 * - Agent gateways report their version in `/health` from 0.17 on. Before, the route `/v1/capabilities`, added in 0.12,
 *   shows the range.
 * - A service whose `/health` names no `platform` is an agent gateway if it has that route.
 * - An inference-only service may have no `/health`; it lists its models.
 *
 * @param target.key sent only to routes below `/v1`
 */
export async function detect(target: Target, signal: AbortSignal): Promise<Detected> {
  const began = performance.now()
  try {
    const reply = await networkFetch(`${target.url}/health`, { redirect: 'manual', signal })
    const latencyMs = Math.round(performance.now() - began)
    const health = await healthIn(reply)
    if (!reply.ok && !NO_HEALTH.includes(reply.status))
      return { ...NOTHING, latencyMs, error: `It answered ${reply.status} on /health.` }
    const found = { reachable: true, latencyMs }
    if (health?.store) {
      const error = target.isOwn ? null : await faultOfKey(target, '/v1/capabilities', signal)
      return { ...found, kind: 'gazeway', version: health.version ?? null, supported: true, error }
    }
    const version = versionOf(health?.version)
    const isAgent = health?.platform !== undefined || (version !== null && (await hasCapabilities(target, signal)))
    if (!isAgent) return { ...NOTHING, latencyMs, ...(await inferring(target, reply.ok, signal)) }
    const range = version ?? (await rangeOf(target, signal))
    return { ...found, kind: 'agent_gateway', ...range, error: await faultOfKey(target, '/v1/models', signal) }
  } catch (error) {
    return { ...NOTHING, error: reason(error) }
  }
}

const NOTHING = { reachable: false, kind: 'unknown', version: null, supported: false, latencyMs: null } as const

async function healthIn(reply: Response): Promise<z.infer<typeof Health> | undefined> {
  if (reply.ok) return Health.safeParse(parseJson(await readText(reply, MAX_BYTES))).data
  await reply.body?.cancel()
}

/**
 * Explains why the key is rejected; null when it is accepted, or on a timeout.
 *
 * On a Gazeway, it avoids the list of models, which would be a recorded call to its provider. A Gazeway checks keys on
 * every path below `/v1`.
 */
async function faultOfKey(target: Target, path: string, signal: AbortSignal): Promise<string | null> {
  const status = await statusOf(target, path, signal).catch(() => null)
  return status !== null && refusesKey(status) ? keyFault(target, status) : null
}

/** Describes an unknown service. It serves models if it lists them, or if its list is only late. */
async function inferring(
  target: Target,
  hasHealth: boolean,
  signal: AbortSignal,
): Promise<Pick<Detected, 'reachable' | 'error'>> {
  const reply = await askBelowV1(target, '/v1/models', signal).catch((error) => {
    if (!hasHealth) throw error
  })
  // Its health has answered. A list that comes from its own providers may take long.
  if (!reply) return { reachable: true, error: null }
  const { status, ok, headers, body } = reply
  await body?.cancel()
  if (refusesKey(status)) return { reachable: true, error: keyFault(target, status) }
  if (ok && /\bjson\b/i.test(headers.get('content-type') ?? '')) return { reachable: true, error: null }
  if (status === 429) return { reachable: true, error: null }
  if (status >= 500) return { reachable: hasHealth, error: `It answered ${status} on /v1/models. Retry later.` }
  const answered = `It answered ${status} on /v1/models, not with a list of models`
  if (!hasHealth) return { reachable: false, error: `${answered}.` }
  return { reachable: true, error: `${answered}: check GAZEWAY_AGENT_GATEWAY_URL.` }
}

const keyFault = ({ key }: Target, status: number): string =>
  key === null
    ? `It asks for a key (${status}): set GAZEWAY_AGENT_GATEWAY_KEY.`
    : `It refuses the key that was sent (${status}): check GAZEWAY_AGENT_GATEWAY_KEY.`

function versionOf(reported: string | undefined): Pick<Detected, 'version' | 'supported'> | null {
  const [version, major, minor] = /(\d{1,6})\.(\d{1,6})(?:\.\d{1,6})?/.exec(reported ?? '') ?? []
  if (version === undefined) return null
  return { version, supported: Number(major) > 0 || Number(minor) >= OLDEST_MINOR }
}

async function rangeOf(target: Target, signal: AbortSignal): Promise<Pick<Detected, 'version' | 'supported'>> {
  const there = await hasCapabilities(target, signal)
  return there ? { version: '>=0.12 <0.17', supported: true } : { version: '<0.12', supported: false }
}

async function hasCapabilities(target: Target, signal: AbortSignal): Promise<boolean> {
  const status = await statusOf(target, '/v1/capabilities', signal)
  // A rejected key also shows that the route exists.
  return (status >= 200 && status < 300) || refusesKey(status)
}

async function statusOf(target: Target, path: string, signal: AbortSignal): Promise<number> {
  const { status, body } = await askBelowV1(target, path, signal)
  await body?.cancel()
  return status
}

function askBelowV1({ url, key }: Target, path: string, signal: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
  return networkFetch(url + path, { headers, redirect: 'manual', signal })
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'It did not answer in time.'
  // A name with several addresses, all of which failed.
  if (error instanceof AggregateError) return reason(error.errors[0])
  if (error.cause instanceof Error) return reason(error.cause)
  if (error instanceof GazewayError) return error.message
  // Its code alone: the message of a network's error has the address.
  return 'code' in error ? `No connection (${String(error.code)}).` : `${error.message.replace(/\.$/, '')}.`
}
