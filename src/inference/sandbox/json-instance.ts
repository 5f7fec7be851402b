import * as z from 'zod'
import { withinTime } from '../../wire/time-limit.ts'
import { clip } from './extract.ts'
import { identityAt, namedIn, nameKind, type ObjectList, planFor, referencesIn, stepOf } from './json-plan.ts'
import { choicesOf, type JsonSchema, resolved, schemaRefused, typesOf } from './json-schema.ts'
import { type JsonTexts, stringOfFormat, stringOfPattern } from './json-texts.ts'
import type { Step } from './steps.ts'

/** Nesting depth and number of values from which only required properties are generated, so that recursion ends. */
const THRIFTY_DEPTH = 6
const THRIFTY_VALUES = 1_000
/** Nesting depth and number of values from which the schema is rejected as endless. */
const MAX_DEPTH = 64
const MAX_VALUES = 5_000
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
 * Generates a value that is valid under a JSON Schema of OpenAI's subset, deterministically. zod checks the result.
 *
 * - Strings come from `texts`, by the kind of the property's name ({@link nameKind}).
 * - Numbers come from the middle of their range.
 * - A list of objects gets three items, other lists two.
 * - Optional properties are generated too, until the value grows deep.
 *
 * A list whose objects refer to each other is a plan. It gets one object per step, which refers to the preceding steps;
 * its keywords are those that the step names.
 *
 * @param steps steps that the text asks for, if any
 * @throws GazewayError `invalid_request` when the schema is malformed or endless, or when no valid value was found
 *   within 0.5 s
 */
export function createInstance(root: unknown, texts: JsonTexts, steps: readonly Step[] = []): unknown {
  const made = withinTime(TIME_LIMIT_MS, () => {
    const schema = parseSchema(root)
    const value = makeInstance(root, texts, steps)
    return { value, isValid: schema.safeParse(value).success }
  })
  if (made === undefined) throw schemaRefused(`no value was found within ${TIME_LIMIT_MS} ms`)
  if (!made.isValid) throw schemaRefused('no valid value was found')
  return made.value
}

function parseSchema(root: unknown): z.ZodType {
  try {
    return z.fromJSONSchema(root as Parameters<typeof z.fromJSONSchema>[0])
  } catch (cause) {
    throw schemaRefused(cause instanceof Error ? cause.message : String(cause), cause)
  }
}

function makeInstance(root: unknown, texts: JsonTexts, steps: readonly Step[]): unknown {
  let made = 0

  const isThrifty = ({ depth }: Place) => depth >= THRIFTY_DEPTH || made > THRIFTY_VALUES
  const prefersNull = (place: Place) =>
    isThrifty(place) || (nameKind(place.name) === 'reference' && place.list?.earlier === 0)

  function build(node: unknown, place: Place): unknown {
    made += 1
    if (made > MAX_VALUES || place.depth > MAX_DEPTH) throw schemaRefused('its values are endless or too large')
    const { anyOf, oneOf, ...schema } = resolved(root, node)
    const options = anyOf ?? oneOf
    if (options) return build({ ...schema, ...optionFor(options, place) }, { ...place, depth: place.depth + 1 })
    const choices = choicesOf(schema)?.filter((choice) => choice !== null)
    if (choices) return choices.length === 0 ? null : choices[place.variant % choices.length]
    return buildTyped(schema, place)
  }

  /** The first option that is not null, or null where it ends the value. */
  function optionFor(options: readonly JsonSchema[], place: Place): JsonSchema {
    const known = options.map((option) => resolved(root, option))
    return known.find((option) => typesOf(option).includes('null') === prefersNull(place)) ?? known[0] ?? {}
  }

  function buildTyped(schema: JsonSchema, place: Place): unknown {
    const types = typesOf(schema)
    const type = types.find((name) => (name === 'null') === prefersNull(place)) ?? types[0]
    if (type === 'null') return null
    if (type === 'boolean') return place.variant % 2 === 0
    if (type === 'string') return stringIn(schema, place, texts)
    if (type === 'array') return buildArray(schema, place)
    if (type === 'object') return buildObject(schema, place)
    return numberIn(schema, type === 'integer', place.variant)
  }

  function buildArray(schema: JsonSchema, place: Place): unknown[] {
    const { minItems = 0, maxItems = Infinity } = schema
    const item = resolved(root, schema.items)
    const given = givenItems(item, place)
    if (given && given.length >= minItems && given.length <= maxItems) return given

    const ofObjects = typesOf(item).includes('object')
    const planned = ofObjects && !place.list ? planFor(steps, schema, item) : []
    const initial = /[a-z]/i.exec(place.name)?.[0].toLowerCase() ?? 'i'
    const list = ofObjects ? { initial, earlier: 0, steps: planned } : place.list
    const usual = isThrifty(place) ? 0 : planned.length || (ofObjects ? 3 : 2)
    const items: unknown[] = []
    while (items.length < Math.min(maxItems, Math.max(minItems, usual))) {
      const variant = items.length
      if (ofObjects && list) list.earlier = variant
      items.push(build(schema.items, { name: place.name, depth: place.depth + 1, variant, ...(list && { list }) }))
    }
    return items
  }

  function buildObject({ properties = {}, required = [] }: JsonSchema, place: Place): Record<string, unknown> {
    const names = isThrifty(place) ? required : new Set([...required, ...Object.keys(properties)])
    return Object.fromEntries(
      Array.from(names, (name) => {
        const property = Object.hasOwn(properties, name) ? properties[name] : undefined
        return [name, build(property, { ...place, name, depth: place.depth + 1 })]
      }),
    )
  }

  return build(root, { name: '', depth: 0, variant: 0 })
}

function stringIn(schema: JsonSchema, { name, list, variant }: Place, texts: JsonTexts): string {
  const { format, pattern, maxLength = Infinity } = schema
  const formatted = stringOfFormat(format, variant)
  if (formatted !== undefined) return formatted
  if (pattern !== undefined) return stringOfPattern(pattern, texts.nextKeyword()) ?? ''
  return clip(textFor(name, list, maxLength, texts), maxLength)
}

function textFor(name: string, list: ObjectList | undefined, maxLength: number, texts: JsonTexts): string {
  const kind = nameKind(name)
  if (kind === 'keyword') return texts.nextKeyword()
  if (list && kind === 'identity') return identityAt(list, list.earlier)
  const [reference] = list && kind === 'reference' ? referencesIn(list) : []
  return reference ?? texts.next(kind === 'heading' ? kind : 'text', maxLength, stepOf(list)?.text)
}

/** Items of a list that follow from its object list: references, and the keywords of a step. */
function givenItems(item: JsonSchema, { name, list }: Place): unknown[] | undefined {
  const kind = nameKind(name)
  if (kind === 'reference' && list && isText(item)) return referencesIn(list)
  const step = kind === 'keyword' ? stepOf(list) : undefined
  return step && namedIn(step.text, choicesOf(item) ?? [])
}

/** True for strings without bounds. */
const isText = (schema: JsonSchema): boolean =>
  typesOf(schema).includes('string') && Object.keys(schema).every((key) => /^(type|title|description)$/.test(key))

/** The middle of a range, the low end of a wide one, or 1 without bounds. `variant` selects the following ones. */
function numberIn(schema: JsonSchema, integer: boolean, variant: number): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  const low = Math.max(minimum ?? -Infinity, exclusiveMinimum ?? -Infinity)
  const high = Math.min(maximum ?? Infinity, exclusiveMaximum ?? Infinity)
  const isWide = !(high - low <= WIDE)
  const step = multipleOf ?? (integer ? 1 : 0)
  const apart = step || (isWide ? 1 : (high - low) / 8)
  const start = isWide ? Math.min(Math.max(1, low + apart), high - apart) : (low + high) / 2
  const first = step ? Math.round(start / step) * step : start
  const wanted = first + variant * apart
  return wanted < high ? wanted : first
}
