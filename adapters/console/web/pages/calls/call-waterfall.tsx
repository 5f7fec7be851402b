import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import type { ExplainedCall } from '../../../../platform/routes/calls-routes.ts'
import { PartsBar } from '../../components/bars.tsx'
import { Card } from '../../components/content.ts'
import { count, duration, timeOf } from '../../format.ts'
import './calls.css'

/** Shortest stream whose rate says something, in milliseconds. */
const SHORTEST_MS = 100

/** A step of a call: its class, its name, and its place on the axis in milliseconds. */
interface Step {
  of: 'queue' | 'input' | 'begun' | 'thought' | 'output' | 'failed'
  label: string
  from: number
  ms: number
}

/** Time of a call on one axis: its queue, the attempts before it, and the steps of its reply, as far as they are known. */
export function Waterfall({ of: { call, attempts } }: { of: ExplainedCall }) {
  const [first] = attempts
  if (first === undefined) return null
  const queued = first.timing?.queue_ms ?? 0
  const began = timeOf(first.at) - queued
  const steps = attempts.flatMap((attempt): Step[] => {
    const from = timeOf(attempt.at) - began
    if (attempt.call_id === call.call_id && call.status !== 'refused') return stepsOf(attempt, from)
    const of = attempt.status === 'error' ? 'failed' : 'input'
    return [{ of, label: attempt.upstream, from, ms: attempt.latency_ms }]
  })
  if (queued > 0) steps.unshift({ of: 'queue', label: 'Queue', from: 0, ms: queued })
  const whole = Math.max(...steps.map(({ from, ms }) => from + ms), 1)
  return (
    <Card title="Time">
      <ol class="waterfall">
        {steps.map(({ of, label, from, ms }) => (
          <li key={`${label} ${from}`}>
            <span>{label}</span>
            <PartsBar
              of={whole}
              parts={[
                { name: 'before', value: from },
                { name: of, value: ms },
              ]}
              label={`${label}: ${duration(ms)}${from > 0 ? `, after ${duration(from)}` : ''}`}
            />
            <span class="figure">{duration(ms)}</span>
          </li>
        ))}
        <li>
          <strong>Total</strong>
          <span class="hint">{rateOf(call)}</span>
          <strong class="figure">{duration(whole)}</strong>
        </li>
      </ol>
    </Card>
  )
}

/** Steps of an attempt. Calls of before have no more than a first token. */
function stepsOf({ status, latency_ms: end, first_token_ms: token, timing }: CallRecord, from: number): Step[] {
  const { first_byte_ms: byte = null, first_thought_ms: thought = null, first_text_ms: text = null } = timing ?? {}
  const output = thought ?? text ?? token
  const begins: [Step['of'], string, number | null][] = [
    ['input', byte === null ? 'First token' : 'First byte', 0],
    ['begun', output === null ? 'Rest of the reply' : 'First token', byte],
    ['thought', 'Thoughts', thought],
    ['output', 'Text', text ?? (thought === null ? token : null)],
  ]
  const known = begins.filter((step): step is [Step['of'], string, number] => step[2] !== null)
  return known
    .map(([of, label, at], place) => {
      const until = known[place + 1]?.[2] ?? end
      return {
        of: status === 'error' ? 'failed' : of,
        label: known.length === 1 ? 'Reply' : label,
        from: from + at,
        ms: Math.max(0, until - at),
      }
    })
    .filter(({ ms }, place) => ms > 0 || place === 0)
}

/** Speed of a streamed answer. */
function rateOf({ usage, latency_ms, first_token_ms, timing }: CallRecord): string | null {
  const begun = timing?.first_thought_ms ?? timing?.first_text_ms ?? first_token_ms
  if (usage === null || begun === null || latency_ms - begun < SHORTEST_MS) return null
  return `${count(Math.round((1000 * usage.completion_tokens) / (latency_ms - begun)))} tokens a second`
}
