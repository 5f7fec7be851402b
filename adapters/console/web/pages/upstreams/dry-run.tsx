import { useEffect, useState } from 'preact/hooks'
import type { Explained } from '../../../../platform/routes/upstream-routes.ts'
import { ApiError, api } from '../../api.ts'
import { Badge, Card, ErrorNote, type Tone } from '../../components/content.ts'
import { TextField, useAction } from '../../components/forms.ts'
import { DataTable } from '../../components/lists.ts'
import { place } from '../../router.ts'
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

/** Pause after the last key before candidates are asked for, in milliseconds. */
const TYPING_MS = 250

/** Candidates for a model in their order, with the reason and a test of each. @param routes edited routes; null for those in force */
export function DryRun({ routes }: { routes: unknown }) {
  // A link to a model's candidates names it.
  const [model, setModel] = useState(place.value.query.get('model') ?? '')
  const [found, setFound] = useState<Explained | null>(null)
  const { error, run } = useAction()
  const asked = JSON.stringify(routes === null ? { model: model.trim() } : { model: model.trim(), routes })

  useEffect(() => {
    if (model.trim() === '') return setFound(null)
    const ending = new AbortController()
    const ask = async () => {
      try {
        const signal = ending.signal
        setFound(
          routes === null
            ? await api.get<Explained>(`/api/candidates?model=${encodeURIComponent(model.trim())}`, { signal })
            : await api.post('/api/candidates', JSON.parse(asked), { signal }),
        )
      } catch (fault) {
        if (fault instanceof ApiError) throw fault
      }
    }
    const timer = setTimeout(() => void run(ask), TYPING_MS)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [asked])

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
      {model.trim() !== '' && <ErrorNote error={error} />}
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
