import { useState } from 'preact/hooks'
import type { Config } from '../../../../../src/config/config-schema.ts'
import { api } from '../../api.ts'
import { Card, Empty, ErrorNote, NotLoaded } from '../../components/content.ts'
import { Button, type FieldSpec, Filters, Form, Primary, useAction } from '../../components/forms.ts'
import { Ordered } from '../../components/ordered.tsx'
import { useLive } from '../../use-live.ts'
import { tell } from '../settings/saved-notice.ts'
import { DryRun } from './dry-run.tsx'
import { draftOf, NEW_ROUTE, NEW_TARGET, type RouteDraft, routeOf, type TargetDraft } from './route-draft.ts'

const STRATEGIES = [
  { value: 'order', label: 'in order' },
  { value: 'weighted', label: 'first by weight' },
] as const

const FIELDS: FieldSpec<RouteDraft>[] = [
  { name: 'model', label: 'Model', hint: 'Name or glob, such as gpt-*', required: true, spellcheck: false },
  { name: 'strategy', label: 'Candidates are tried', hint: 'The next when one cannot answer', options: STRATEGIES },
  { name: 'hedgeAfter', label: 'Hedged after', hint: 'Milliseconds; empty: never', type: 'number' },
]

/** Editor of all routes with a dry run of them. They are saved together; the first that matches a model decides. */
export function RouteEditor() {
  const present = useLive<{ config: Pick<Config, 'routes' | 'upstreams'> }>('/api/config', { everyMs: 10_000 })
  const [edited, setEdited] = useState<RouteDraft[] | null>(null)
  const { busy, error, run } = useAction()
  if (!present.data) return <NotLoaded of={present} what="routes" />
  const { routes, upstreams } = present.data.config
  const drafts = edited ?? routes.map(draftOf)
  const names = ['default', ...Object.keys(upstreams)]

  const save = async () => {
    const changed = await api.patch('/api/config', { routes: drafts.map(routeOf) })
    setEdited(null)
    present.reload()
    tell(changed)
  }

  return (
    <>
      <DryRun routes={edited === null ? null : drafts.map(routeOf)} />
      <Card title="Routes">
        <Form onSubmit={() => run(save)}>
          {drafts.length === 0 && (
            <Empty
              title="No routes"
              hint="NAME/MODEL goes to the upstream NAME. Every other model goes to the first upstream that serves it, else to default."
            />
          )}
          <Ordered label="Routes" items={drafts} nameOf={(_, at) => `route ${at + 1}`} onChange={setEdited}>
            {(draft, at) => (
              <RouteFields
                at={at}
                draft={draft}
                names={names}
                onEdit={(change) => setEdited(drafts.with(at, { ...draft, ...change }))}
              />
            )}
          </Ordered>
          <ErrorNote error={error} />
          <div class="actions">
            <Button onClick={() => setEdited([...drafts, NEW_ROUTE])}>Add a route</Button>
            {edited !== null && (
              <>
                <Primary busy={busy}>Save routes</Primary>
                <Button tone="quiet" onClick={() => setEdited(null)} children="Discard" />
              </>
            )}
          </div>
        </Form>
      </Card>
    </>
  )
}

/** One route with its candidates in their order. */
function RouteFields(props: {
  at: number
  draft: RouteDraft
  /** Names of the upstreams. */
  names: readonly string[]
  onEdit: (change: Partial<RouteDraft>) => void
}) {
  const { at, draft, names, onEdit } = props
  const targets: FieldSpec<TargetDraft>[] = [
    { name: 'upstream', label: 'Upstream', options: names },
    { name: 'model', label: 'Upstream model', placeholder: 'as requested', spellcheck: false },
    ...(draft.strategy === 'weighted'
      ? [{ name: 'weight', label: 'Weight', placeholder: 'of the upstream' } as const]
      : []),
  ]
  return (
    <fieldset>
      <legend>Route {at + 1}</legend>
      <Filters draft={draft} edit={onEdit} fields={FIELDS} />
      <Ordered
        label={`Candidates of route ${at + 1}`}
        items={draft.to}
        nameOf={(_, place) => `candidate ${place + 1} of route ${at + 1}`}
        onChange={(to) => onEdit({ to })}
      >
        {(target, place) => (
          <Filters
            draft={target}
            edit={(change) => onEdit({ to: draft.to.with(place, { ...target, ...change }) })}
            fields={targets}
          />
        )}
      </Ordered>
      <div class="actions">
        <Button
          size="small"
          label={`Add a candidate to route ${at + 1}`}
          onClick={() => onEdit({ to: [...draft.to, NEW_TARGET] })}
        >
          Add a candidate
        </Button>
      </div>
    </fieldset>
  )
}
