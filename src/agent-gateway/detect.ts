import { z } from 'zod'
import { parseJson } from '../json.ts'
import { readText } from './ask.ts'

/** The oldest version of the agent gateway that is supported, 0.12. */
const OLDEST_MINOR = 12
/** The largest health reply that is read, in bytes. */
const MOST_BYTES = 64 * 1024

/** What was found at an agent gateway's address. */
export interface Detected {
  reachable: boolean
  /** A Gazeway, an agent gateway of the kind that the platform builds on, or something else. */
  kind: 'gazeway' | 'agent_gateway' | 'unknown'
  /** As it reports it; a range where only its routes tell. */
  version: string | null
  supported: boolean
  latencyMs: number | null
  /** Why it was not reached. */
  error: string | null
}

/** As much of a health reply as tells what answered. */
const Health = z.object({
  version: z.string().optional(),
  platform: z.string().optional(),
  store: z.object({ engine: z.string() }).optional(),
})

/**
 * Asks what answers at `url`. Agent gateways report their version in `/health` from 0.17 on; before, the route
 * `/v1/capabilities`, which came with 0.12, tells the range.
 *
 * @param key sent to `/v1/capabilities` only
 * @returns also when nothing answers; never throws
 */
export async function detect(url: string, key: string | null, signal: AbortSignal): Promise<Detected> {
  const began = performance.now()
  try {
    const reply = await fetch(`${url}/health`, { redirect: 'manual', signal })
    const latencyMs = Math.round(performance.now() - began)
    const health = Health.safeParse(parseJson(await readText(reply, MOST_BYTES)))
    if (!reply.ok) return { ...NOTHING, latencyMs, error: `It answered ${reply.status} on /health.` }
    const found = { reachable: true, latencyMs, error: null }
    if (health.data?.store) return { ...found, kind: 'gazeway', version: health.data.version ?? null, supported: true }
    if (health.data?.platform === undefined) return { ...found, kind: 'unknown', version: null, supported: false }
    return { ...found, kind: 'agent_gateway', ...(versionOf(health.data.version) ?? (await rangeOf(url, key, signal))) }
  } catch (error) {
    return { ...NOTHING, error: reason(error) }
  }
}

const NOTHING = { reachable: false, kind: 'unknown', version: null, supported: false, latencyMs: null } as const

function versionOf(reported: string | undefined): Pick<Detected, 'version' | 'supported'> | null {
  const [version, major, minor] = /(\d{1,6})\.(\d{1,6})(?:\.\d{1,6})?/.exec(reported ?? '') ?? []
  if (version === undefined) return null
  return { version, supported: Number(major) > 0 || Number(minor) >= OLDEST_MINOR }
}

async function rangeOf(
  url: string,
  key: string | null,
  signal: AbortSignal,
): Promise<Pick<Detected, 'version' | 'supported'>> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
  const reply = await fetch(`${url}/v1/capabilities`, { headers, redirect: 'manual', signal })
  await reply.body?.cancel()
  // A refusal of the key shows, too, that the route is there.
  const there = reply.ok || reply.status === 401 || reply.status === 403
  return there ? { version: '>=0.12 <0.17', supported: true } : { version: '<0.12', supported: false }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'It did not answer in time.'
  return error.cause instanceof Error ? reason(error.cause) : error.message
}
