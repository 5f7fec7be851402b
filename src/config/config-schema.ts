import * as z from 'zod'
import { AgentGateway } from './sections/agent-gateway-section.ts'
import { Alerts } from './sections/alerts-section.ts'
import { Audit } from './sections/audit-section.ts'
import { Chain } from './sections/chain-section.ts'
import { Context } from './sections/context-section.ts'
import { Gaze } from './sections/gaze-section.ts'
import { Http } from './sections/http-section.ts'
import { Identity } from './sections/identity-section.ts'
import { Log } from './sections/log-section.ts'
import { Mcp } from './sections/mcp-section.ts'
import { Memory } from './sections/memory-section.ts'
import { Mpp } from './sections/mpp-section.ts'
import { Pricing } from './sections/pricing-section.ts'
import { Routes } from './sections/routes-section.ts'
import { Skills } from './sections/skills-section.ts'
import { Store } from './sections/store-section.ts'
import { Upstream } from './sections/upstream-section.ts'
import { Upstreams } from './sections/upstreams-section.ts'
import { Wallet } from './sections/wallet-section.ts'

/**
 * Schema of the configuration: defaults, ranges, descriptions and secrets. config.json, the environment, flags, changes
 * by dotted key and the reference are derived from it. Unknown keys are errors.
 *
 * Metadata:
 * - `secret`: `value` when the leaf (or the value of each entry) is secret, `url` for a URL that may contain a
 *   password.
 * - `restart`: a change takes effect at the next start. On a section it applies to all of its leaves that do not set
 *   their own.
 * - `variable`, `flag`: set the leaf.
 * - `environmentOnly`: stored in no file and no store.
 * - `accepted`: describes the accepted values, when the schema alone does not.
 */
export const Config = z.strictObject({
  upstream: Upstream.prefault({}),
  upstreams: Upstreams,
  routes: Routes,
  store: Store.prefault({}),
  http: Http.prefault({}),
  agent_gateway: AgentGateway.prefault({}),
  identity: Identity.prefault({}),
  gaze: Gaze.prefault({}),
  context: Context.prefault({}),
  memory: Memory.prefault({}),
  skills: Skills.prefault({}),
  audit: Audit.prefault({}),
  pricing: Pricing.prefault({}),
  wallet: Wallet.prefault({}),
  alerts: Alerts.prefault({}),
  mpp: Mpp.prefault({}).meta({ restart: true }),
  chain: Chain.prefault({}).meta({ restart: true }),
  mcp: Mcp.prefault({}),
  log: Log.prefault({}),
})

/** The configuration with all defaults applied. */
export type Config = z.infer<typeof Config>

/** Content of config.json: any part of the configuration. */
export type ConfigDocument = z.input<typeof Config>

/** Validates a document and applies the defaults. Uncompiled: compiling the checks costs more than these few runs. */
export function checkConfig(document: unknown): z.ZodSafeParseResult<Config> {
  return Config.safeParse(document, { jitless: true })
}
