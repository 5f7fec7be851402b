import * as z from 'zod'
import { type Detected, detect, type Target } from './detect.ts'

/** Version of the agent gateway that the platform targets. */
const TARGET = '0.17'
/** Pause between two checks, in milliseconds. */
const EVERY_MS = 10_000
/** Timeout of a check in milliseconds. */
const PATIENCE_MS = 3_000

/** Status of the agent gateway. */
export const AgentGatewayStatus = z.object({
  url: z.string().nullable().describe('Its address, for admins; null for others.'),
  reachable: z.boolean(),
  kind: z.enum(['gazeway', 'agent_gateway', 'unknown']),
  version: z
    .string()
    .nullable()
    .describe('Reported version; a range such as ">=0.12 <0.17" when only its routes show it.'),
  supported: z.boolean().describe('Whether it is a Gazeway, or an agent gateway of 0.12 or later.'),
  target: z.literal(TARGET),
  latency_ms: z.int().nullable(),
  checked_at: z.iso.datetime().nullable().describe('Null until the first check has ended.'),
  error: z.string().nullable().describe('Error in a sentence: not reachable, or key rejected; null without one.'),
})
export type AgentGatewayStatus = z.infer<typeof AgentGatewayStatus>

/** Mode of the platform: with an agent gateway, with plain inference, or on its own. */
export type Mode = 'enhanced' | 'portable' | 'disconnected'

/** A repeated check of the agent gateway, in the background. */
export interface Probe {
  /** Returns the result of the last check at once. */
  current(): AgentGatewayStatus
  /** Checks now, and 10 s after each check. */
  start(): void
  /** Cancels the running check and stops. */
  stop(): Promise<void>
}

/** Creates a probe of the agent gateway at `target`. Probing begins with `start`. */
export function createProbe(target: Target, now: () => Date): Probe {
  const ending = new AbortController()
  let status = statusOf({
    reachable: false,
    kind: 'unknown',
    version: null,
    supported: false,
    latencyMs: null,
    error: null,
  })
  let timer: NodeJS.Timeout | undefined
  let checking: Promise<void> | undefined

  function statusOf({ latencyMs, ...found }: Detected, checkedAt: string | null = null): AgentGatewayStatus {
    return { url: target.url, ...found, target: TARGET, latency_ms: latencyMs, checked_at: checkedAt }
  }

  async function check(): Promise<void> {
    const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(PATIENCE_MS)])
    const found = await detect(target, signal)
    if (ending.signal.aborted) return
    status = statusOf(found, now().toISOString())
    timer = setTimeout(start, EVERY_MS).unref()
  }

  function start(): void {
    checking = check()
  }

  return {
    current: () => status,
    start,
    async stop() {
      ending.abort()
      clearTimeout(timer)
      await checking
    },
  }
}

/** Returns the mode of a status. */
export function modeOf({ reachable, supported, kind }: AgentGatewayStatus): Mode {
  if (!reachable) return 'disconnected'
  return supported && kind === 'agent_gateway' ? 'enhanced' : 'portable'
}

/** Tells whether the last check found a working service: it answers and accepts its key. */
export const isSound = ({ reachable, error }: Pick<AgentGatewayStatus, 'reachable' | 'error'>): boolean =>
  reachable && error === null
