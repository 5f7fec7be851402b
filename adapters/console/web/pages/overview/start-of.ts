/** What calls add up to, as `/api/calls/stats` says. */
export interface CallSums {
  calls: number
  errors: number
  /** Calls for which no provider was asked, of those in `calls`. */
  refused: number
  error_rate: number
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  upstream_cost_usd: number
  latency_ms: { p50: number | null; p95: number | null; p99: number | null }
}

/** The sums of a time range, in total and by group. */
export interface CallStats {
  totals: CallSums
  groups: (CallSums & { key: string })[]
  fallbacks: { requests: number; fallen_back: number; rate: number }
}

/** What `/health` says. `upstream` is the agent gateway behind the platform. */
export interface Health {
  status: 'ok' | 'degraded'
  version: string
  uptime_seconds: number
  store: { engine: string; ok: boolean }
  mode: 'enhanced' | 'portable' | 'disconnected'
  upstream: {
    url: string
    reachable: boolean
    kind: string
    version: string | null
    latency_ms: number | null
    checked_at: string | null
    error: string | null
  }
}

/** What `/api/config/model` says. */
export interface ModelConfig {
  provider: string
  base_url: string
  models: { primary: string; fallback: string; chat: string }
  aliases: Record<string, string>
  preset_aliases: Record<string, string>
  api_key_set: boolean
  api_key_needed: boolean
}

/** The start of the hour, or of the day in the reader's zone, that a time is in; RFC 3339. */
export function startOf(unit: 'hour' | 'day', ms: number): string {
  const start = new Date(ms)
  if (unit === 'day') start.setHours(0)
  start.setMinutes(0, 0, 0)
  return start.toISOString()
}
