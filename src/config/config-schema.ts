import * as z from 'zod'
import { agentGatewaySection } from './sections/agent-gateway-section.ts'
import { alertsSection } from './sections/alerts-section.ts'
import { auditSection } from './sections/audit-section.ts'
import { chainSection } from './sections/chain-section.ts'
import { chatsSection } from './sections/chats-section.ts'
import { contextSection } from './sections/context-section.ts'
import { gazeSection } from './sections/gaze-section.ts'
import { httpSection } from './sections/http-section.ts'
import { identitySection } from './sections/identity-section.ts'
import { logSection } from './sections/log-section.ts'
import { mcpSection } from './sections/mcp-section.ts'
import { memorySection } from './sections/memory-section.ts'
import { mppSection } from './sections/mpp-section.ts'
import { pricingSection } from './sections/pricing-section.ts'
import { remoteSection } from './sections/remote-section.ts'
import { responsesSection } from './sections/responses-section.ts'
import { reviewSection } from './sections/review-section.ts'
import { routesSection } from './sections/routes-section.ts'
import { sessionsSection } from './sections/sessions-section.ts'
import { skillsSection } from './sections/skills-section.ts'
import { storeSection } from './sections/store-section.ts'
import { tasksSection } from './sections/tasks-section.ts'
import { upstreamSection } from './sections/upstream-section.ts'
import { upstreamsSection } from './sections/upstreams-section.ts'
import { walletSection } from './sections/wallet-section.ts'

/** Sections of the configuration, in order. */
export const SECTIONS = {
  upstream: upstreamSection,
  upstreams: upstreamsSection,
  routes: routesSection,
  store: storeSection,
  http: httpSection,
  agent_gateway: agentGatewaySection,
  identity: identitySection,
  gaze: gazeSection,
  review: reviewSection,
  context: contextSection,
  memory: memorySection,
  remote: remoteSection,
  sessions: sessionsSection,
  chats: chatsSection,
  tasks: tasksSection,
  skills: skillsSection,
  responses: responsesSection,
  audit: auditSection,
  pricing: pricingSection,
  wallet: walletSection,
  alerts: alertsSection,
  mpp: mppSection,
  chain: chainSection,
  mcp: mcpSection,
  log: logSection,
}
export type SectionName = keyof typeof SECTIONS

/** Names of the sections, in order. */
export const SECTION_NAMES = Object.keys(SECTIONS) as SectionName[]

type SectionSchemas = { -readonly [Name in SectionName]: ReturnType<(typeof SECTIONS)[Name]> }

/**
 * Schema of the configuration: defaults, ranges, descriptions and secrets. config.json, the environment, flags, changes
 * by dotted key and the reference are derived from it. Unknown keys are errors. The schemas of its sections are built
 * when its fields are first read.
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
export const Config = z.strictObject(schemasOf(SECTIONS))

/** The configuration with all defaults applied. */
export type Config = z.infer<typeof Config>

/** Content of config.json: any part of the configuration. */
export type ConfigDocument = z.input<typeof Config>

/** The schemas of sections, each built when it is read. */
function schemasOf(sections: typeof SECTIONS): SectionSchemas {
  const properties = Object.entries(sections).map(([name, get]) => [name, { get, enumerable: true }])
  return Object.defineProperties({}, Object.fromEntries(properties)) as SectionSchemas
}
