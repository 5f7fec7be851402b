import { useId, useState } from 'preact/hooks'
import type { AvailableModels, ModelConfig } from '../../../../platform/routes/config-model-routes.ts'
import type { ConfigChanged } from '../../../../platform/routes/config-routes.ts'
import { api } from '../../api.ts'
import { Badge, Button, Card, ErrorNote, Field, Loading, Select, TextInput } from '../../components/components.ts'
import { useLive } from '../../use-live.ts'
import { tell } from './configuration.tsx'
import './settings.css'

const ROLES = [
  { role: 'primary', label: 'Research model', hint: 'Web and social search, over the responses endpoint.' },
  { role: 'fallback', label: 'Fallback model', hint: 'Used when the responses endpoint fails.' },
  { role: 'chat', label: 'Chat model', hint: 'Used by chat completions without a model.' },
] as const
type Role = (typeof ROLES)[number]['role']

/** Values of the form, as edited and not yet saved. */
interface Edited {
  provider?: string
  baseUrl?: string
  apiKey?: string
  roles: Partial<Record<Role, string>>
  /** Aliases as text, and as they were when editing began. */
  aliases?: { text: string; shown: ModelConfig['aliases'] }
}

const UNCHANGED: Edited = { roles: {} }

/** Form for the provider, its key, the models by role, and aliases. */
export function Models({ isAdmin }: { isAdmin: boolean }) {
  const present = useLive<ModelConfig>('/api/config/model', { everyMs: 10_000 })
  const [edited, setEdited] = useState<Edited>(UNCHANGED)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const provider = edited.provider ?? present.data?.provider
  const asked = provider && provider !== 'custom' ? `?provider=${encodeURIComponent(provider)}` : ''
  const available = useLive<AvailableModels>(present.data && `/api/available-models${asked}`, { everyMs: 60_000 })
  const listId = useId()

  if (!present.data || provider === undefined) {
    return present.error ? <ErrorNote error={present.error} onRetry={present.reload} /> : <Loading what="models" />
  }
  const shown = present.data
  const providers = available.data?.providers ?? [{ id: shown.provider, label: shown.provider, authenticated: true }]
  const options = providers.map(({ id, label, authenticated }) => ({
    value: id,
    label: authenticated ? label : `${label} (no key yet)`,
  }))
  const choices = options.some(({ value }) => value === 'custom') ? options : [...options, CUSTOM]

  const save = async () => {
    setBusy(true)
    setError(null)
    try {
      const changed = await api.post<ConfigChanged>('/api/config', changesOf(edited, shown))
      setEdited(UNCHANGED)
      present.reload()
      available.reload()
      tell(changed)
    } catch (fault) {
      setError(fault)
    } finally {
      setBusy(false)
    }
  }

  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <Card title="Provider">
        <div class="fields">
          <Field label="Provider" hint={shown.provider === provider ? shown.base_url : 'Applies when saved.'}>
            <Select
              value={provider}
              options={choices}
              disabled={!isAdmin}
              onChange={(value) => setEdited({ ...edited, provider: value })}
            />
          </Field>
          {provider === 'custom' && (
            <Field label="Base URL" hint="Any OpenAI-compatible service, such as http://127.0.0.1:8000/v1">
              <TextInput
                type="url"
                required
                disabled={!isAdmin}
                value={edited.baseUrl ?? (shown.provider === 'custom' ? (shown.base_url ?? '') : '')}
                onInput={(baseUrl) => setEdited({ ...edited, baseUrl })}
              />
            </Field>
          )}
          <Field
            label="API key"
            hint={
              shown.api_key_set ? (
                <>
                  <Badge tone="good">set</Badge> Never shown. Enter a new key to replace it.
                </>
              ) : (
                'Not set. Some providers need no key.'
              )
            }
          >
            <TextInput
              type="password"
              autoComplete="off"
              spellcheck={false}
              disabled={!isAdmin}
              placeholder={shown.api_key_set ? '••••••••' : ''}
              value={edited.apiKey ?? ''}
              onInput={(apiKey) => setEdited({ ...edited, apiKey })}
            />
          </Field>
        </div>
      </Card>
      <Card title="Models by role">
        <div class="fields">
          {ROLES.map(({ role, label, hint }) => (
            <Field key={role} label={label} hint={hint}>
              <TextInput
                list={listId}
                spellcheck={false}
                disabled={!isAdmin}
                value={edited.roles[role] ?? shown.models[role]}
                onInput={(model) => setEdited({ ...edited, roles: { ...edited.roles, [role]: model } })}
              />
            </Field>
          ))}
        </div>
        <datalist id={listId}>
          {available.data?.models.map(({ id, description }) => (
            <option key={id} value={id}>
              {description}
            </option>
          ))}
        </datalist>
        {available.error && <ErrorNote error={available.error} onRetry={available.reload} />}
      </Card>
      <Card title="Model aliases">
        <Field label="Your aliases" hint="One per line: alias = model. Your aliases take precedence over those below.">
          <TextInput
            rows={4}
            spellcheck={false}
            disabled={!isAdmin}
            placeholder="fast = llm-3-fast"
            value={edited.aliases?.text ?? linesOf(shown.aliases)}
            onInput={(text) =>
              setEdited({ ...edited, aliases: { text, shown: edited.aliases?.shown ?? shown.aliases } })
            }
          />
        </Field>
        {Object.keys(shown.preset_aliases).length > 0 && (
          <dl class="facts">
            {Object.entries(shown.preset_aliases).map(([name, id]) => (
              <div key={name} class="fact">
                <dt>
                  <code>{name}</code>
                </dt>
                <dd>
                  <code>{id}</code>
                </dd>
              </div>
            ))}
          </dl>
        )}
      </Card>
      <ErrorNote error={error} />
      {isAdmin && (
        <div class="actions">
          <Button type="submit" tone="primary" busy={busy} disabled={edited === UNCHANGED}>
            Save models
          </Button>
          <Button disabled={edited === UNCHANGED} onClick={() => setEdited(UNCHANGED)}>
            Discard
          </Button>
        </div>
      )}
    </form>
  )
}

const CUSTOM = { value: 'custom', label: 'Other (base URL)' }

/** Edited settings by key. Unchanged ones are not sent, because somebody else may have changed them. */
function changesOf({ provider: chosen, baseUrl, apiKey, roles, aliases }: Edited, shown: ModelConfig) {
  const provider = chosen ?? shown.provider
  const inForce = shown.provider === CUSTOM.value ? shown.base_url : shown.provider
  const edited = provider === CUSTOM.value ? baseUrl?.trim() : chosen
  // A key belongs to the provider that is shown beside it, even if another one is stored by now.
  const place = edited ?? (apiKey && provider === shown.provider ? inForce : undefined)
  return {
    ...(place !== undefined && { 'upstream.provider': place }),
    ...(apiKey && { 'upstream.api_key': apiKey.trim() }),
    // An empty role resets to its default.
    ...Object.fromEntries(Object.entries(roles).map(([role, id]) => [`upstream.models.${role}`, id.trim() || null])),
    ...(aliases && aliasChanges(aliases)),
  }
}

/** Aliases that were added, changed, or removed (null). @throws Error as `aliasesIn` */
function aliasChanges({ text, shown }: NonNullable<Edited['aliases']>): Record<string, string | null> {
  const before = aliasesIn(linesOf(shown))
  const now = aliasesIn(text)
  const names = [...new Set([...before.keys(), ...now.keys()])].filter((name) => before.get(name) !== now.get(name))
  return Object.fromEntries(names.map((name) => [`upstream.aliases.${name}`, now.get(name) ?? null]))
}

const linesOf = (aliases: Record<string, string>) =>
  Object.entries(aliases)
    .map(([name, id]) => `${name} = ${id}`)
    .join('\n')

/**
 * Parses aliases to ids by alias. An id may contain `=`.
 *
 * @throws Error that quotes a line that is not `alias = model`
 */
function aliasesIn(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return new Map(
    lines.map((line) => {
      const [, name = '', id = ''] = /^([^=]*)=(.*)$/.exec(line)?.map((part) => part.trim()) ?? []
      if (name === '' || id === '') throw new Error(`“${line.trim()}” must be: alias = model.`)
      return [name, id]
    }),
  )
}
