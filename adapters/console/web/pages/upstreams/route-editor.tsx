import { useState } from 'preact/hooks'
import type { Config } from '../../../../../src/config/config-schema.ts'
import type { ConfigChanged } from '../../../../platform/routes/config-routes.ts'
import { api } from '../../api.ts'
import { Button, Card, Empty, ErrorNote, Field, Loading, Select, TextInput } from '../../components/components.ts'
import { useLive } from '../../use-live.ts'
import { tell } from '../settings/configuration.tsx'
import { draftOf, NEW_ROUTE, type RouteDraft, routeOf } from './route-draft.ts'

const STRATEGIES = [
  { value: 'order', label: 'in order' },
  { value: 'weighted', label: 'first by weight' },
] as const

/** Editor of all routes, which are saved together. The first route that matches a model decides. */
export function RouteEditor({ onSaved }: { onSaved: () => void }) {
  const present = useLive<{ config: Pick<Config, 'routes'> }>('/api/config', { everyMs: 10_000 })
  const [edited, setEdited] = useState<RouteDraft[] | null>(null)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  if (!present.data)
    return present.error ? <ErrorNote error={present.error} onRetry={present.reload} /> : <Loading what="routes" />
  const drafts = edited ?? present.data.config.routes.map(draftOf)
  const change = (at: number, part: Partial<RouteDraft>) =>
    setEdited(drafts.map((draft, i) => (i === at ? { ...draft, ...part } : draft)))
  const raise = (at: number) =>
    setEdited(
      drafts.flatMap((draft, i) => (i === at - 1 ? [drafts[at] as RouteDraft, draft] : i === at ? [] : [draft])),
    )

  const save = async () => {
    setBusy(true)
    setError(null)
    try {
      const changed = await api.patch<ConfigChanged>('/api/config', { routes: drafts.map(routeOf) })
      setEdited(null)
      present.reload()
      onSaved()
      tell(changed)
    } catch (fault) {
      setError(fault)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Card title="Routes">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        {drafts.length === 0 && (
          <Empty
            title="No routes"
            hint="NAME/MODEL goes to the upstream NAME. Every other model goes to the first upstream that serves it, else to default."
          />
        )}
        {drafts.map((draft, at) => (
          <fieldset key={at} class="fields">
            <legend>Route {at + 1}</legend>
            <Field label="Model" hint="Name or glob, such as gpt-*">
              <TextInput value={draft.model} required spellcheck={false} onInput={(model) => change(at, { model })} />
            </Field>
            <Field label="Candidates" hint="One per line: NAME, NAME/MODEL, or NAME/MODEL weight 3">
              <TextInput
                value={draft.targets}
                rows={3}
                required
                spellcheck={false}
                onInput={(targets) => change(at, { targets })}
              />
            </Field>
            <Field label="Strategy">
              <Select value={draft.strategy} options={STRATEGIES} onChange={(strategy) => change(at, { strategy })} />
            </Field>
            <Field label="Hedged after" hint="Milliseconds before the next candidate is also asked. Empty: never.">
              <TextInput type="number" value={draft.hedgeAfter} onInput={(hedgeAfter) => change(at, { hedgeAfter })} />
            </Field>
            <div class="actions">
              {at > 0 && (
                <Button size="small" label={`Move route ${at + 1} up`} onClick={() => raise(at)}>
                  Up
                </Button>
              )}
              <Button
                size="small"
                tone="quiet"
                label={`Remove route ${at + 1}`}
                onClick={() => setEdited(drafts.filter((_, i) => i !== at))}
              >
                Remove
              </Button>
            </div>
          </fieldset>
        ))}
        <ErrorNote error={error} />
        <div class="actions">
          <Button onClick={() => setEdited([...drafts, NEW_ROUTE])}>Add a route</Button>
          {edited !== null && (
            <>
              <Button type="submit" tone="primary" busy={busy}>
                Save routes
              </Button>
              <Button tone="quiet" onClick={() => setEdited(null)}>
                Discard
              </Button>
            </>
          )}
        </div>
      </form>
    </Card>
  )
}
