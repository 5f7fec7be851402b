import { useEffect, useState } from 'preact/hooks'
import type { KeyOfConfig } from '../../../../platform/routes/config-keys-routes.ts'
import type { AvailableModels } from '../../../../platform/routes/config-model-routes.ts'
import type { ConfigShown } from '../../../../platform/routes/config-routes.ts'
import type { TriedUpstream } from '../../../../platform/routes/try-upstream-routes.ts'
import type { ShownUpstream } from '../../../../platform/routes/upstream-routes.ts'
import { ApiError, api, PATIENT_MS } from '../../api.ts'
import { Card, Empty, ErrorNote, NotLoaded } from '../../components/content.ts'
import { Button, Form, Primary, SelectField, TextField, useAction } from '../../components/forms.ts'
import { go, href } from '../../router.ts'
import { changesOf, readValue, type Schema } from '../../schema/schema.ts'
import { type Fault, SchemaField } from '../../schema/schema-field.tsx'
import { useLive } from '../../use-live.ts'
import { tell } from '../settings/saved-notice.ts'
import { Tried } from './tried.tsx'

/** Setting of all upstreams beside `default`. */
const KEY = 'upstreams'
const CUSTOM = { value: 'custom', label: 'Other (base URL)' }
/** Fields that the form shows first. */
const FIRST = ['provider', 'api_keys', 'models']

type Entry = Record<string, unknown>

/** Form of an upstream: its provider and key are tested, then it is saved. @param name null for a new one */
export function UpstreamForm({ name }: { name: string | null }) {
  const keys = useLive<{ items: KeyOfConfig[] }>('/api/config/keys', { everyMs: 600_000 })
  const shown = useLive<ConfigShown>('/api/config', { everyMs: 600_000 })
  const known = useLive<AvailableModels>('/api/available-models', { everyMs: 600_000 })
  const schema = keys.data?.items.find(({ key }) => key === KEY)?.schema as Schema | undefined
  if (!schema || !shown.data || !known.data)
    return <NotLoaded of={[keys, shown, known].find(({ error }) => error !== null) ?? keys} what="the providers" />
  const upstreams = shown.data.config[KEY] as Readonly<Record<string, Entry>>
  if (name !== null && !Object.hasOwn(upstreams, name)) return <Elsewhere name={name} />
  return <Filled name={name} schema={schema} upstreams={upstreams} providers={known.data.providers} />
}

/** Leads to the settings of `default`, which calls name by its provider. */
function Elsewhere({ name }: { name: string }) {
  const list = useLive<{ items: ShownUpstream[] }>('/api/upstreams', { everyMs: 600_000 })
  const first = list.data?.items.find((one) => one.name === 'default')
  const isDefault = first !== undefined && [first.name, first.provider].includes(name)
  useEffect(() => {
    if (isDefault) go(href('settings', { id: 'providers' }), true)
  }, [isDefault])
  if (!list.data || isDefault) return <NotLoaded of={list} what="the upstreams" />
  return <Empty title={`No upstream ${name}`} action={<a href={href('upstreams', { id: 'new' })}>Add an upstream</a>} />
}

function Filled(props: {
  name: string | null
  schema: Schema
  upstreams: Readonly<Record<string, Entry>>
  providers: AvailableModels['providers']
}) {
  const { schema, upstreams, providers } = props
  const presets = providers.filter(({ id }) => id !== CUSTOM.value)
  const [before] = useState<Entry>(props.name === null ? {} : (upstreams[props.name] ?? {}))
  const [entry, setEntry] = useState<Entry>(props.name === null ? { provider: presets[0]?.id } : before)
  const [typed, setTyped] = useState<string | null>(props.name)
  const [tried, setTried] = useState<TriedUpstream | null>(null)
  const [fault, setFault] = useState<Fault | null>(null)
  const testing = useAction()
  const saving = useAction()
  const provider = String(entry.provider ?? props.name ?? '')
  const isCustom = !presets.some(({ id }) => id === provider)
  const name = typed ?? freeName(isCustom ? 'custom' : provider, upstreams)
  const at = `${KEY}.${name}`
  const parts = schema.additionalProperties as Schema
  const edit = (change: Entry) => {
    setEntry({ ...entry, ...change })
    setTried(null)
    setFault(null)
  }

  const changes = () => {
    const read = readValue(entry, parts, at) as Entry
    if (props.name === null) return { [at]: read }
    return changesOf(KEY, schema, { [name]: readValue(before, parts, at) }, { [name]: read })
  }
  /** Runs work whose faults stand beside the fields. */
  const checked = (work: () => Promise<void>) => async () => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof ApiError) || !error.param?.startsWith(at)) throw error
      setFault({ param: error.param, message: error.message })
    }
  }
  const test = checked(async () => {
    setTried(
      await api.post(
        `/api/upstreams/${encodeURIComponent(name)}/try` as const,
        { changes: changes() },
        { timeoutMs: PATIENT_MS },
      ),
    )
  })
  const save = checked(async () => {
    tell(await api.post('/api/config', changes()))
    go(href('upstreams'))
  })
  const isGood = tried !== null && tried.verdict !== 'fail'
  const field = (one: string, label: string, hint?: string) => (
    <SchemaField
      key={one}
      path={`${at}.${one}`}
      label={label}
      schema={(parts.properties?.[one] ?? {}) as Schema}
      value={entry[one]}
      fault={fault}
      hint={hint ?? ((parts.properties?.[one] as Schema | undefined)?.description as string)}
      onEdit={(value) => edit({ [one]: value })}
    />
  )
  const others = Object.keys(parts.properties ?? {}).filter((one) => !FIRST.includes(one))

  return (
    <Form onSubmit={() => (isGood ? saving.run(save) : testing.run(test))}>
      <Card title="Provider and key">
        <div class="fields">
          <SelectField
            label="Provider"
            value={isCustom ? CUSTOM.value : provider}
            options={[...presets.map(({ id, label }) => ({ value: id, label })), CUSTOM]}
            onChange={(id) => edit({ provider: id === CUSTOM.value ? '' : id })}
          />
          {isCustom && field('provider', 'Base URL', 'Any OpenAI-compatible service, such as http://127.0.0.1:8000/v1')}
          {props.name === null && (
            <TextField
              label="Name"
              hint="Calls to NAME/MODEL go to it."
              error={fault?.param === at ? fault.message : null}
              value={name}
              required
              spellcheck={false}
              onInput={setTyped}
            />
          )}
          <ApiKeys
            keys={(entry.api_keys ?? []) as string[]}
            isInEnvironment={presets.some(({ id, authenticated }) => id === provider && authenticated)}
            fault={fault?.param?.startsWith(`${at}.api_keys`) ? fault.message : null}
            onEdit={(api_keys) => edit({ api_keys })}
          />
          {field('models', 'Models that it serves')}
        </div>
        <details class="schema-more">
          <summary>More settings</summary>
          <div class="fields">{others.map((one) => field(one, one))}</div>
        </details>
        <ErrorNote error={testing.error ?? saving.error} />
        <div class="actions">
          {isGood ? (
            <Primary busy={saving.busy}>Save upstream</Primary>
          ) : (
            <Primary busy={testing.busy}>Test the key</Primary>
          )}
          {tried !== null && !isGood && (
            <Button busy={saving.busy} onClick={() => void saving.run(save)} children="Save anyway" />
          )}
        </div>
      </Card>
      {tried && <Tried name={name} of={tried} changes={changes} />}
    </Form>
  )
}

/** Field of the first key, which is replaced and never shown. Others are kept after it. */
function ApiKeys(props: {
  keys: string[]
  isInEnvironment: boolean
  fault: string | null
  onEdit: (keys: string[]) => void
}) {
  const { keys, isInEnvironment, fault, onEdit } = props
  const [first = '', ...others] = keys
  const isSet = first === '***'
  const hint = isSet ? 'Set. Enter a new key to replace it.' : isInEnvironment && 'Empty: the key in the environment.'
  return (
    <TextField
      label={others.length === 0 ? 'API key' : `API key 1 of ${keys.length}`}
      hint={hint}
      error={fault}
      type="password"
      autoComplete="off"
      spellcheck={false}
      value={isSet ? '' : first}
      placeholder={isSet ? '••••••••' : ''}
      onInput={(key) => onEdit(key === '' && others.length === 0 ? [] : [key, ...others])}
    />
  )
}

/** The name of a provider, with a number if it is taken. */
function freeName(wanted: string, taken: Readonly<Record<string, unknown>>): string {
  const names = [wanted, ...Array.from({ length: 100 }, (_, at) => `${wanted}-${at + 2}`)]
  return names.find((name) => !(name in taken)) ?? wanted
}
