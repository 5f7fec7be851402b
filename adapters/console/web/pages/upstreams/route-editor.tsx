import { useState } from 'preact/hooks'
import type { Config } from '../../../../../src/config/config-schema.ts'
import { api } from '../../api.ts'
import {
  Button,
  Card,
  Empty,
  ErrorNote,
  type FieldSpec,
  Form,
  FormFields,
  NotLoaded,
  Primary,
  useAction,
} from '../../components/components.ts'
import { useLive } from '../../use-live.ts'
import { tell } from '../settings/configuration.tsx'
import { draftOf, NEW_ROUTE, type RouteDraft, routeOf } from './route-draft.ts'

const STRATEGIES = [
  { value: 'order', label: 'in order' },
  { value: 'weighted', label: 'first by weight' },
] as const

const FIELDS: FieldSpec<RouteDraft>[] = [
  { name: 'model', label: 'Model', hint: 'Name or glob, such as gpt-*', required: true, spellcheck: false },
  {
    name: 'targets',
    label: 'Candidates',
    hint: 'One per line: NAME, NAME/MODEL, or NAME/MODEL weight 3',
    rows: 3,
    required: true,
    spellcheck: false,
  },
  { name: 'strategy', label: 'Strategy', options: STRATEGIES },
  {
    name: 'hedgeAfter',
    label: 'Hedged after',
    hint: 'Milliseconds before the next candidate is also asked. Empty: never.',
    type: 'number',
  },
]

/** Editor of all routes, which are saved together. The first route that matches a model decides. */
export function RouteEditor({ onSaved }: { onSaved: () => void }) {
  const present = useLive<{ config: Pick<Config, 'routes'> }>('/api/config', { everyMs: 10_000 })
  const [edited, setEdited] = useState<RouteDraft[] | null>(null)
  const { busy, error, run } = useAction()
  if (!present.data) return <NotLoaded of={present} what="routes" />
  const drafts = edited ?? present.data.config.routes.map(draftOf)

  const save = async () => {
    const changed = await api.patch('/api/config', { routes: drafts.map(routeOf) })
    setEdited(null)
    present.reload()
    onSaved()
    tell(changed)
  }

  return (
    <Card title="Routes">
      <Form onSubmit={() => run(save)}>
        {drafts.length === 0 && (
          <Empty
            title="No routes"
            hint="NAME/MODEL goes to the upstream NAME. Every other model goes to the first upstream that serves it, else to default."
          />
        )}
        {drafts.map((_, at) => (
          <RouteFields key={at} drafts={drafts} at={at} onEdit={setEdited} />
        ))}
        <ErrorNote error={error} />
        <div class="actions">
          <Button onClick={() => setEdited([...drafts, NEW_ROUTE])}>Add a route</Button>
          {edited !== null && (
            <>
              <Primary busy={busy}>Save routes</Primary>
              <Button tone="quiet" onClick={() => setEdited(null)}>
                Discard
              </Button>
            </>
          )}
        </div>
      </Form>
    </Card>
  )
}

/** One route with its place among the others. */
function RouteFields(props: { drafts: RouteDraft[]; at: number; onEdit: (drafts: RouteDraft[]) => void }) {
  const { drafts, at, onEdit } = props
  const draft = drafts[at] ?? NEW_ROUTE
  const others = drafts.filter((_, i) => i !== at)
  return (
    <fieldset class="fields">
      <legend>Route {at + 1}</legend>
      <FormFields draft={draft} edit={(change) => onEdit(drafts.with(at, { ...draft, ...change }))} fields={FIELDS} />
      <div class="actions">
        {at > 0 && (
          <Button
            size="small"
            label={`Move route ${at + 1} up`}
            onClick={() => onEdit(others.toSpliced(at - 1, 0, draft))}
          >
            Up
          </Button>
        )}
        <Button size="small" tone="quiet" label={`Remove route ${at + 1}`} onClick={() => onEdit(others)}>
          Remove
        </Button>
      </div>
    </fieldset>
  )
}
