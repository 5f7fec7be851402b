/** The jobs that a provider's models do, named as in {@link OWN_MODELS}. */
export type Role = 'research' | 'reasoning' | 'fast_reasoning' | 'chat'

/**
 * Gazeway's own model names: those of the configured roles, and of metered calls. A preset says which of its models answers
 * each; an upstream that has none for a name answers it with the model that it lists first.
 */
export const OWN_MODELS: Readonly<Record<Role, string>> = {
  research: 'llm-4.20-multi-agent-beta-0309',
  reasoning: 'llm-4.20-0309-reasoning',
  fast_reasoning: 'llm-4-1-fast-reasoning',
  chat: 'llm-3-fast',
}

/** Those of them that metered calls may ask for: they keep the flat price unless the configuration has one for them. */
export const FLAT_MODELS: ReadonlySet<string> = new Set([
  OWN_MODELS.research,
  OWN_MODELS.reasoning,
  OWN_MODELS.fast_reasoning,
])

/** US dollars per 1,000,000 tokens. A rate that is left out is not known: such tokens cost what input does. */
export interface ModelPrices {
  input: number
  output: number
  /** Prompt tokens that the provider had in its cache. */
  cached_input?: number | undefined
  /** Prompt tokens that the provider puts into its cache, where it charges more for them. */
  cache_write?: number | undefined
  /** The same where they are kept for an hour; by default what `cache_write` says. */
  cache_write_1h?: number | undefined
}

/** The models of a provider by id, as far as they are known here. */
export type Catalogue = Readonly<Record<string, PresetModel>>

/** One model of a provider, as far as it is known here. */
export interface PresetModel {
  prices: ModelPrices | 'unknown'
  /** The page that says so. */
  source: string
  /** The day that the page was read, or the month. */
  date: string
}

/**
 * A provider of models that is known by name. Adding one takes a file with such a record and a line in `providers.ts`; the
 * configuration, its variables, `--help`, the manifests, the tables of the documentation and the console follow.
 */
export interface Preset {
  /** The value of `GAZEWAY_UPSTREAM`. */
  name: string
  /** Its name for people. */
  label: string
  baseUrl: string
  /** The API that it speaks. */
  protocol: 'openai' | 'anthropic'
  /** The provider's own environment variable for its key, and the page where a key is made; null where none is needed. */
  key: { variable: string; page: string } | null
  /** Which of its models does which job: Gazeway's own names become these. */
  roles: Partial<Record<Role, string>>
  /** More names: the name that clients ask for → the provider's id. */
  aliases?: Record<string, string>
  /** Its models by id; empty where its owner decides which it has. */
  models: Catalogue
}

/** The names that a provider answers to → its ids. An id that is not here goes upstream as it is. */
export function aliasesOf({ roles, aliases }: Preset): Record<string, string> {
  const own = Object.entries(roles).map(([role, id]) => [OWN_MODELS[role as Role], id] as const)
  return { ...Object.fromEntries(own), ...aliases }
}
