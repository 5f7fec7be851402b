import { useId, useState } from 'preact/hooks'
import type { AvailableModels, ModelConfig } from '../../../../platform/routes/config-model-routes.ts'
import { api } from '../../api.ts'
import {
  Badge,
  Button,
  Card,
  ErrorNote,
  Facts,
  type FieldSpec,
  Form,
  FormFields,
  NotLoaded,
  Primary,
  useAction,
} from '../../components/components.ts'
import { useLive } from '../../use-live.ts'
import { tell } from './configuration.tsx'
import { CUSTOM, changesOf, draftOf, type Edited, type ModelDraft } from './model-draft.ts'

const ROLES = [
  { name: 'primary', label: 'Research model', hint: 'Web and social search, over the responses endpoint.' },
  { name: 'fallback', label: 'Fallback model', hint: 'Used when the responses endpoint fails.' },
  { name: 'chat', label: 'Chat model', hint: 'Used by chat completions without a model.' },
] as const

const BASE_URL: FieldSpec<ModelDraft> = {
  name: 'baseUrl',
  label: 'Base URL',
  hint: 'Any OpenAI-compatible service, such as http://127.0.0.1:8000/v1',
  type: 'url',
  required: true,
}

const ALIASES: FieldSpec<ModelDraft> = {
  name: 'aliases',
  label: 'Your aliases',
  hint: 'One per line: alias = model. Your aliases take precedence over those below.',
  rows: 4,
  spellcheck: false,
  placeholder: 'fast = llm-3-fast',
}

const UNCHANGED: Edited = {}

/** Form for the provider, its key, the models by role, and aliases. */
export function Models({ isAdmin }: { isAdmin: boolean }) {
  const present = useLive<ModelConfig>('/api/config/model', { everyMs: 10_000 })
  const [edited, setEdited] = useState(UNCHANGED)
  const { busy, error, run } = useAction()
  const provider = edited.provider ?? present.data?.provider
  const asked = provider && provider !== CUSTOM.value ? `?provider=${encodeURIComponent(provider)}` : ''
  const available = useLive<AvailableModels>(present.data && `/api/available-models${asked}`, { everyMs: 60_000 })
  const listId = useId()

  if (!present.data) return <NotLoaded of={present} what="models" />
  const shown = present.data
  const draft = draftOf(shown, edited)
  const edit = (change: Partial<ModelDraft>) => {
    const { aliasesBefore = shown.aliases } = edited
    setEdited({ ...edited, ...change, ...(change.aliases !== undefined && { aliasesBefore }) })
  }
  const form = { draft, edit, disabled: !isAdmin }

  const save = async () => {
    const changed = await api.post('/api/config', changesOf(edited, shown))
    setEdited(UNCHANGED)
    present.reload()
    available.reload()
    tell(changed)
  }

  return (
    <Form onSubmit={() => run(save)}>
      <Card title="Provider">
        <FormFields {...form} fields={[providerFields(draft, shown, available.data?.providers)]} />
      </Card>
      <Card title="Models by role">
        <FormFields {...form} fields={[ROLES.map((role) => ({ ...role, list: listId, spellcheck: false }))]} />
        <datalist id={listId}>
          {available.data?.models.map(({ id, description }) => (
            <option key={id} value={id}>
              {description}
            </option>
          ))}
        </datalist>
        <ErrorNote error={available.error} onRetry={available.reload} />
      </Card>
      <Card title="Model aliases">
        <FormFields {...form} fields={[ALIASES]} />
        <PresetAliases of={shown.preset_aliases} />
      </Card>
      <ErrorNote error={error} />
      {isAdmin && (
        <div class="actions">
          <Primary busy={busy} disabled={edited === UNCHANGED}>
            Save models
          </Primary>
          <Button disabled={edited === UNCHANGED} onClick={() => setEdited(UNCHANGED)}>
            Discard
          </Button>
        </div>
      )}
    </Form>
  )
}

/** @param known providers to select from, once they are loaded */
function providerFields(
  { provider }: ModelDraft,
  shown: ModelConfig,
  known: AvailableModels['providers'] = [{ id: shown.provider, label: shown.provider, authenticated: true }],
): FieldSpec<ModelDraft>[] {
  const options = known.map(({ id, label, authenticated }) => ({
    value: id,
    label: authenticated ? label : `${label} (no key yet)`,
  }))
  const isCustomKnown = options.some(({ value }) => value === CUSTOM.value)
  return [
    {
      name: 'provider',
      label: 'Provider',
      hint: shown.provider === provider ? shown.base_url : 'Applies when saved.',
      options: isCustomKnown ? options : [...options, CUSTOM],
    },
    ...(provider === CUSTOM.value ? [BASE_URL] : []),
    {
      name: 'apiKey',
      label: 'API key',
      hint: shown.api_key_set ? KEY_SET : 'Not set. Some providers need no key.',
      type: 'password',
      autoComplete: 'off',
      spellcheck: false,
      placeholder: shown.api_key_set ? '••••••••' : '',
    },
  ]
}

const KEY_SET = (
  <>
    <Badge tone="good">set</Badge> Never shown. Enter a new key to replace it.
  </>
)

function PresetAliases({ of }: { of: ModelConfig['preset_aliases'] }) {
  const aliases = Object.entries(of)
  if (aliases.length === 0) return null
  return <Facts of={Object.fromEntries(aliases.map(([name, id]) => [name, <code key={name}>{id}</code>]))} />
}
