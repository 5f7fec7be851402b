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
 * Everything that can be configured: defaults, ranges, descriptions and which leaves are secret. config.json, the
 * environment, flags, dot-notation changes and the reference all follow it. Unknown keys are errors.
 *
 * Metadata: `secret` is `value` where the whole leaf (or each entry's value) is one, `url` where a URL may hold a
 * password; `restart` where a change waits for the next start (of a section: of all in it that does not say otherwise);
 * `variable` and `flag` set the leaf; `environmentOnly` where a value is kept in no file and no store; `accepted` says in words what the schema alone does not
 * show.
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

/** The whole configuration, every default filled in. */
export type Config = z.infer<typeof Config>

/** What config.json holds: any part of the configuration. */
export type ConfigDocument = z.input<typeof Config>

/**
 * Checks a document and fills in the defaults. Compiled checks would take longer to make than these few runs take: at a
 * cold start they cost 4 ms against 1.3.
 */
export function checkConfig(document: unknown): z.ZodSafeParseResult<Config> {
  return Config.safeParse(document, { jitless: true })
}
