import { useState } from 'preact/hooks'
import type { Explained, Tested } from '../../../../platform/routes/upstream-routes.ts'
import { api, PATIENT_MS } from '../../api.ts'
import {
  Badge,
  Button,
  Card,
  DataTable,
  Empty,
  ErrorNote,
  Field,
  Form,
  TextInput,
  useAction,
} from '../../components/components.ts'
import { place } from '../../router.ts'
import { useLive } from '../../use-live.ts'

const REASONS: Readonly<Record<Explained['by'], string>> = {
  route: 'by a route',
  name: 'by the upstream name before the slash',
  models: 'by the models of the upstream',
  default: 'by default',
}

type Candidate = Explained['candidates'][number]

/** Candidates for a model, with a test of each. */
export function Candidates({ round }: { round: number }) {
  // A link to a model's candidates names it.
  const given = place.value.query.get('model')
  const [model, setModel] = useState(given ?? '')
  const [asked, setAsked] = useState<string | null>(given)
  const found = useLive<Explained>(
    // The fragment loads the candidates again after routes are saved.
    asked === null ? null : `/api/candidates?model=${encodeURIComponent(asked)}#${round}`,
    { everyMs: 10_000 },
  )
  const by = found.data && (found.data.route === null ? REASONS[found.data.by] : `by route ${found.data.route + 1}`)
  return (
    <Card title="Candidates for a model">
      <Form class="fields" onSubmit={() => setAsked(model.trim())}>
        <Field label="Model" hint="As in the client’s request">
          <TextInput value={model} required spellcheck={false} onInput={setModel} />
        </Field>
        <div class="actions">
          <Button type="submit">Show candidates</Button>
        </div>
      </Form>
      <ErrorNote error={found.error} onRetry={found.reload} />
      {found.data && (
        <>
          <p>
            {found.data.model} is sent to these candidates, {by}:
          </p>
          <DataTable<Candidate>
            label="Candidates"
            rows={found.data.candidates}
            rowKey={({ upstream, model: name }) => `${upstream}/${name}`}
            empty={<Empty title="No candidates" hint="The route names upstreams that do not exist." />}
            columns={[
              { key: 'upstream', label: 'Upstream' },
              { key: 'id', label: 'Upstream model', align: 'words' },
              { key: 'weight', label: 'Weight', align: 'right' },
              { key: 'test', label: 'Test', render: (candidate) => <Test of={candidate} /> },
            ]}
          />
        </>
      )}
    </Card>
  )
}

function Test({ of: { upstream, model, configured } }: { of: Candidate }) {
  const [tested, setTested] = useState<Tested | null>(null)
  const { busy, error, run } = useAction()
  if (!configured) return <Badge tone="warn">API key missing</Badge>

  const test = async () => {
    const path = `/api/upstreams/${encodeURIComponent(upstream)}/test` as const
    setTested(await api.post(path, { model }, { timeoutMs: PATIENT_MS }))
  }
  return (
    <>
      <Button size="small" busy={busy} label={`Test ${upstream} with ${model}`} onClick={() => void run(test)}>
        Test
      </Button>
      <ErrorNote error={error} />
      {tested && (
        <div role="status">
          <Badge tone={tested.ok ? 'good' : 'bad'}>{tested.ok ? 'answers' : 'fails'}</Badge>{' '}
          {tested.status !== null && `${tested.status}, `}
          {tested.latency_ms} ms: {tested.text}
        </div>
      )}
    </>
  )
}
