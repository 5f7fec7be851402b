import { useState } from 'preact/hooks'
import type { KeyOfConfig } from '../../../../platform/routes/config-keys-routes.ts'
import type { ConfigChanged, ConfigShown } from '../../../../platform/routes/config-routes.ts'
import { ApiError, api } from '../../api.ts'
import {
  Badge,
  Button,
  Card,
  Empty,
  ErrorNote,
  Field,
  Form,
  NotLoaded,
  notify,
  Primary,
  Select,
  TextInput,
  useAction,
} from '../../components/components.ts'
import { place } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { choicesOf, kindOf, readValue, textOf, valueAt } from './setting.ts'
import './settings.css'

/** Edited text by key. */
type Draft = Readonly<Record<string, string>>

/** All settings by section. Changes are saved together, all or none. */
export function Configuration({ isAdmin }: { isAdmin: boolean }) {
  const described = useLive<{ items: KeyOfConfig[] }>('/api/config/keys', { everyMs: 600_000 })
  const shown = useLive<ConfigShown>('/api/config', { everyMs: 10_000 })
  if (described.data && shown.data)
    return <Settings settings={described.data.items} shown={shown.data} isAdmin={isAdmin} onSaved={shown.reload} />
  return <NotLoaded of={{ error: described.error ?? shown.error, reload: shown.reload }} what="settings" />
}

function Settings(props: {
  settings: readonly KeyOfConfig[]
  shown: ConfigShown
  isAdmin: boolean
  onSaved: () => void
}) {
  const { settings, shown } = props
  const { config, env, flags, restart_required } = shown
  const [wanted, setWanted] = useState(place.value.query.get('words') ?? '')
  const { draft, faults, busy, error, edit, save, discard } = useDraft(settings, config, props.onSaved)
  const matching = settings.filter((setting) => matches(setting, wanted))
  const sections = [...new Set(matching.map(sectionOf))]
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
      <Field label="Find a setting">
        <TextInput type="search" value={wanted} onInput={setWanted} placeholder="port, retention, model…" />
      </Field>
      {sections.length === 0 && <Empty title="No setting matches" hint="Search by name or description." />}
      {sections.map((section) => (
        <Card key={section} title={section}>
          <div class="fields">
            {matching
              .filter((setting) => sectionOf(setting) === section)
              .map((setting) => (
                <SettingField
                  key={setting.key}
                  setting={setting}
                  value={valueAt(config, setting.key)}
                  text={draft[setting.key]}
                  over={over.get(setting.key)}
                  fault={faults[setting.key]}
                  disabled={!props.isAdmin}
                  onEdit={(text) => edit(setting.key, text)}
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
            <Primary busy={busy} disabled={changes.length === 0}>
              Save
            </Primary>
          </div>
        </div>
      )}
    </Form>
  )
}

/** Edited settings with their faults. @param config settings in force */
function useDraft(settings: readonly KeyOfConfig[], config: ConfigShown['config'], onSaved: () => void) {
  const [draft, setDraft] = useState<Draft>({})
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({})
  const { busy, error, setError, run } = useAction()

  const edit = (key: string, text: string) => {
    const { [key]: _, ...others } = draft
    setDraft(text === textOf(valueAt(config, key)) ? others : { ...others, [key]: text })
    setFaults({ ...faults, [key]: '' })
  }
  const discard = () => {
    setDraft({})
    setFaults({})
    setError(null)
  }
  const post = async (values: Record<string, unknown>) => {
    try {
      const changed = await api.post('/api/config', values)
      setDraft({})
      onSaved()
      tell(changed)
    } catch (fault) {
      const key = fault instanceof ApiError ? keyNamed(fault.param, Object.keys(draft)) : undefined
      if (key === undefined || !(fault instanceof ApiError)) throw fault
      setFaults({ [key]: fault.message })
    }
  }
  const save = () => {
    const { values, unreadable } = valuesOf(draft, settings)
    setFaults(unreadable)
    setError(null)
    if (Object.keys(unreadable).length === 0) void run(() => post(values))
  }
  return { draft, faults, busy, error, edit, save, discard }
}

const sectionOf = ({ key }: KeyOfConfig) => key.split('.')[0] ?? key

function SettingField(props: {
  setting: KeyOfConfig
  value: unknown
  /** Edited text; undefined when unchanged. */
  text: string | undefined
  /** Variable or flag that takes precedence over the setting. */
  over: string | undefined
  fault: string | undefined
  disabled: boolean
  onEdit: (text: string) => void
}) {
  const { setting, value, over, onEdit } = props
  const { key, secret } = setting
  const kind = kindOf(setting)
  const isSet = textOf(value) !== textOf(setting.default)
  const text = props.text ?? (secret && kind !== 'json' ? '' : textOf(value))
  const disabled = props.disabled || setting.environment_only

  return (
    <Field
      label={key}
      error={props.fault || null}
      hint={
        <>
          {setting.description} <span class="accepts">Accepts {setting.accepts}.</span>
          <span class="marks">
            {props.text !== undefined && <Badge tone="accent">changed</Badge>}
            {secret && <Badge tone={isSet ? 'good' : 'neutral'}>{isSet ? 'secret, set' : 'secret, not set'}</Badge>}
            {setting.restart && <Badge>restart required</Badge>}
            {setting.environment_only && <Badge>environment only</Badge>}
            {over && <Badge tone="warn">{over} takes precedence</Badge>}
            {isSet && !disabled && !over && props.text === undefined && (
              <Button size="small" tone="quiet" label={`Reset ${key} to its default`} onClick={() => onEdit('')}>
                Reset
              </Button>
            )}
          </span>
        </>
      }
    >
      <SettingControl
        setting={setting}
        text={text}
        placeholder={secret && isSet ? 'Enter a new value to replace it' : placeholderOf(setting)}
        disabled={disabled}
        onEdit={onEdit}
      />
    </Field>
  )
}

/** Control for the values that the schema of a setting accepts. */
function SettingControl(props: {
  setting: KeyOfConfig
  text: string
  placeholder: string
  disabled: boolean
  onEdit: (text: string) => void
}) {
  const { setting, text: value, placeholder, disabled, onEdit } = props
  const kind = kindOf(setting)
  if (kind === 'switch' || kind === 'choice') {
    const choices = kind === 'switch' ? ['true', 'false'] : choicesOf(setting.schema)
    return <Select value={value} options={optionsOf(choices, value)} disabled={disabled} onChange={onEdit} />
  }
  if (kind === 'json') {
    return (
      <TextInput rows={Math.min(8, value.split('\n').length + 1)} disabled={disabled} value={value} onInput={onEdit} />
    )
  }
  return (
    <TextInput
      type={setting.secret ? 'password' : 'text'}
      inputMode={kind === 'number' ? 'decimal' : 'text'}
      autoComplete="off"
      spellcheck={false}
      placeholder={placeholder}
      disabled={disabled}
      value={value}
      onInput={onEdit}
    />
  )
}

/** Options of a setting, with one for its default while it is reset. */
const optionsOf = (choices: readonly string[], text: string) =>
  text === '' ? [{ value: '', label: 'default' }, ...choices] : choices

const placeholderOf = ({ default: value }: KeyOfConfig) => (value === null ? 'not set' : `default: ${textOf(value)}`)

const matches = ({ key, description }: KeyOfConfig, wanted: string) =>
  `${key} ${description}`.toLowerCase().includes(wanted.trim().toLowerCase())

/** Values to send, and faults of unreadable ones. */
function valuesOf(draft: Draft, settings: readonly KeyOfConfig[]) {
  const values: Record<string, unknown> = {}
  const unreadable: Record<string, string> = {}
  for (const [key, text] of Object.entries(draft)) {
    const setting = settings.find((one) => one.key === key)
    if (!setting) continue
    try {
      values[key] = readValue(text, kindOf(setting))
    } catch (fault) {
      unreadable[key] = fault instanceof Error ? fault.message : String(fault)
    }
  }
  return { values, unreadable }
}

function keyNamed(param: string | null, keys: readonly string[]): string | undefined {
  if (keys.length === 1) return keys[0]
  return keys.find((key) => param !== null && (param === key || param.startsWith(`${key}.`)))
}

/** Shows a notice: saved, overridden by a variable or flag, or waiting for a restart. */
export function tell({
  changed,
  restart_required,
  overridden,
}: Pick<ConfigChanged, 'changed' | 'restart_required' | 'overridden'>) {
  const waiting = restart_required.filter((key) => changed.some((one) => one === key || one.startsWith(`${key}.`)))
  if (overridden.length > 0)
    notify(`Saved, but a variable or flag takes precedence over ${overridden.join(', ')}.`, 'warn')
  else if (waiting.length > 0) notify(`Saved. Restart to apply ${waiting.join(', ')}.`, 'warn')
  else notify(changed.length === 0 ? 'No changes.' : 'Saved and applied.')
}
