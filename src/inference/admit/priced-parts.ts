import { GazewayError } from '../../errors.ts'
import { isKnownTool, kindOf, pricedFieldsAt } from '../../providers/fields-at.ts'
import type {
  FeeUnit,
  FieldKind,
  FieldKinds,
  FieldRule,
  FieldRules,
  PricedFields,
} from '../../providers/priced-fields.ts'
import { type TierFields, tierFields } from '../../providers/tiers.ts'
import { isObject } from '../../text/json.ts'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { ModelChoice } from '../upstreams/provider.ts'

/** Answer tokens of a model that runs beside the requested one, without a limit of its own. */
const BESIDE_TOKENS = 8192
/** Uses of a tool, and runs of a model beside, that a request is assumed to cause when it does not limit them. */
const ASSUMED_USES: Readonly<Record<FeeUnit | 'run', number>> = {
  search: 3,
  preview_search: 1,
  file_search: 3,
  code: 1,
  tool_image: 1,
  tool_image_input_token: 0,
  tool_image_output_token: 0,
  image: 1,
  page: 50,
  audio_second: 600,
  run: 1,
}
/** Most uses that are reserved, whatever a request allows. What is used beyond them counts, too. */
const MOST_USES = 100

/** A run of a model beside the one that answers. */
interface RunBeside {
  model: ModelChoice
  runs: number
  /** Most answer tokens of a run. */
  answer: number
}

/** Parts of a request that change which model answers, or add to the cost. */
export interface PricedParts {
  /** Models that may answer in place of the requested one. */
  instead: readonly ModelChoice[]
  beside: readonly RunBeside[]
  /** Uses of tools with a fee. */
  uses: readonly { model: ModelChoice; unit: FeeUnit; times: number }[]
  /** Tier, speed and region of the request, and of each model that has its own. */
  tiers: readonly TierFields[]
  /** Longest answer that a model in place of the requested one may give. 0 without an own limit. */
  longestInstead: number
  /** Most output tokens for rejected parts of a prediction. */
  predicted: number
  /** True when there are objects in the listed fields, which are sent as they were read. */
  isRouted: boolean
}

/** Parts of a request without any of the listed fields. */
export const NO_PARTS: PricedParts = {
  instead: [],
  beside: [],
  uses: [],
  tiers: [{}],
  longestInstead: 0,
  predicted: 0,
  isRouted: false,
}

/**
 * Reads the fields of a request that change which model answers, or what it costs, at each provider that may answer.
 *
 * @throws GazewayError `field_not_allowed` for one whose effect is not known
 */
export function pricedParts(choices: readonly ModelChoice[], json: Fields): PricedParts {
  const vendors = new Set<string | null>()
  const parts = collected(json)
  for (const choice of choices) {
    const fields = pricedFieldsAt(choice.vendor)
    if (fields === null) continue
    readId(fields, choice, choice.upstream, parts)
    if (vendors.has(choice.vendor ?? null)) continue
    vendors.add(choice.vendor ?? null)
    for (const name in fields.fields) {
      const value = json[name] ?? null
      if (value !== null)
        readField(fields.fields[name] as FieldRule, value, { path: name, like: choice, fields, json, parts })
    }
  }
  return parts
}

/** The parts as they are read. */
type Collected = {
  -readonly [Name in keyof PricedParts]: PricedParts[Name] extends readonly (infer Entry)[]
    ? Entry[]
    : PricedParts[Name]
}

const collected = (json: Fields): Collected => ({
  instead: [],
  beside: [],
  uses: [],
  tiers: [tierFields(json)],
  longestInstead: 0,
  predicted: 0,
  isRouted: false,
})

/** Place of a value in a request. */
interface Place {
  path: string
  /** A model at the provider whose fields are read. */
  like: ModelChoice
  fields: PricedFields
  json: Fields
  parts: Collected
  /** The object that the value is a member of, and its kind. */
  entry?: { of: Fields; kind: FieldKind } | undefined
}

function readField(rule: FieldRule, value: unknown, place: Place): void {
  if ((value ?? null) === null) return
  const { path, parts, like } = place
  if (typeof rule === 'object') {
    readObjects(rule, value, place)
    return
  }
  switch (rule) {
    case 'none':
      return
    case 'tier':
      if (typeof value !== 'string') throw notAllowed(path, 'must be a text')
      // Those of the request itself are there already.
      if (path.includes('.'))
        parts.tiers.push(tierFields({ ...place.json, [path.slice(path.lastIndexOf('.') + 1)]: value }))
      return
    case 'model instead':
      parts.isRouted = true
      for (const id of idsIn(value, place)) parts.instead.push(namedBy(id, place))
      return
    case 'model beside':
      for (const id of idsIn(value, place)) parts.beside.push(runOf(namedBy(id, place), place))
      return
    case 'answer limit':
      if (!Number.isSafeInteger(value) || (value as number) < 1)
        throw notAllowed(path, 'must be a whole number above 0')
      parts.longestInstead = Math.max(parts.longestInstead, value as number)
      return
    case 'prediction':
      parts.predicted += Buffer.byteLength(JSON.stringify(value))
      return
    case 'unbounded':
      throw notAllowed(path, `it chooses a model or a cost that is not known before the call to ${like.requested}`)
  }
}

function readObjects(rule: Exclude<FieldRule, string>, value: unknown, place: Place): void {
  const { path, parts } = place
  if ('kind' in rule) {
    readKind(rule.kind, isObject(value) ? value : {}, place)
    return
  }
  if (typeof value === 'string' && 'members' in rule) {
    readField(rule.text ?? 'none', value, place)
    return
  }
  const isList = Array.isArray(value)
  if (!isObject(value) && !isList) throw notAllowed(path, 'must be an object or a list of objects')
  const entries = isList ? objectsOrNone(value) : [value as Fields]
  if (isList && entries.length < value.length) throw notAllowed(path, 'must be a list of objects')
  for (const [index, entry] of entries.entries()) {
    const at = { ...place, path: isList ? `${path}.${index}` : path }
    if ('by' in rule) readEntry(rule, entry, at)
    else {
      parts.isRouted = true
      readMembers(rule.members, entry, at)
    }
  }
}

function readEntry(rule: FieldKinds, entry: Fields, place: Place): void {
  const { by, others } = rule
  const name = entry[by] ?? null
  if (name === null) {
    // Tools of Messages without a type are the client's.
    if (rule.unnamed !== undefined && (entry.name ?? null) === null) {
      place.parts.isRouted = true
      readMembers(rule.unnamed, entry, place)
    }
    return
  }
  const kind = kindOf(rule, String(name))
  if (kind !== undefined) readKind(kind, entry, place)
  else if (others === 'refused' && !(by === 'type' && isKnownTool(String(name))))
    throw notAllowed(`${place.path}.${by}`, `${JSON.stringify(name)} is not known`)
}

function readKind(kind: FieldKind, entry: Fields, place: Place): void {
  const { parts, like } = place
  const { members, unit, limit, runsAgain, needsModel } = kind
  if (unit !== undefined) parts.uses.push({ model: like, unit, times: timesOf(unit, limit, entry) })
  if (runsAgain) parts.beside.push({ model: like, runs: 1, answer: BESIDE_TOKENS })
  if (members === undefined) return
  parts.isRouted = true
  const before = parts.beside.length
  readMembers(members, entry, { ...place, entry: { of: entry, kind } })
  if (needsModel && parts.beside.length === before && entry.enabled !== false)
    throw notAllowed(place.path, 'it runs a model, which must be named')
}

function readMembers(rules: FieldRules, entry: Fields, place: Place): void {
  for (const [name, value] of Object.entries(entry)) {
    const path = `${place.path}.${name}`
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (rule === undefined) throw notAllowed(path, 'is not known')
    readField(rule, value, { ...place, path })
  }
}

/** Ids of models: a text, a list of texts, or objects with a `model`. */
function idsIn(value: unknown, { path }: Place): string[] {
  const all = Array.isArray(value) ? value : [value]
  return all.map((one: unknown) => {
    const id = isObject(one) ? one.model : one
    if (typeof id === 'string' && id !== '' && id.length <= 256) return id
    throw notAllowed(path, 'must name models')
  })
}

/** A model that a request names, at the same provider. */
function namedBy(id: string, { like, fields, parts }: Place): ModelChoice {
  const { isOpen: _, isStandIn: __, ...at } = like
  readId(fields, like, id, parts)
  return { ...at, requested: id, upstream: id }
}

function runOf(model: ModelChoice, { entry, path }: Place): RunBeside {
  const { of = {}, kind = {} } = entry ?? {}
  const parameters = isObject(of.parameters) ? of.parameters : of
  const limit = parameters.max_tokens ?? parameters.max_completion_tokens
  if ((limit ?? null) !== null && !Number.isSafeInteger(limit))
    throw notAllowed(path, 'must have a whole number as limit')
  return { model, runs: timesOf('run', kind.limit, parameters), answer: (limit as number | null) ?? BESIDE_TOKENS }
}

function timesOf(unit: FeeUnit | 'run', limit: string | undefined, entry: Fields): number {
  const parameters = isObject(entry.parameters) ? entry.parameters : entry
  const named = limit === undefined ? null : parameters[limit]
  const times = Number.isSafeInteger(named) && (named as number) > 0 ? (named as number) : ASSUMED_USES[unit]
  return Math.min(times, MOST_USES)
}

/** Reads what is added to the id of a model. */
function readId({ readId: read }: PricedFields, like: ModelChoice, id: string, { uses }: Collected): void {
  const { unit, isUnbounded } = read?.(id) ?? {}
  if (isUnbounded)
    throw notAllowed('model', `${JSON.stringify(id.slice(0, 100))} chooses a model that is not known before the call`)
  if (unit !== undefined) uses.push({ model: like, unit, times: ASSUMED_USES[unit] })
}

const notAllowed = (path: string, why: string): GazewayError =>
  new GazewayError(
    'field_not_allowed',
    `${path}: ${why}. Keys with a budget, a charge or a list of models may not send it; omit it, or use a key without limits.`,
    { param: path },
  )
