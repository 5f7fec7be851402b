import { useEffect, useState } from 'preact/hooks'
import type { ExplainedGaze } from '../../../../../src/gaze/explained.ts'
import { ApiError, api, PATIENT_MS } from '../../api.ts'
import {
  Badge,
  BarList,
  Button,
  Card,
  Empty,
  ErrorNote,
  Field,
  Grid,
  Loading,
  Stat,
  TextInput,
} from '../../components/components.ts'
import { count, duration, percent } from '../../format.ts'
import { href } from '../../router.ts'
import './attention.css'

/** Figures of a session and their findings. On demand, a model explains them. */
export function Analysis({ sessionId, records }: { sessionId: string; records: number }) {
  const [figures, setFigures] = useState<ExplainedGaze | null>(null)
  const [explained, setExplained] = useState<ExplainedGaze | null>(null)
  const [question, setQuestion] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError | null>(null)

  const analyze = async (narrate: boolean) => {
    const body = { session_id: sessionId, narrate, ...(narrate && question.trim() && { question: question.trim() }) }
    try {
      setError(null)
      return await api.post<ExplainedGaze>('/api/gaze/analyze', body, narrate ? { timeoutMs: PATIENT_MS } : {})
    } catch (fault) {
      if (!(fault instanceof ApiError)) throw fault
      setError(fault)
      return null
    }
  }
  useEffect(() => {
    let gone = false
    void analyze(false).then((answer) => {
      if (!gone && answer) setFigures(answer)
    })
    return () => {
      gone = true
    }
    // New records change the figures.
  }, [sessionId, records])

  const explain = async () => {
    setBusy(true)
    const answer = await analyze(true)
    setBusy(false)
    if (answer) setExplained(answer)
  }

  if (figures === null)
    return error ? (
      <ErrorNote error={error} onRetry={() => void analyze(false).then(setFigures)} />
    ) : (
      <Loading what="the figures" />
    )
  const { metrics, classification, findings, truncated } = figures
  return (
    <>
      <Grid of="figures">
        <Stat
          label="Classification"
          value={classification.dominant}
          hint={figures.tensor.replaceAll('/', ' ')}
          tone="accent"
        />
        <Stat
          label="Fixations"
          value={count(metrics.fixations.count)}
          hint={`median ${msOf(metrics.fixations.median_ms)}`}
        />
        <Stat
          label="Saccades"
          value={count(metrics.saccades.count)}
          hint={`mean length ${shareOf(metrics.saccades.mean_amplitude)}`}
        />
        <Stat label="Focus" value={shareOf(metrics.focus.mean)} hint={trendOf(metrics.focus.trend_per_min)} />
        <Stat label="Load" value={shareOf(metrics.load.mean)} hint={trendOf(metrics.load.trend_per_min)} />
        <Stat
          label="Transitions"
          value={count(metrics.transitions.count)}
          hint={`entropy ${metrics.transitions.entropy_bits.toFixed(2)} bits`}
        />
      </Grid>
      <Grid>
        <Card title="Findings">
          {findings.length === 0 ? (
            <Empty title="No findings" />
          ) : (
            <ul class="findings">
              {findings.map(({ kind, severity, text }) => (
                <li key={kind}>
                  <Badge tone={severity === 'warning' ? 'warn' : 'neutral'}>{severity}</Badge> {text}
                </li>
              ))}
            </ul>
          )}
          {truncated && <p class="hint">The figures cover the newest 10,000 records.</p>}
        </Card>
        <Card title="Attention by place">
          <BarList
            label="Attention by place"
            items={metrics.dwell_by_place.map(({ path, dwell_ms, share, visits }) => ({
              label: path,
              value: dwell_ms,
              text: `${duration(dwell_ms)} · ${percent(share)} · ${count(visits)} ${visits === 1 ? 'visit' : 'visits'}`,
            }))}
          />
        </Card>
        <Card title="Explanation" wide>
          <form
            class="stack"
            onSubmit={(event) => {
              event.preventDefault()
              void explain()
            }}
          >
            <Field
              label="Question"
              hint="Optional. The chat model answers from the figures above. The call costs money."
            >
              <TextInput
                value={question}
                onInput={setQuestion}
                maxLength={2000}
                placeholder="Where did I lose focus?"
              />
            </Field>
            <div class="actions">
              <Button type="submit" tone="primary" busy={busy}>
                Explain
              </Button>
            </div>
          </form>
          <ErrorNote error={error} />
          {explained?.narrative && <p class="narrative">{explained.narrative}</p>}
          {explained?.narrative_error && <ErrorNote error={new Error(`No narrative: ${explained.narrative_error}`)} />}
          {explained?.call_id && (
            <p class="hint">
              Written by the call <a href={href('calls', { id: explained.call_id })}>{explained.call_id}</a>
            </p>
          )}
        </Card>
      </Grid>
    </>
  )
}

const msOf = (ms: number | null) => (ms === null ? '—' : duration(ms))
const shareOf = (share: number | null) => (share === null ? '—' : percent(share))

function trendOf(perMinute: number | null): string {
  if (perMinute === null || Math.abs(perMinute) < 0.005) return 'steady'
  return `${perMinute > 0 ? 'rising' : 'falling'} by ${percent(Math.abs(perMinute))} a minute`
}
