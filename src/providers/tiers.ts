/** Fields by which a request, a reply or the project of an upstream names a price of the same model. */
export interface TierFields {
  /** OpenAI, Groq, Google, Anthropic and others. */
  service_tier?: unknown
  /** Google's own API. */
  serviceTier?: unknown
  /** Anthropic: `fast`. */
  speed?: unknown
  /** Anthropic: the region, such as `us`. */
  inference_geo?: unknown
}

/** Takes the fields that name a price out of a request, which may be large. */
export const tierFields = ({ service_tier, serviceTier, speed, inference_geo }: TierFields): TierFields => ({
  service_tier,
  serviceTier,
  speed,
  inference_geo,
})

/** Tier, speed and region of a call. Null for the standard ones. */
export interface CallTier {
  service: string | null
  speed: string | null
  region: string | null
}

export const STANDARD_TIER: CallTier = { service: null, speed: null, region: null }

/** Tiers with the standard price, by their names in the APIs of OpenAI, Groq and Anthropic. */
const STANDARD: ReadonlySet<string> = new Set(['default', 'standard', 'standard_only', 'on_demand'])
/** Leaves the tier to the project, as a request without one does. */
const BY_PROJECT = 'auto'
/** Regions with the standard price. */
const ANYWHERE: ReadonlySet<string> = new Set(['global', 'not_available'])

/**
 * Reads the tier of a request or a reply.
 *
 * @param project tier and region of the upstream's project, which apply where `fields` names none
 * @example tierIn({ service_tier: 'flex' }).service // 'flex'
 */
export function tierIn(fields: TierFields, project: TierFields = {}): CallTier {
  const service =
    named(lower(fields.service_tier ?? fields.serviceTier), BY_PROJECT) ?? named(project.service_tier, BY_PROJECT)
  const speed = named(fields.speed)
  const region = named(fields.inference_geo) ?? named(project.inference_geo)
  if (service === null && speed === null && region === null) return STANDARD_TIER
  return {
    service: service === null || STANDARD.has(service) ? null : service,
    speed: speed === null || STANDARD.has(speed) ? null : speed,
    region: region === null || ANYWHERE.has(region) ? null : region,
  }
}

/** Google's enumerations may be written in capitals. */
const lower = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value)

const named = (value: unknown, none = ''): string | null =>
  typeof value === 'string' && value !== '' && value !== none ? value : null

/** Name of a tier in receipts. Null for the standard one. */
export function tierName({ service, speed, region }: CallTier): string | null {
  const names = [service, speed, region].filter((name) => name !== null)
  return names.length === 0 ? null : names.join('+')
}

/** Prices of tiers as percentages of the standard price, by their names. */
export interface TierPercents {
  service?: Readonly<Record<string, number>>
  speed?: Readonly<Record<string, number>>
  region?: Readonly<Record<string, number>>
}
