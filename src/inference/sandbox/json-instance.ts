import { isDeepStrictEqual } from 'node:util'
import { withinTime } from '../../wire/time-limit.ts'
import { identityOf, nameKind } from './json-names.ts'
import { namedIn, type ObjectList, planFor, referencesIn, stepOf } from './json-plan.ts'
import { choicesOf, flattened, itemsOf, type JsonSchema, schemaRefused, typesOf, validatorOf } from './json-schema.ts'
import { fitLength, stringOfFormat, stringOfPattern } from './json-strings.ts'
import type { JsonTexts } from './json-texts.ts'
import type { Step } from './steps.ts'

/** Nesting depth from which only required properties are generated, so that recursive schemas end. */
const THRIFTY_DEPTH = 6
/** Number of values from which only required properties are generated, and from which the schema is rejected. */
const THRIFTY_VALUES = 1_000
const MAX_VALUES = 5_000
/** Nesting depth from which the schema is rejected as endless. */
const MAX_DEPTH = 64
/** Time limit per value, in milliseconds: a schema may contain patterns that backtrack for hours. */
const TIME_LIMIT_MS = 500
/** Ranges wider than this are technical limits, not a scale. Numbers are then taken from the low end. */
const WIDE = 1_000_000

/** Position of a value in the instance. */
interface Place {
  /** Name of the property. Array items have the name of the array. */
  name: string
  depth: number
  /** Index in the nearest array. */
  variant: number
  /** Nearest list of objects. */
  list?: ObjectList
}

/**
 * Generates a value that is valid under a JSON Schema, deterministically. Supports OpenAI's strict subset (types,
 * `enum`, `const`, `anyOf`, `$ref`, properties, items and their bounds), and `oneOf`, `allOf` and tuples whose first
 * choice is valid. zod checks the result.
 *
 * - Strings come from `texts`, by the kind of the property's name ({@link nameKind}).
 * - Numbers come from the middle of their range.
 * - A list of objects gets three items, other lists two.
 * - Optional properties are generated too, until the value grows deep.
 *
 * A list whose objects refer to each other is a plan. It gets one object per step, which refers to the preceding steps;
 * its keywords are those that the step names. Its description may limit the count ("at most 8"), since many providers
 * reject `maxItems`.
 *
 * @param steps steps that the text asks for, if any
 * @throws GazewayError `invalid_request` when the schema is malformed or endless, or when no valid value was found
 *   within 0.5 s
 */
export function createInstance(root: unknown, texts: JsonTexts, steps: readonly Step[] = []): unknown {
  const made = withinTime(TIME_LIMIT_MS, () => {
    const isValid = validatorOf(root)
    const value = makeInstance(root, texts, steps)
    return { value, isValid: isValid(value) }
  })
  if (made === undefined) throw schemaRefused(`no value was found within ${TIME_LIMIT_MS} ms; try a simpler schema`)
  if (!made.isValid) throw schemaRefused('no valid value was found; try a simpler schema')
  return made.value
}

function makeInstance(root: unknown, texts: JsonTexts, steps: readonly Step[]): unknown {
  const numbered = new Map<string, number>()
  let made = 0

  const isThrifty = ({ depth }: Place) => depth >= THRIFTY_DEPTH || made > THRIFTY_VALUES
  const prefersNull = (place: Place) =>
    isThrifty(place) || (nameKind(place.name) === 'reference' && place.list?.earlier.length === 0)

  function build(node: unknown, place: Place): unknown {
    made += 1
    if (made > MAX_VALUES || place.depth > MAX_DEPTH) throw schemaRefused('its values are endless or too large')
    const schema = flattened(root, node)
    const options = schema.anyOf ?? schema.oneOf
    if (options) {
      const { anyOf, oneOf, ...rest } = schema
      return build({ allOf: [rest, optionFor(options, place)] }, place)
    }
    const choices = choicesOf(schema)
    if (choices) return choose(choices, place)
    return buildTyped(schema, place)
  }

  /** The first non-null option, or null when null ends the value. */
  function optionFor(options: readonly unknown[], place: Place): unknown {
    const isNull = (option: unknown) => typesOf(flattened(root, option)).includes('null')
    return options.find((option) => isNull(option) === prefersNull(place)) ?? options[0]
  }

  function choose(choices: unknown[], { variant }: Place): unknown {
    const values = choices.filter((choice) => choice !== null)
    return values.length === 0 ? null : values[variant % values.length]
  }

  function buildTyped(schema: JsonSchema, place: Place): unknown {
    const types = typesOf(schema)
    const type = types.find((name) => (name === 'null') === prefersNull(place)) ?? types[0]
    if (type === 'null') return null
    if (type === 'boolean') return place.variant % 2 === 0
    if (type === 'string') return buildString(schema, place)
    if (type === 'array') return buildArray(schema, place)
    if (type === 'object') return buildObject(schema, place)
    return numberIn(schema, type === 'integer', place.variant)
  }

  function buildString(schema: JsonSchema, { name, list, variant }: Place): string {
    const { format, pattern, minLength, maxLength } = schema
    const formatted = stringOfFormat(format, variant)
    if (formatted !== undefined) return formatted
    const kind = nameKind(name)
    if (list && pattern === undefined) {
      const known = kind === 'reference' ? referencesIn(list, 1).at(-1) : undefined
      if (known !== undefined) return fitLength(known, minLength, maxLength)
      if (kind === 'identity') return fitLength(nextIdentity(list), minLength, maxLength)
    }
    if (pattern !== undefined) return patterned(pattern, texts.next('keyword'))
    const wanted = kind === 'heading' || kind === 'keyword' ? kind : 'text'
    const step = stepOf(list)
    const text = step && wanted !== 'keyword' ? texts.give(step.text, wanted, maxLength) : texts.next(wanted, maxLength)
    return fitLength(text, minLength, maxLength)
  }

  function patterned(pattern: string, text: string): string {
    const found = stringOfPattern(pattern, text)
    if (found === undefined) throw schemaRefused(`no string is known for the pattern ${pattern}`)
    return found
  }

  function nextIdentity({ initial }: ObjectList): string {
    const number = (numbered.get(initial) ?? 0) + 1
    numbered.set(initial, number)
    return `${initial}${number}`
  }

  function buildArray(schema: JsonSchema, place: Place): unknown[] {
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
    const { prefix, rest } = itemsOf(schema)
    const given = givenItems(rest, place, minItems)
    if (given && given.length >= minItems && given.length <= maxItems) return given

    const inside = flattened(root, rest)
    const ofObjects = prefix.length === 0 && typesOf(inside).includes('object')
    const planned = ofObjects && !place.list ? planFor(steps, schema, inside) : []
    const list = ofObjects ? { initial: initialOf(place.name), earlier: [] as string[], steps: planned } : place.list
    const usual = planned.length || prefix.length || (ofObjects ? 3 : 2)
    const count = Math.min(maxItems, Math.max(minItems, isThrifty(place) ? prefix.length : usual))
    const items: unknown[] = []
    for (let variant = 0; items.length < count && variant < count * 2; variant++) {
      const spot = { name: place.name, depth: place.depth + 1, variant, ...(list && { list }) }
      const item = build(prefix[items.length] ?? rest, spot)
      if (schema.uniqueItems && items.some((other) => isDeepStrictEqual(other, item))) continue
      items.push(item)
      const identity = ofObjects ? identityOf(item) : undefined
      if (identity !== undefined) list?.earlier.push(identity)
    }
    return items
  }

  /** Items of a list that follow from its object list: references, and the keywords of a step. */
  function givenItems(items: unknown, { name, list }: Place, minItems: number): unknown[] | undefined {
    const kind = nameKind(name)
    if (kind === 'reference' && list) return referencesIn(list, Math.max(1, minItems))
    const step = kind === 'keyword' ? stepOf(list) : undefined
    return step && namedIn(step.text, choicesOf(flattened(root, items)) ?? [])
  }

  function buildObject(schema: JsonSchema, place: Place): Record<string, unknown> {
    const { properties = {}, required = [], additionalProperties, minProperties = 0 } = schema
    const names = isThrifty(place) ? required : [...new Set([...required, ...Object.keys(properties)])]
    const invented = Array.from({ length: Math.max(0, minProperties - names.length) }, (_, at) => `property_${at + 1}`)
    return Object.fromEntries(
      [...names, ...invented].map((name) => [
        name,
        build(Object.hasOwn(properties, name) ? properties[name] : additionalProperties, {
          ...place,
          name,
          depth: place.depth + 1,
        }),
      ]),
    )
  }

  return build(root, { name: '', depth: 0, variant: 0 })
}

/** The middle of a range, the bound of a half-open one, or 1 without bounds. `variant` selects the following ones. */
function numberIn(schema: JsonSchema, integer: boolean, variant: number): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  const low = Math.max(minimum ?? -Infinity, exclusiveMinimum ?? -Infinity)
  const high = Math.min(maximum ?? Infinity, exclusiveMaximum ?? Infinity)
  const start = high - low <= WIDE ? (low + high) / 2 : Math.min(Math.max(1, low), high)
  const step = multipleOf ?? (integer ? 1 : null)
  if (step === null) return high - low <= WIDE ? fractionOf(low, high, variant) : aboveBound(start)
  const isInside = (value: number) =>
    value >= low && value <= high && value !== exclusiveMinimum && value !== exclusiveMaximum
  const first = Math.round(start / step)
  const around = Array.from({ length: 64 }, (_, at) => (at % 2 === 0 ? at / 2 : -(at + 1) / 2))
  const inside = around.map((offset) => (first + offset) * step).filter(isInside)
  return inside[variant % inside.length] ?? start

  function aboveBound(bound: number): number {
    if (bound === exclusiveMaximum) return bound - 0.5 - variant
    return bound === exclusiveMinimum ? bound + 0.5 + variant : bound
  }
}

/** A fraction of a narrow range, so that a list of scores between 0 and 1 contains different ones. */
const fractionOf = (low: number, high: number, variant: number): number =>
  low + ((high - low) * (1 + ((variant + 3) % 7))) / 8

const initialOf = (name: string): string => /[a-z]/i.exec(name)?.[0].toLowerCase() ?? 'i'
