import * as z from 'zod'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { Identity } from '../../../src/identity/keys.ts'
import { aliasesOf } from '../../../src/providers/preset.ts'
import { PRESET_NAMES, PRESETS, presetOf } from '../../../src/providers/providers.ts'
import { callerOf } from '../../web/frame-context.ts'
import { callContext } from '../call-context.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { Changed, changeConfig } from './config-routes.ts'

/** Provider name of a custom base URL. */
const CUSTOM = 'custom'

const ModelConfig = z.object({
  provider: z.string().describe(`${PRESET_NAMES.join(', ')}; ${CUSTOM} for any other base_url`),
  base_url: z.string().nullable().describe('For admins; null for others.'),
  models: z.object({ primary: z.string(), fallback: z.string(), chat: z.string() }),
  aliases: z.record(z.string(), z.string()).describe("Model id → the provider's id for it, as configured"),
  preset_aliases: z.record(z.string(), z.string()).describe('Built-in aliases of the provider'),
  api_key_set: z.boolean().describe('For admins; true for others.'),
  api_key_needed: z.boolean().describe('Whether the provider needs an API key'),
})
export type ModelConfig = z.infer<typeof ModelConfig>

const name = z.string().nullable()
const ModelChange = z.strictObject({
  provider: z.string().min(1).max(2048).optional(),
  base_url: z.string().min(1).max(2048).optional(),
  models: z.strictObject({ primary: name, fallback: name, chat: name }).partial().optional(),
  aliases: z.record(z.string(), z.string()).nullable().optional().describe('Replaces all aliases'),
  api_key: z.string().nullable().optional().describe('Never shown again'),
  api_key_set: z.boolean().optional().describe('As it was shown; changes nothing'),
  api_key_needed: z.boolean().optional().describe('As it was shown; changes nothing'),
  preset_aliases: z.record(z.string(), z.string()).optional().describe('As they were shown; change nothing'),
})
type ModelChange = z.infer<typeof ModelChange>

const ListedModel = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
  description: z.string(),
})
const AvailableModels = z.object({
  object: z.literal('list'),
  provider: z.string(),
  models: z.array(ListedModel),
  items: z.array(ListedModel).describe('The same'),
  data: z.array(ListedModel).describe('The same'),
  total: z.int(),
  providers: z
    .array(z.object({ id: z.string(), label: z.string(), authenticated: z.boolean() }))
    .describe('For admins: all known providers and the one in use; authenticated: the key that it needs is set'),
})
export type AvailableModels = z.infer<typeof AvailableModels>

/**
 * Routes of the models in use and their upstream.
 *
 * @param stopping aborted shortly before shutdown ends pending work
 */
export const configModelRoutes = (gateway: Gateway, stopping: AbortSignal): Route[] => [
  defineRoute('GET /api/config/model', {
    operation: 'getModelConfig',
    summary: 'Retrieve the model provider and the models in use',
    access: 'platform',
    reply: ModelConfig,
    run: async ({ c }) => shownTo(callerOf(c), gateway),
  }),
  defineRoute('POST /api/config/model', {
    operation: 'setModelConfig',
    summary: 'Update the model provider, its key, models or aliases',
    description: 'New calls go to the new provider. Calls in progress finish with the old one.',
    access: 'admin',
    body: ModelChange,
    reply: ModelConfig.extend(Changed.shape),
    async run({ body, c }) {
      const changed = await changeConfig(changesOf(body, shown(gateway)), c, gateway)
      return { ...shown(gateway), ...changed }
    },
  }),
  defineRoute('GET /api/available-models', {
    operation: 'listAvailableModels',
    summary: 'List available models and known providers',
    description:
      'For the provider in use, includes the models that it lists. For another provider, includes only those that ' +
      'Gazeway has names for.',
    access: 'platform',
    query: z.object({ provider: z.string().max(2048).optional() }),
    reply: AvailableModels,
    async run({ query, c }) {
      const present = shownTo(callerOf(c), gateway)
      const provider = query.provider ?? present.provider
      const listed =
        provider === present.provider
          ? await gateway.upstream.models(callContext(c, callerOf(c).id, stopping))
          : Object.keys(presetAliases(provider)).map((id) => modelOf(id))
      const aliases: Record<string, string> = {
        ...presetAliases(provider),
        ...(provider === present.provider ? present.aliases : {}),
      }
      const models = listed.map((model) => ({ ...model, description: aliases[model.id] ?? '' }))
      return {
        object: 'list' as const,
        provider,
        models,
        items: models,
        data: models,
        total: models.length,
        providers: present.base_url === null ? [] : providersOf(gateway, present.provider, present.base_url),
      }
    },
  }),
]

function presetAliases(provider: string): Record<string, string> {
  const preset = presetOf(provider)
  return preset ? aliasesOf(preset) : {}
}

const modelOf = (id: string) => ({ id, object: 'model' as const, created: 0, owned_by: 'gazeway' })

function shown({ config }: Gateway): ModelConfig & { base_url: string } {
  const { provider, models, aliases, api_key } = config.stored().config.upstream
  const preset = presetOf(provider)
  return {
    provider: preset ? provider : CUSTOM,
    base_url: preset?.baseUrl ?? provider,
    models,
    aliases,
    preset_aliases: presetAliases(provider),
    api_key_set: api_key !== null,
    api_key_needed: Boolean(preset?.key),
  }
}

/** The address of the provider and the state of its key are the operator's. */
function shownTo({ scopes }: Identity, gateway: Gateway): ModelConfig {
  const config = shown(gateway)
  return scopes.has('admin') ? config : { ...config, base_url: null, api_key_set: true }
}

function changesOf({ models = {}, aliases, api_key, ...place }: ModelChange, present: ReturnType<typeof shown>) {
  const isNamed = place.provider !== undefined || place.base_url !== undefined
  const inForce = present.provider === CUSTOM ? present.base_url : present.provider
  // With a key, the provider is set even if it is unchanged, because it says which provider the key belongs to.
  const provider = providerOf(place, present) ?? (api_key && isNamed ? inForce : undefined)
  return {
    ...(provider === undefined ? {} : { 'upstream.provider': provider }),
    ...Object.fromEntries(Object.entries(models).map(([role, model]) => [`upstream.models.${role}`, model])),
    ...(aliases === undefined ? {} : { 'upstream.aliases': aliases }),
    ...(api_key === undefined ? {} : { 'upstream.api_key': api_key }),
  }
}

/** New value of `upstream.provider`; undefined to keep it. Unchanged values that a form sends back are no change. */
function providerOf(
  sent: Pick<ModelChange, 'provider' | 'base_url'>,
  present: ReturnType<typeof shown>,
): string | undefined {
  const provider = sent.provider === present.provider ? undefined : sent.provider
  const baseUrl = sent.base_url === present.base_url ? undefined : sent.base_url
  if (provider === undefined) return baseUrl
  if (provider !== CUSTOM) {
    if (baseUrl === undefined || baseUrl === presetOf(provider)?.baseUrl) return provider
    throw new GazewayError(
      'validation_failed',
      `base_url: ${provider} has its own URL; omit the field, or send provider "${CUSTOM}" with it.`,
      { param: 'base_url' },
    )
  }
  if (baseUrl !== undefined) return baseUrl
  throw new GazewayError('validation_failed', `base_url: missing; must be the base URL of the ${CUSTOM} provider.`, {
    param: 'base_url',
  })
}

function providersOf({ config, upstream }: Gateway, provider: string, baseUrl: string) {
  const { env } = config.current().request
  const known = PRESETS.map(({ name: id, label, key }) => {
    const authenticated =
      id === provider ? upstream.provider.hasKey : key === null || Boolean(env[key.variable]?.trim())
    return { id, label, authenticated }
  })
  if (provider !== CUSTOM) return known
  return [...known, { id: CUSTOM, label: baseUrl, authenticated: upstream.provider.hasKey }]
}
