import { useState } from 'preact/hooks'
import type { KeyOfConfig } from '../../../../platform/routes/config-keys-routes.ts'
import type { AvailableModels } from '../../../../platform/routes/config-model-routes.ts'
import type { ConfigShown } from '../../../../platform/routes/config-routes.ts'
import { Badge, Card, Empty, ErrorNote, NotLoaded } from '../../components/content.ts'
import { Button, Form, Primary, TextField } from '../../components/forms.ts'
import { place } from '../../router.ts'
import { type Kind, kindOf, textOf, valueAt } from '../../schema/schema.ts'
import { type Fault, SchemaField } from '../../schema/schema-field.tsx'
import { useLive } from '../../use-live.ts'
import { FindingNote, type FindingOf, useDoctor } from '../doctor/findings.tsx'
import { sectionOf, type Task, taskOf } from './setting-tasks.ts'
import { useDraft } from './use-draft.ts'
import './settings.css'

/** Settings of a task, or all of them with a search, by section. Changes are saved together, all or none. */
export function Configuration({ task, isAdmin }: { task: Task | 'all'; isAdmin: boolean }) {
  const described = useLive<{ items: KeyOfConfig[] }>('/api/config/keys', { everyMs: 600_000 })
  const shown = useLive<ConfigShown>('/api/config', { everyMs: 10_000 })
  const known = useLive<AvailableModels>(task === 'providers' && isAdmin ? '/api/available-models' : null, {
    everyMs: 60_000,
  })
  if (!described.data || !shown.data)
    return <NotLoaded of={{ error: described.error ?? shown.error, reload: shown.reload }} what="settings" />
  return (
    <Settings
      task={task}
      settings={described.data.items}
      known={known.data}
      shown={shown.data}
      isAdmin={isAdmin}
      onSaved={shown.reload}
    />
  )
}

/** Kinds of settings whose parts or options say what they accept. */
const SELF_EXPLAINED: readonly Kind[] = ['pairs', 'list', 'entries', 'fields', 'switch', 'choice']
/** Settings that have a page of their own, which the pages of tasks show in their place. */
const ELSEWHERE = ['upstreams', 'routes']

function Settings(props: {
  task: Task | 'all'
  settings: readonly KeyOfConfig[]
  /** Providers, and models of the one in use. */
  known: AvailableModels | null
  shown: ConfigShown
  isAdmin: boolean
  onSaved: () => void
}) {
  const { task, settings, shown, isAdmin, known } = props
  const { config, env, flags, restart_required } = shown
  const [wanted, setWanted] = useState(place.value.query.get('words') ?? '')
  const doctor = useDoctor(isAdmin)
  const { draft, fault, busy, error, edit, save, discard } = useDraft(settings, config, () => {
    props.onSaved()
    doctor.reload()
  })
  const matching = settings.filter((setting) =>
    task === 'all' ? matches(setting, wanted) : taskOf(setting.key) === task && !ELSEWHERE.includes(setting.key),
  )
  const sections = [...new Set(matching.map(({ key }) => sectionOf(key)))]
  const over = new Map([...Object.entries(env), ...Object.entries(flags)].map(([name, { path }]) => [path, name]))
  const changes = Object.keys(draft)
  return (
    <Form onSubmit={save}>
      {restart_required.length > 0 && (
        <p class="restart-note" role="status">
          Restart required for:{' '}
          {restart_required.map((key) => (
            <code key={key}>{key}</code>
          ))}
        </p>
      )}
      {task === 'all' && (
        <>
          <TextField
            label="Find a setting"
            type="search"
            value={wanted}
            onInput={setWanted}
            placeholder="port, retention, model…"
          />
          {sections.length === 0 && <Empty title="No setting matches" hint="Search by name or description." />}
        </>
      )}
      {sections.map((section) => (
        <Card key={section} title={section}>
          <FindingNote of={doctor.about(section, matching)} />
          <div class="fields settings">
            {matching
              .filter(({ key }) => sectionOf(key) === section)
              .map((setting) => (
                <SettingField
                  key={setting.key}
                  setting={setting}
                  value={valueAt(config, setting.key)}
                  edited={draft[setting.key]}
                  over={over.get(setting.key)}
                  fault={fault}
                  findings={doctor.beside(setting.key)}
                  suggestions={suggestionsOf(setting.key, known)}
                  disabled={!isAdmin}
                  onEdit={(value) => edit(setting.key, value)}
                />
              ))}
          </div>
        </Card>
      ))}
      {(changes.length > 0 || error !== null) && (
        <div class="save-bar">
          <ErrorNote error={error} />
          <p>
            {changes.length === 1 ? '1 change' : `${changes.length} changes`}: {changes.join(', ')}
          </p>
          <div class="actions">
            <Button onClick={discard}>Discard</Button>
            <Primary busy={busy} disabled={changes.length === 0} children="Save" />
          </div>
        </div>
      )}
    </Form>
  )
}

function SettingField(props: {
  setting: KeyOfConfig
  value: unknown
  edited: { value: unknown } | undefined
  /** Variable or flag that takes precedence over the setting. */
  over: string | undefined
  fault: Fault | null
  findings: FindingOf[]
  suggestions: readonly string[] | undefined
  disabled: boolean
  onEdit: (value: unknown) => void
}) {
  const { setting, value, edited, over, findings, onEdit, ...field } = props
  const { key, schema, secret } = setting
  const isSet = JSON.stringify(value) !== JSON.stringify(setting.default)
  const disabled = props.disabled || setting.environment_only
  return (
    <SchemaField
      {...field}
      path={key}
      label={key}
      schema={schema}
      value={edited ? edited.value : value}
      disabled={disabled}
      onEdit={onEdit}
      hint={
        <>
          <span class="setting-hint">
            {setting.description} {!SELF_EXPLAINED.includes(kindOf(schema)) && `Accepts ${setting.accepts}.`}
          </span>
          <span class="marks">
            {edited && <Badge tone="accent">changed</Badge>}
            {secret && <Badge tone={isSet ? 'good' : 'neutral'}>{isSet ? 'secret, set' : 'secret, not set'}</Badge>}
            {setting.restart && <Badge>restart required</Badge>}
            {setting.environment_only && <Badge>environment only</Badge>}
            {over && <Badge tone="warn">{over} takes precedence</Badge>}
            {isSet && !disabled && !over && !edited && (
              <Button
                size="small"
                tone="quiet"
                label={`Reset ${key} to its default`}
                onClick={() => onEdit(textOf(null))}
              >
                Reset
              </Button>
            )}
          </span>
          <FindingNote of={findings} />
        </>
      }
    />
  )
}

const matches = ({ key, description }: KeyOfConfig, wanted: string) =>
  `${key} ${description}`.toLowerCase().includes(wanted.trim().toLowerCase())

/** Values to choose from for a setting. */
function suggestionsOf(key: string, known: AvailableModels | null): readonly string[] | undefined {
  if (key === 'upstream.provider') return known?.providers.map(({ id }) => id)
  return key.startsWith('upstream.models.') ? known?.models.map(({ id }) => id) : undefined
}
