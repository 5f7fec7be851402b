import { isDeepStrictEqual } from 'node:util'
import { withinTime } from '../../time-limit.ts'
import { alternatives } from './json-alternatives.ts'
import { conforms } from './json-conforms.ts'
import { FORMATS } from './json-formats.ts'
import { identityOf, type NameKind, nameKind } from './json-names.ts'
import { namedIn, type ObjectList, planFor, referencesIn, stepOf } from './json-plan.ts'
import { numberCandidates, stringCandidates } from './json-scalars.ts'
import {
  choicesOf,
  itemsOf,
  type JsonSchema,
  openSchema,
  propertySchemas,
  schemaRefused,
  type TypeName,
  typesOf,
} from './json-schema.ts'
import type { JsonTexts } from './json-texts.ts'
import type { Step } from './steps.ts'

/** Nesting from which only what is required is made; it ends recursive schemas. */
const THRIFTY_DEPTH = 6
/** Values after which only what is required is made, and after which the schema is refused. */
const THRIFTY_VALUES = 1_000
const MAX_VALUES = 5_000
/** Nesting that is refused: the schema has no end. */
const MAX_DEPTH = 64
/** Alternatives of one schema that are weighed against each other. */
const MAX_ALTERNATIVES = 64

/** A schema may hold patterns that match for hours. */
const TIME_LIMIT_MS = 500

const IMPOSSIBLE = Symbol('impossible')

/** Where in the instance a value goes. */
interface Place {
  /** The property it is in; the items of an array have the array's. */
  name: string
  depth: number
  /** The index in the nearest array. */
  variant: number
  /** Values that it must differ from. */
  taken: unknown[]
  /** The nearest list of objects. */
  list?: ObjectList
}

/**
 * Makes a value that is valid under a JSON Schema, the same one each time. Strings come from `texts`, by what the
 * property's name says ({@link nameKind}); numbers from the middle of their range; of alternatives it is the first that
 * works; a list of objects holds three (or as many as it must or may), other lists two. Optional properties are made
 * too, until the value grows deep or large.
 *
 * A list whose objects refer to each other is a plan: it holds one object for each of `steps`, which refers to those
 * that the step comes after, and the keywords in it are those that the step names. Its description may say how many it
 * may hold at most ("at most 8"), as many providers refuse `maxItems`.
 *
 * @param steps what the text asks to be done, where it asks for something
 * @throws GazewayError `invalid_request` when the schema is malformed, endless or contradicts itself, or asks for what
 * the sandbox cannot make (a rare `pattern`, for one), or takes it longer than 0.5 s; it never returns a value that is not valid
 */
export function createInstance(root: unknown, texts: JsonTexts, steps: readonly Step[] = []): unknown {
  const instance = withinTime(TIME_LIMIT_MS, () => makeInstance(root, texts, steps))
  if (instance === undefined) throw schemaRefused(`no value was found within ${TIME_LIMIT_MS} ms; a simpler one may do`)
  return instance
}

function makeInstance(root: unknown, texts: JsonTexts, steps: readonly Step[]): unknown {
  const document = openSchema(root)
  const numbered = new Map<string, number>()
  let made = 0

  const thrifty = (place: Place) => place.depth >= THRIFTY_DEPTH || made > THRIFTY_VALUES
  const prefersNull = (place: Place) =>
    thrifty(place) || (nameKind(place.name) === 'reference' && place.list?.earlier.length === 0)

  function build(node: unknown, place: Place): unknown {
    made += 1
    if (made > MAX_VALUES || place.depth > MAX_DEPTH) throw schemaRefused('its values are endless, or very large')
    for (const flat of ordered(node, place)) {
      const value = buildFlat(flat, place)
      if (value !== IMPOSSIBLE && (flat.not === undefined || !conforms(document, flat.not, value))) return value
    }
    return IMPOSSIBLE
  }

  function ordered(node: unknown, place: Place): Iterable<JsonSchema> {
    if (!prefersNull(place)) return alternatives(document, node)
    const weighed: JsonSchema[] = []
    for (const flat of alternatives(document, node)) {
      if (weighed.push(flat) === MAX_ALTERNATIVES) break
    }
    return weighed.sort((a, b) => costOf(a) - costOf(b))
  }

  function buildFlat(flat: JsonSchema, place: Place): unknown {
    const choices = choicesOf(flat)
    if (choices) return choose(flat, choices, place)
    const types = typesOf(flat) ?? [impliedType(flat)]
    const nullLast = types.toSorted((a, b) => Number(a === 'null') - Number(b === 'null'))
    for (const type of prefersNull(place) ? nullLast.reverse() : nullLast) {
      const value = buildTyped(type, flat, place)
      if (value !== IMPOSSIBLE) return value
    }
    return IMPOSSIBLE
  }

  function choose(flat: JsonSchema, choices: unknown[], place: Place): unknown {
    const valid = choices.filter((choice) => isFree(choice, place) && conforms(document, flat, choice))
    const values = valid.some((choice) => choice !== null) ? valid.filter((choice) => choice !== null) : valid
    return values.length === 0 ? IMPOSSIBLE : values[place.variant % values.length]
  }

  function buildTyped(type: TypeName, flat: JsonSchema, place: Place): unknown {
    if (type === 'null') return null
    if (type === 'boolean') return firstValid(flat, place, [place.variant % 2 === 0, place.variant % 2 === 1])
    if (type === 'string') return buildString(flat, place)
    if (type === 'array') return buildArray(flat, place)
    if (type === 'object') return buildObject(flat, place)
    return firstValid(flat, place, numberCandidates(flat, type === 'integer', place.variant))
  }

  function firstValid(flat: JsonSchema, place: Place, candidates: unknown[]): unknown {
    const at = candidates.findIndex((candidate) => isFree(candidate, place) && conforms(document, flat, candidate))
    return at === -1 ? IMPOSSIBLE : candidates[at]
  }

  function buildString(flat: JsonSchema, place: Place): unknown {
    const kind = nameKind(place.name)
    const fromList = place.list && namesFromList(kind, place.list).find((name) => conforms(document, flat, name))
    if (fromList !== undefined) return fromList
    const wanted = textKind(kind, flat)
    const step = stepOf(place.list)
    const maxLength = flat.maxLength ?? Infinity
    const text = step && wanted !== 'keyword' ? texts.give(step.text, wanted, maxLength) : texts.next(wanted, maxLength)
    return firstValid(flat, place, stringCandidates(flat, text, place.variant))
  }

  function namesFromList(kind: string, list: ObjectList): string[] {
    if (kind === 'reference') return referencesIn(list, 1).slice(-1)
    if (kind !== 'identity') return []
    const number = (numbered.get(list.initial) ?? 0) + 1
    numbered.set(list.initial, number)
    return [`${list.initial}${number}`, `${list.initial}${String(number).padStart(12, '0')}`]
  }

  function buildArray(flat: JsonSchema, place: Place): unknown {
    const { minItems = 0, maxItems = Infinity } = flat
    const { prefix, rest } = itemsOf(flat)
    const given = givenItems(rest, place, minItems)
    if (given && conforms(document, flat, given)) return given

    const inside = prefix.length === 0 ? firstOf(alternatives(document, rest)) : undefined
    const ofObjects = isObject(inside)
    const planned = inside && !place.list ? planFor(steps, flat, inside) : []
    const list = ofObjects ? { initial: initialOf(place.name), earlier: [] as string[], steps: planned } : place.list
    const usual = planned.length || prefix.length || (ofObjects ? 3 : 2)
    const count = Math.min(maxItems, Math.max(minItems, thrifty(place) ? prefix.length : usual))
    const items: unknown[] = []
    for (let variant = 0; items.length < count && variant < count * 2; variant++) {
      const node = items.length < prefix.length ? prefix[items.length] : rest
      const taken = flat.uniqueItems ? items : []
      const spot = { name: place.name, depth: place.depth + 1, variant, taken, ...(list && { list }) }
      const item = build(node, spot)
      if (item === IMPOSSIBLE) break
      if (!isFree(item, spot)) continue
      items.push(item)
      const identity = ofObjects ? identityOf(item) : undefined
      if (identity !== undefined) list?.earlier.push(identity)
    }
    return items.length >= minItems ? items : IMPOSSIBLE
  }

  /** The items of a list that are known from the list of objects that it is in: references, and a step's keywords. */
  function givenItems(items: unknown, place: Place, minItems: number): unknown[] | undefined {
    const kind = nameKind(place.name)
    if (kind === 'reference' && place.list) return referencesIn(place.list, Math.max(1, minItems))
    const step = kind === 'keyword' && stepOf(place.list)
    if (!step) return undefined
    const flat = firstOf(alternatives(document, items))
    return namedIn(step.text, (flat && choicesOf(flat)) ?? [])
  }

  function buildObject(flat: JsonSchema, place: Place): unknown {
    const { minProperties = 0, maxProperties = Infinity } = flat
    const entries = new Map<string, unknown>()
    const add = (name: string): boolean => {
      const value = build({ allOf: propertySchemas(flat, name) }, { ...place, name, depth: place.depth + 1, taken: [] })
      if (value !== IMPOSSIBLE) entries.set(name, value)
      return value !== IMPOSSIBLE
    }

    const required = new Set(flat.required)
    if (![...required].every(add)) return IMPOSSIBLE
    for (const name of Object.keys(flat.properties ?? {})) {
      const enough = thrifty(place) ? minProperties : maxProperties
      if (!required.has(name) && entries.size < enough) add(name)
    }
    for (let number = 1; entries.size < minProperties && number <= minProperties * 2; number++) {
      const name = inventName(flat.propertyNames, number, place.depth)
      if (typeof name === 'string' && !entries.has(name)) add(name)
    }
    return entries.size >= minProperties ? Object.fromEntries(entries) : IMPOSSIBLE
  }

  function inventName(propertyNames: unknown, number: number, depth: number): unknown {
    const invented = `property_${number}`
    if (conforms(document, propertyNames, invented)) return invented
    return build(
      { allOf: [{ type: 'string' }, propertyNames] },
      { name: '', depth: depth + 1, variant: number - 1, taken: [] },
    )
  }

  const instance = build(root, { name: '', depth: 0, variant: 0, taken: [] })
  if (instance === IMPOSSIBLE || !conforms(document, root, instance)) {
    throw schemaRefused('it found no value that is valid under it; a simpler schema may do')
  }
  return instance
}

function isFree(value: unknown, place: Place): boolean {
  return !place.taken.some((other) => isDeepStrictEqual(other, value))
}

/** How much a value of a flat schema has to hold: nothing, one value, a list that may be empty, an object. */
function costOf(flat: JsonSchema): number {
  const types = typesOf(flat) ?? [impliedType(flat)]
  if (types.includes('null') || choicesOf(flat)?.includes(null)) return 0
  if (choicesOf(flat) || types.some((type) => type !== 'array' && type !== 'object')) return 1
  return types.includes('array') && !flat.minItems ? 2 : 3
}

/** The type that a schema without `type` speaks of. */
function impliedType(flat: JsonSchema): TypeName {
  if (flat.properties || flat.required || flat.additionalProperties !== undefined || flat.minProperties) return 'object'
  if (flat.items !== undefined || flat.prefixItems || flat.minItems) return 'array'
  const bounds = [flat.minimum, flat.maximum, flat.exclusiveMinimum, flat.exclusiveMaximum, flat.multipleOf]
  return bounds.some((bound) => bound !== undefined) ? 'number' : 'string'
}

function firstOf<T>(values: Iterable<T>): T | undefined {
  for (const value of values) return value
  return undefined
}

function isObject(flat: JsonSchema | undefined): boolean {
  return flat !== undefined && (typesOf(flat) ?? [impliedType(flat)]).includes('object')
}

/** Only a text that is free to be anything can be a sentence. */
function textKind(kind: NameKind, flat: JsonSchema): 'heading' | 'keyword' | 'text' {
  if (flat.pattern !== undefined || FORMATS.has(flat.format ?? '')) return 'keyword'
  return kind === 'heading' || kind === 'keyword' ? kind : 'text'
}

function initialOf(name: string): string {
  return /[a-z]/i.exec(name)?.[0].toLowerCase() ?? 'i'
}
