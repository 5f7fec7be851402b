import { useState } from 'preact/hooks'
import type { Tested } from '../../../../platform/routes/upstream-routes.ts'
import { api, PATIENT_MS } from '../../api.ts'
import { Badge, ErrorNote } from '../../components/content.ts'
import { Button, useAction } from '../../components/forms.ts'

/**
 * Button that asks a model for a word, and shows the answer.
 *
 * @param of name of what is tested, for screen readers
 * @param test its error is shown
 */
export function TestButton(props: { words?: string; of: string; test: () => Promise<Tested | null> }) {
  const { words = 'Test', of, test } = props
  const [tested, setTested] = useState<Tested | null>(null)
  const { busy, error, run } = useAction()
  const ask = async () => setTested(await test())
  return (
    <>
      <Button size="small" busy={busy} label={`${words} ${of}`} onClick={() => void run(ask)} children={words} />{' '}
      <ErrorNote error={error} />
      {tested && (
        <span role="status">
          <Badge tone={tested.ok ? 'good' : 'bad'}>{tested.ok ? 'answers' : 'fails'}</Badge>{' '}
          {tested.status !== null && `${tested.status}, `}
          {tested.latency_ms} ms: {tested.text}
        </span>
      )}
    </>
  )
}

/** Button that tests a model at an upstream. A success closes its circuit breaker. */
export function TestCandidate({ upstream, model, words }: { upstream: string; model: string; words?: string }) {
  const path = `/api/upstreams/${encodeURIComponent(upstream)}/test` as const
  const test = () => api.post(path, { model }, { timeoutMs: PATIENT_MS })
  return <TestButton {...(words !== undefined && { words })} of={`${upstream} with ${model}`} test={test} />
}
