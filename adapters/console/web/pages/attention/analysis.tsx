import { useEffect, useState } from 'preact/hooks'
import type { ExplainedGaze } from '../../../../../src/gaze/explain-gaze.ts'
import { api, PATIENT_MS } from '../../api.ts'
import { Badge, Card, Empty, ErrorNote, Grid, NotLoaded, Stat } from '../../components/content.ts'
import { Form, Primary, TextField, useAction } from '../../components/forms.ts'
import { BarList } from '../../components/lists.ts'
import { count, duration, percent } from '../../format.ts'
import { href } from '../../router.ts'
import './attention.css'

type Metrics = ExplainedGaze['metrics']

/** Figures of a session and their findings. On demand, a model explains them. */
export function Analysis({ sessionId, records }: { sessionId: string; records: number }) {
  const [figures, setFigures] = useState<ExplainedGaze | null>(null)
  const { error, run } = useAction()
  const [round, setRound] = useState(0)
  useEffect(() => {
    let gone = false
    void run(async () => {
      const answer = await analysisOf({ session_id: sessionId, narrate: false })
      if (!gone) setFigures(answer)
    })
    return () => {
      gone = true
    }
    // New records change the figures.
  }, [sessionId, records, round])

  if (figures === null) return <NotLoaded of={{ error, reload: () => setRound(round + 1) }} what="the figures" />
  const { metrics, findings, truncated } = figures
  return (
    <>
      <Figures of={figures} />
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
          <BarList label="Attention by place" items={metrics.dwell_by_place.map(barOf)} />
        </Card>
        <Explanation sessionId={sessionId} fault={error} />
      </Grid>
    </>
  )
}

function Figures({ of: { tensor, classification, metrics } }: { of: ExplainedGaze }) {
  const { fixations, saccades, focus, load, transitions } = metrics
  const entropy = `entropy ${transitions.entropy_bits.toFixed(2)} bits`
  return (
    <Grid of="figures">
      <Stat label="Classification" value={classification.dominant} hint={tensor.replaceAll('/', ' ')} tone="accent" />
      <Stat label="Fixations" value={count(fixations.count)} hint={`median ${msOf(fixations.median_ms)}`} />
      <Stat label="Saccades" value={count(saccades.count)} hint={`mean length ${shareOf(saccades.mean_amplitude)}`} />
      <Stat label="Focus" value={shareOf(focus.mean)} hint={trendOf(focus.trend_per_min)} />
      <Stat label="Load" value={shareOf(load.mean)} hint={trendOf(load.trend_per_min)} />
      <Stat label="Transitions" value={count(transitions.count)} hint={entropy} />
    </Grid>
  )
}

/** Explanation by a model, on demand. @param fault error of the figures, shown as well */
function Explanation({ sessionId, fault }: { sessionId: string; fault: unknown }) {
  const [explained, setExplained] = useState<ExplainedGaze | null>(null)
  const [question, setQuestion] = useState('')
  const { busy, error, run } = useAction()
  const explain = async () => {
    const asked = question.trim()
    setExplained(await analysisOf({ session_id: sessionId, narrate: true, ...(asked && { question: asked }) }))
  }
  return (
    <Card title="Explanation">
      <Form onSubmit={() => run(explain)}>
        <TextField
          label="Question"
          hint="Optional. The chat model answers from the figures above. The call costs money."
          value={question}
          onInput={setQuestion}
          maxLength={2000}
          placeholder="Where did I lose focus?"
        />
        <div class="actions">
          <Primary busy={busy}>Explain</Primary>
        </div>
      </Form>
      <ErrorNote error={error ?? fault} />
      {explained?.narrative && <p class="narrative">{explained.narrative}</p>}
      {explained?.narrative_error && <ErrorNote error={new Error(`No narrative: ${explained.narrative_error}`)} />}
      {explained?.call_id && (
        <p class="hint">
          Written by the call <a href={href('calls', { id: explained.call_id })}>{explained.call_id}</a>
        </p>
      )}
    </Card>
  )
}

/** Analyzes a session. @param body.narrate has a model explain the figures, which takes time */
const analysisOf = (body: { session_id: string; narrate: boolean; question?: string }) =>
  api.post('/api/gaze/analyze', body, body.narrate ? { timeoutMs: PATIENT_MS } : {})

const barOf = ({ path, dwell_ms, share, visits }: Metrics['dwell_by_place'][number]) => ({
  label: path,
  value: dwell_ms,
  text: `${duration(dwell_ms)} · ${percent(share)} · ${count(visits)} ${visits === 1 ? 'visit' : 'visits'}`,
})

const msOf = (ms: number | null) => (ms === null ? '—' : duration(ms))
const shareOf = (share: number | null) => (share === null ? '—' : percent(share))

function trendOf(perMinute: number | null): string {
  if (perMinute === null || Math.abs(perMinute) < 0.005) return 'steady'
  return `${perMinute > 0 ? 'rising' : 'falling'} by ${percent(Math.abs(perMinute))} a minute`
}
