import type { Micros } from '../text/money.ts'
import type { TierPercents } from './tiers.ts'

/**
 * Things that a provider charges beside the tokens of an answer, by the piece. `tool_image` is an image that a tool of a
 * chat makes; its tokens are those of another model, and charged one by one where the answer counts them.
 */
export type FeeUnit =
  | ('search' | 'preview_search' | 'file_search' | 'code' | 'page')
  | ('tool_image' | 'tool_image_input_token' | 'tool_image_output_token')
  | ('image' | 'audio_second')

/** Prices of such things, in micro-dollars each. */
export type Fees = Readonly<Partial<Record<FeeUnit, Micros>>>

/**
 * Effect of a field on the model that answers, or on the cost:
 * - `none`: none, whatever its value;
 * - `tier`: it selects a price of the same model (`tiers.ts`);
 * - `model instead`: ids of models that may answer in place of the requested one, or objects with a `model`;
 * - `model beside`: ids of models that run in addition;
 * - `answer limit`: the token limit of such a model;
 * - `prediction`: text of which the rejected part is charged as output;
 * - `unbounded`: its cost, or the model behind it, is not known beforehand.
 */
type FieldEffect = 'none' | 'tier' | 'model instead' | 'model beside' | 'answer limit' | 'prediction' | 'unbounded'

/**
 * Rule for a field: its effect; the rules of its members, or of those of its entries; what it is as a whole; or the
 * kinds of its entries. Members without a rule are refused.
 */
export type FieldRule = FieldEffect | FieldMembers | { kind: FieldKind } | FieldKinds

export type FieldRules = Readonly<Record<string, FieldRule>>

/** Rules of an object's members, or of those of each object in a list. */
export interface FieldMembers {
  members: FieldRules
  /** Effect of a text in its place; none by default. */
  text?: FieldEffect
}

/** Rule for a list of objects that a member tells apart. */
export interface FieldKinds {
  by: 'type' | 'id'
  /** Rules by a glob of that member. */
  kinds: Readonly<Record<string, FieldKind>>
  /** Entries of other kinds. */
  others: 'refused' | 'allowed'
  /** Rules of the members of entries that have no kind and no name: the tools of Google's own API. */
  unnamed?: FieldRules
}

/** A kind of tool or plugin. */
export interface FieldKind {
  /** Rules of its members. Absent: all are without effect. */
  members?: FieldRules
  /** Charged for each use. */
  unit?: FeeUnit
  /** Member that limits its uses, as far as there is one. */
  limit?: string
  /** True when the requested model runs once more. */
  runsAgain?: true
  /** True when it runs a model, which must be named. */
  needsModel?: true
  /** True when its cost is not known beforehand. */
  isUnbounded?: true
}

/** Fields of a provider's requests that change the model or the price, with what they cost. */
export interface PricedFields {
  /** Rules by field. A field without one changes neither. */
  fields: FieldRules
  fees?: Fees | ((model: string) => Fees)
  /** Shortest recording that is charged, in seconds. */
  leastSeconds?: number
  /** Prices of the tiers of a model that have none of their own. */
  tiers?(model: string): TierPercents
  /** Reads what a provider adds to the id of a model. */
  readId?(model: string): ModelVariant
  /** Field that takes the highest prices at which the provider may answer. */
  ceiling?: 'provider'
}

/** Parts of a model id. */
export interface ModelVariant {
  /** Id with its price. */
  priced: string
  /** Charged once for each answer. */
  unit?: FeeUnit
  /** True for a router, whose answers name the model that it chose. */
  choosesModel?: true
  /** True when the model behind it is not known beforehand. */
  isUnbounded?: true
}

/** Tools that the client runs itself, in the APIs of OpenAI. */
export const CLIENT_TOOLS: FieldKinds['kinds'] = {
  function: {},
  custom: {},
  namespace: {},
  tool_search: {},
  local_shell: {},
  apply_patch: {},
  'computer*': {},
  programmatic_tool_calling: {},
}

/** Servers of one's own, which charge nothing. */
export const NO_PRICED_FIELDS: PricedFields = { fields: {} }

/** Providers with tiers alone. */
export const TIER_ALONE: PricedFields = { fields: { service_tier: 'tier' } }
