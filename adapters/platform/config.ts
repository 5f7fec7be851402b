import { z } from 'zod'
import { environmentInForce, flagsInForce, overriddenKeys } from '../../src/config/overrides.ts'
import { redactConfig } from '../../src/config/redact.ts'
import type { Gateway } from '../../src/gateway.ts'
import type { FrameContext } from '../web/frame.ts'
import { refuseLockOut } from './lock-out.ts'
import { defineRoute, type Route } from './route.ts'

const tag = 'Configuration'

/** Changes by dotted key. */
const Changes = z
  .record(z.string().min(1).max(500), z.unknown())
  .describe('Dotted key → value, such as {"upstream.models.chat": "llm-3-fast"}; null resets to the default')

const InForce = z.record(z.string(), z.object({ path: z.string(), value: z.unknown() }))

const Shown = z.object({
  config: z.record(z.string(), z.unknown()).describe('All of it, defaults filled in; secrets are "***"'),
  env: InForce.describe('Environment variable in force → the key that it is over, and its value'),
  flags: InForce.describe('The same of flags of the command'),
  restart_required: z.array(z.string()).describe('Keys whose value is in force once this process is started again'),
})

/** What a change did. */
export const Changed = z.object({
  changed: z.array(z.string()).describe('Keys, and entries of keys, whose value is another one now'),
  restart_required: Shown.shape.restart_required,
  overridden: z.array(z.string()).describe('Keys that were sent, but that a variable or flag is over'),
})
export type Changed = z.infer<typeof Changed>

/** Makes changes on behalf of a request. @throws GazewayError as `LiveConfig.set` and `refuseLockOut` */
export async function changeConfig(
  changes: Readonly<Record<string, unknown>>,
  c: FrameContext,
  gateway: Gateway,
): Promise<Changed> {
  const { config } = gateway
  await refuseLockOut(await config.preview(changes), c, gateway)
  const changed = await config.set(changes)
  return { changed, restart_required: config.waiting(), overridden: overriddenKeys(changes, config.stored()) }
}

function shown({ config }: Gateway): z.input<typeof Shown> {
  const stored = config.stored()
  return {
    config: redactConfig(stored.config),
    env: environmentInForce(stored),
    flags: flagsInForce(stored),
    restart_required: config.waiting(),
  }
}

/** The whole configuration. */
export const configRoutes = (gateway: Gateway): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/config',
    tag,
    summary: 'The configuration, and what of it comes from the environment',
    access: 'platform',
    reply: Shown,
    run: async () => shown(gateway),
  }),
  ...(['POST', 'PATCH'] as const).map((method) =>
    defineRoute({
      method,
      path: '/api/config',
      tag,
      summary: 'Change the configuration, all keys that are sent or none',
      description:
        'Changes are in force here at once, and within 5 s in every other process on the same store; those in ' +
        'restart_required wait for a restart. A secret sent back as "***" changes nothing. Another provider loses the key ' +
        'of the last one, unless its own comes with it.',
      access: 'admin',
      body: Changes,
      reply: Shown.extend(Changed.shape),
      async run({ body, c }) {
        const changed = await changeConfig(body, c, gateway)
        return { ...shown(gateway), ...changed }
      },
    }),
  ),
]
