import type { Example } from '../../adapters/platform/openapi.ts'
import type { RunningPlatform } from './platform.ts'

/** The hour of all examples. */
const THEN = Date.parse('2026-01-15T10:00:00.000Z')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const LONGEST_TEXT = 240
const BASE64 = 'ZXhhbXBsZQ=='
/** Most entries of a list. */
const LONGEST_LIST = { records: 1, words: 3 }
/** Fields that a machine measures. */
const MEASURED: Readonly<Record<string, number>> = {
  latency_ms: 240,
  first_token_ms: 90,
  queue_ms: 0,
  first_byte_ms: 80,
  first_thought_ms: 90,
  first_text_ms: 120,
  p50: 240,
  p95: 900,
  p99: 1200,
  uptime_seconds: 3600,
  duration_seconds: 75,
  seen_ms: 40,
  active_ms: 60,
  ms_per_line: 30,
  freshness: 0.97,
}
/** Times in seconds since 1970, from 2023 to 2033. */
const isTime = (value: number): boolean => value > 1.7e9 && value < 2e9

/**
 * Creates what makes an example of what was sent and answered: keys become placeholders, ids and times are those of
 * every recording, texts and lists are short.
 */
export function exampleOf({ url, gatewayUrl }: RunningPlatform) {
  const ids = new Map<string, string>()
  const stable = (id: string, prefix: string) => {
    const known = ids.get(id)
    if (known !== undefined) return known
    const number = [...ids.values()].filter((one) => one.startsWith(prefix)).length + 1
    const next = `${prefix}${number.toString(16).padStart(id.length - prefix.length, '0')}`
    ids.set(id, next)
    return next
  }

  const hosts = [gatewayUrl, url].map((one) => new URL(one).host)

  function text(value: string): string {
    return value
      .replaceAll(hosts[0] ?? '', '127.0.0.1:8811')
      .replaceAll(hosts[1] ?? '', '127.0.0.1:8812')
      .replaceAll(/127\.0\.0\.1:(?!881[12]\b)\d+/g, '127.0.0.1:8545')
      .replaceAll(/gzw_[0-9a-f]{32}_[\w-]{43}/g, `gzw_${'0'.repeat(32)}_${'x'.repeat(43)}`)
      .replaceAll(/gzt_[\w-]{43}/g, `gzt_${'x'.repeat(43)}`)
      .replaceAll(/SHA256:[\w+/]{43}/g, `SHA256:${'x'.repeat(43)}`)
      .replaceAll(/(?<![\w/])[A-Za-z0-9+/]{64,}={0,2}/g, (base64) => (/^[0-9a-f]{64}$/.test(base64) ? base64 : BASE64))
      .replaceAll(/[^\s"]*\/gazeway-(?!keys\b)[\w-]+(?:\/project)?/g, '/home/ann/shop')
      .replaceAll(/\b[a-z]{2,5}_[0-9a-f]{32}\b/g, (id) => stable(id, id.slice(0, id.indexOf('_') + 1)))
      .replaceAll(/\b0x[0-9a-f]{40,64}\b/gi, (hex) => stable(hex, '0x'))
      .replaceAll(/(?<![\w-])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![\w-])/g, (hex) => stable(hex, ''))
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, time)
      .replaceAll(/\b20\d{12}Z/g, '20260115100000Z')
      .replaceAll(/(?<![\w/-])20\d\d-\d\d-\d\d\b(?!T)/g, '2026-01-15')
      .replaceAll(/(?<![\w/-])20\d\d-\d\d\b(?!-)/g, '2026-01')
  }

  function tidy(value: unknown, name = ''): unknown {
    if (typeof value === 'string') {
      const whole = name === 'claim_token' ? 'x'.repeat(value.length) : text(value)
      return whole.length <= LONGEST_TEXT ? whole : `${whole.slice(0, LONGEST_TEXT)}…`
    }
    if (typeof value === 'number') return MEASURED[name] ?? (isTime(value) ? THEN / 1000 : value)
    if (Array.isArray(value)) {
      const longest = typeof value[0] === 'object' ? LONGEST_LIST.records : LONGEST_LIST.words
      return value.slice(0, longest).map((one) => tidy(one))
    }
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [text(key), tidy(one, key)]))
  }

  return ({ path, body, reply }: { path: string; body: unknown; reply: unknown }): Example => ({
    path: text(path),
    ...(body !== undefined && { request: tidy(body) }),
    ...(reply !== undefined && { reply: tidy(reply) }),
  })
}

/** Times keep their distance from the hour of the examples, to the hour; the start of a month or a day stays one. */
function time(value: string): string {
  const now = new Date()
  const at = new Date(value)
  if (value.endsWith('-01T00:00:00.000Z')) {
    const months = (at.getUTCFullYear() - now.getUTCFullYear()) * 12 + at.getUTCMonth() - now.getUTCMonth()
    return new Date(Date.UTC(2026, months)).toISOString()
  }
  if (value.endsWith('T00:00:00.000Z')) {
    const days = Math.round((at.getTime() - now.setUTCHours(0, 0, 0, 0)) / DAY_MS)
    return new Date(Date.UTC(2026, 0, 15 + days)).toISOString()
  }
  const hours = Math.round((at.getTime() - now.getTime()) / HOUR_MS)
  return new Date(THEN + hours * HOUR_MS).toISOString()
}
