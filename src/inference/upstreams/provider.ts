import type { CloudSettings, PresetCloud } from '../../providers/cloud.ts'
import type { ListedPrices } from '../../providers/listed-prices.ts'
import type { Catalogue, Preset } from '../../providers/preset.ts'
import type { ClientPaid, PricedModel } from '../../providers/prices.ts'
import type { OwnProxy } from '../../wire/proxy-choice.ts'
import { type AnswerLimits, type ModelLimits, UNKNOWN_LIMITS } from '../api/answer-limit.ts'

/** Name of the upstream that the section `upstream` and its flags describe. */
export const DEFAULT_UPSTREAM = 'default'

/** Role of a model: `primary` research with search, `fallback` reasoning without it, `chat` conversation. */
export type ModelRole = 'primary' | 'fallback' | 'chat'

/** Requested model, its id at the upstream, the catalogue with its price, and what is known of its limits. */
export interface ModelChoice extends PricedModel {
  limits?: AnswerLimits
  /** True at a server of one's own, where a model without a price costs nothing. */
  isLocal?: boolean
}

/** Most tokens of a model, as far as known. */
export const limitsOf = ({ limits, upstream }: ModelChoice): ModelLimits => limits?.of(upstream) ?? UNKNOWN_LIMITS

/** Google's own API of an upstream that is also compatible with OpenAI's. */
export interface GoogleApi {
  baseUrl: string
  /** Path of the compatible API below it. */
  compatible: string
}

/** One configured upstream: its address, credentials and model names. */
export interface Provider {
  /** Name in the configuration: `default`, or one of `upstreams`. */
  id: string
  /** Its section of the configuration, for errors. */
  section: string
  /** Name in records: its name in `upstreams`; for `default` the preset's, or the host of a custom base URL. */
  name: string
  /**
   * Name for callers, in errors and health: as `name`, but for a base URL the known provider at its host, else `default`.
   * Other hosts are for admins.
   */
  label: string
  /** Name of the known provider. Null for any other server. */
  vendor: string | null
  /** Base URL without trailing slash. */
  baseUrl: string
  /** API protocol of the provider. */
  protocol: Preset['protocol']
  /** Google's own API beside it. Null where there is none. */
  googleApi: GoogleApi | null
  apiKey: string | null
  /** The provider's id of the key, which is no secret. Null where none is known. */
  keyId: string | null
  /** The client whose credential takes the place of our key pays the provider itself. Null for our own keys. */
  paidBy: ClientPaid | null
  /** True where it may be called with a key of the client. */
  takesOwnKeys: boolean
  /** True where it may be called with the plan of a person. */
  takesOwnPlans: boolean
  /** Headers of each request: those of the configuration, and the mark of this process. */
  headers: Record<string, string>
  /** Secrets in the key and the headers, masked in errors and headers. Longest first. */
  secrets: readonly string[]
  /** Its proxy in the configuration; null for those of the environment. */
  proxy: OwnProxy | null
  /** Longest silence, in milliseconds. */
  timeoutMs: number
  /** Time limit for the first byte of a reply, in milliseconds. */
  firstByteMs: number
  maxRetries: number
  /** Resolves a model name to the provider's id. Without a name, the role's model. */
  resolve(model: string | undefined, role: ModelRole): ModelChoice
  /** Tells whether a name is one of Gazeway's own without an id at this upstream; `modelFor` then chooses a model. */
  isUnassigned(model: string): boolean
  /** True when the cost that answers state is believed: the known provider itself answers, not another address. */
  statesCost: boolean
  /** Known prices of its models. Empty for a base URL. */
  catalogue: Catalogue
  /** Tells whether closing a stream stops what the provider charges. Null when unknown. */
  stopsOnClose: boolean | null
  /** Path that tells what an answer has cost, by its id. Null when there is none. */
  generations: string | null
  /** Forms that it takes beyond the common form, and mends that its models do not need, by name. */
  accepts: readonly string[]
  /** Names with an id here: at `default` the roles' models first, then the aliases. */
  aliases: string[]
  /** Known token limits, by model. */
  limits: AnswerLimits
  /** True when its model list states the token limits of its models. */
  listsLimits: boolean
  /** Prices that its model list states. Null where it states none. */
  listing: ListedPrices | null
  /** Cloud whose credentials sign its requests. Null outside of clouds. */
  cloud: PresetCloud | null
  cloudSettings: CloudSettings
  /** True for the sandbox, which runs in this process. */
  inProcess: boolean
  /** Sends a request outside of calls: over the network, or to the sandbox in this process. */
  fetch(url: string, init?: RequestInit): Promise<Response>
  /** True when it has a key or needs none. */
  hasKey: boolean
  /**
   * Requires a key.
   *
   * @throws GazewayError `upstream_not_configured` naming both remedies, when a key is needed and missing
   */
  requireKey(): void
}
