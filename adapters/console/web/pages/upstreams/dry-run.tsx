import { useState } from 'preact/hooks'
import type { Explained } from '../../../../platform/routes/upstream-routes.ts'
import { api } from '../../api.ts'
import { Badge, Card, ErrorNote, type Tone } from '../../components/content.ts'
import { TextField } from '../../components/forms.ts'
import { DataTable } from '../../components/lists.ts'
import { place } from '../../router.ts'
import { useTyped } from '../../use-typed.ts'
import { TestCandidate } from './test-button.tsx'

const REASONS: Readonly<Record<Explained['by'], string>> = {
  route: 'by a route',
  name: 'by the upstream name before the slash',
  models: 'by the models of the upstream',
  default: 'by default',
}

type Candidate = Explained['candidates'][number]

const SKIPPED: Readonly<Record<NonNullable<Candidate['skipped']>, [tone: Tone, words: string]>> = {
  no_key: ['warn', 'skipped: API key missing'],
  circuit_open: ['bad', 'skipped: circuit breaker open'],
  keys_resting: ['warn', 'skipped: its keys are paused'],
}

/** Candidates for a model in their order, with the reason and a test of each. @param routes edited routes; null for those in force */
export function DryRun({ routes }: { routes: unknown }) {
  // A link to a model's candidates names it.
  const [model, setModel] = useState(place.value.query.get('model') ?? '')
  const name = model.trim()
  const body = routes === null ? { model: name } : { model: name, routes }
  const { found, error } = useTyped(name === '' ? null : JSON.stringify(body), (signal) =>
    routes === null
      ? api.get<Explained>(`/api/candidates?model=${encodeURIComponent(name)}`, { signal })
      : api.post<Explained>('/api/candidates', body, { signal }),
  )
  const by = found && (found.route === null ? REASONS[found.by] : `by route ${found.route + 1}`)
  return (
    <Card title="Where does a model go?">
      <TextField
        label="Model in a request"
        hint="A dry run of the routes below, saved or not. No model is asked."
        value={model}
        placeholder="gpt-5"
        spellcheck={false}
        onInput={setModel}
      />
      <ErrorNote error={error} />
      {found && (
        <>
          <p role="status">
            {found.model} is sent to these candidates, {by}:
          </p>
          <DataTable<Candidate>
            label="Candidates"
            rows={found.candidates}
            rowKey={({ upstream, model: name }) => `${upstream}/${name}`}
            empty={{ title: 'No candidates', hint: 'The route names upstreams that do not exist.' }}
            columns={[
              { key: 'upstream', label: 'Upstream' },
              { key: 'id', label: 'Upstream model', align: 'words' },
              { key: 'weight', label: 'Weight', align: 'right', fold: 'first' },
              { key: 'skipped', label: 'Now', render: (candidate) => <State of={candidate} /> },
              {
                key: 'test',
                label: 'Test',
                render: (candidate) =>
                  candidate.configured && <TestCandidate upstream={candidate.upstream} model={candidate.model} />,
              },
            ]}
          />
        </>
      )}
    </Card>
  )
}

function State({ of: { skipped } }: { of: Candidate }) {
  const [tone, words] = skipped === null ? (['good', 'tried'] as const) : SKIPPED[skipped]
  return <Badge tone={tone}>{words}</Badge>
}
