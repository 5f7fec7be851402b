import { getProperty, setProperty } from 'dot-prop'
import * as z from 'zod'
import type { LoadedConfig } from '../../../src/config/config.ts'
import { variableOf } from '../../../src/config/environment.ts'
import { addressOf, foreignSecrets } from '../../../src/config/layers.ts'
import { overriddenKeys, overridesInForce } from '../../../src/config/overrides.ts'
import { redactConfig } from '../../../src/config/redact.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { keyVariableOf } from '../../../src/providers/key-variable.ts'
import { callerOf, type FrameContext } from '../../web/frame-context.ts'
import { CAPABILITIES } from '../capabilities.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { refuseLockOut } from '../lock-out.ts'

/** Maximum number of changes in one request: each is checked against the whole configuration. */
const MAX_CHANGES = 1000

/** Changes by dotted key. */
export const Changes = z
  .record(z.string().min(1).max(500), z.unknown())
  .refine((changes) => Object.keys(changes).length <= MAX_CHANGES, `Send at most ${MAX_CHANGES} changes at once`)
  .meta({ maxProperties: MAX_CHANGES })
  .describe('Dotted key → value, such as {"upstream.models.chat": "llm-3-fast"}; null resets to the default')

const InForce = z.record(z.string(), z.object({ path: z.string(), value: z.unknown() }))

const ConfigShown = z.object({
  config: z
    .record(z.string(), z.unknown())
    .describe(
      'The whole configuration with defaults; secrets are "***". Models and limits alone for keys that are not an admin’s',
    ),
  env: InForce.describe('Environment variable in force → the key that it overrides, and its value'),
  flags: InForce.describe('The same for command-line flags'),
  restart_required: z.array(z.string()).describe('Keys whose value applies after a restart'),
  capabilities: z.array(z.enum(CAPABILITIES)),
})
export type ConfigShown = z.infer<typeof ConfigShown>

/** Result of a change. */
export const Changed = z.object({
  changed: z.array(z.string()).describe('Changed keys, and entries of keys'),
  restart_required: ConfigShown.shape.restart_required,
  overridden: z.array(z.string()).describe('Sent keys that a variable or flag overrides'),
})
export type Changed = z.infer<typeof Changed>

const ConfigChanged = ConfigShown.extend(Changed.shape)
export type ConfigChanged = z.infer<typeof ConfigChanged>

/**
 * Makes changes on behalf of a request.
 *
 * @throws GazewayError as `LiveConfig.set` and `refuseLockOut`; `conflict` when the environment has a key for the
 *   provider or agent gateway at startup, and the changes name another one
 */
export async function changeConfig(
  changes: Readonly<Record<string, unknown>>,
  c: FrameContext,
  gateway: Gateway,
): Promise<Changed> {
  const { config } = gateway
  const next = await config.preview(changes)
  refuseForeignKey(next, config.stored())
  await refuseLockOut(next, c, gateway)
  const changed = await config.set(changes)
  if (changed.length > 0) gateway.log.info('Configuration changed.', { by: callerOf(c).id, changed })
  return { changed, restart_required: config.waiting(), overridden: overriddenKeys(changes, config.stored()) }
}

/**
 * Refuses a new address while the environment has the key of the old one: after a restart the key would be sent to the
 * new address.
 *
 * @throws GazewayError `conflict` with the address in `param`
 */
function refuseForeignKey(next: LoadedConfig, present: LoadedConfig): void {
  const moved = next.leftOut.find((key) => key.startsWith('upstreams.') && !present.leftOut.includes(key))
  if (moved !== undefined) {
    const name = moved.split('.')[1] ?? ''
    throw new GazewayError(
      'conflict',
      `upstreams.${name}: nothing was changed. ${keyVariableOf(name)} in the environment belongs to the address at startup, ` +
        'not to the new one. Send api_keys with the new address, or change config.json and restart.',
      { param: `upstreams.${name}` },
    )
  }
  const foreign = foreignSecrets(present.config, next.config).filter((key) => next.leftOut.includes(key))
  // The sandbox runs in this process and is sent no key.
  const key = foreign.find((key) => key !== 'upstream.api_key' || next.config.upstream.provider !== 'sandbox')
  const address = key && addressOf(key)
  if (!address) return
  throw new GazewayError(
    'conflict',
    `${address}: nothing was changed. ${variableOf(key)} in the environment belongs to the address at startup, not to ` +
      `the new one. Set ${variableOf(address)} and its key in the environment, and restart.`,
    { param: address },
  )
}

/** Settings that every key may read: the models, and what its requests are held to. */
const OPEN_KEYS: readonly string[] = [
  'upstream.models.primary',
  'upstream.models.fallback',
  'upstream.models.chat',
  'http.max_body_bytes',
  'http.max_model_body_bytes',
  'http.rate_limit.requests_per_minute',
  'wallet.max_output_tokens',
]

/** The part of the configuration that keys other than an admin's read. */
function openPart({ config }: Gateway): z.input<typeof ConfigShown> {
  const present = config.stored().config
  const open = {}
  for (const key of OPEN_KEYS) setProperty(open, key, getProperty(present, key))
  return { config: open, env: {}, flags: {}, restart_required: [], capabilities: [...CAPABILITIES] }
}

function shown({ config }: Gateway): z.input<typeof ConfigShown> {
  const stored = config.stored()
  return {
    config: redactConfig(stored.config),
    env: overridesInForce(stored, 'environment'),
    flags: overridesInForce(stored, 'flag'),
    restart_required: config.waiting(),
    capabilities: [...CAPABILITIES],
  }
}

/** Routes of the whole configuration. */
export const configRoutes = (gateway: Gateway): Route[] => [
  defineRoute('GET /api/config', {
    operation: 'getConfig',
    summary: 'Retrieve the configuration and its overrides from the environment',
    access: 'platform',
    reply: ConfigShown,
    run: async ({ c }) => (callerOf(c).scopes.has('admin') ? shown(gateway) : openPart(gateway)),
  }),
  ...(['POST', 'PATCH'] as const).map((method) =>
    defineRoute(`${method} /api/config`, {
      operation: method === 'POST' ? 'setConfig' : 'updateConfig',
      summary: 'Update the configuration, all sent keys or none',
      description:
        'Changes apply at once in this process, and within 5 s in others on the same store. Those in ' +
        'restart_required apply after a restart. A secret that is sent back as "***" stays unchanged. A new provider ' +
        'does not get the key of the old one: send its own key with it. While the environment has a key for the ' +
        'provider of the start, a new one is refused.',
      access: 'admin',
      body: Changes,
      reply: ConfigChanged,
      async run({ body, c }) {
        const changed = await changeConfig(body, c, gateway)
        return { ...shown(gateway), ...changed }
      },
    }),
  ),
]
