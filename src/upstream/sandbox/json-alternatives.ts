import { isDeepStrictEqual } from 'node:util'
import { choicesOf, type JsonSchema, type SchemaDocument, type TypeName, typesOf } from './json-schema.ts'

/**
 * The ways to satisfy the schema `node`, each as one flat schema without `$ref`, `allOf`, `anyOf` and `oneOf`, in the
 * order of the branches. A branch of `oneOf` excludes the others through `not`. Ways that contradict themselves, and
 * references that lead back to themselves, are left out.
 */
export function* alternatives(
  document: SchemaDocument,
  node: unknown,
  following: ReadonlySet<string> = new Set(),
): Generator<JsonSchema> {
  const { $ref, allOf = [], anyOf, oneOf, ...own } = document.read(node)
  if ($ref !== undefined && following.has($ref)) return
  const inner = $ref === undefined ? following : new Set([...following, $ref])

  const choices: unknown[][] = allOf.map((part) => [part])
  if ($ref !== undefined) choices.push([document.resolve($ref)])
  if (anyOf) choices.push(anyOf)
  if (oneOf) choices.push(oneOf.map((branch, at) => onlyBranch(branch, oneOf.toSpliced(at, 1))))

  function* combine(base: JsonSchema, from: number): Generator<JsonSchema> {
    const branches = choices[from]
    if (!branches) {
      yield base
      return
    }
    for (const branch of branches) {
      for (const flat of alternatives(document, branch, inner)) {
        const merged = merge(base, flat)
        if (merged) yield* combine(merged, from + 1)
      }
    }
  }
  yield* combine(own, 0)
}

function onlyBranch(branch: unknown, others: unknown[]): unknown {
  return others.length === 0 ? branch : { allOf: [branch, { not: { anyOf: others } }] }
}

/** The schema that is valid where both are; nothing when no value can be. */
function merge(a: JsonSchema, b: JsonSchema): JsonSchema | undefined {
  const types = both(typesOf(a), typesOf(b), commonTypes)
  const choices = both(choicesOf(a), choicesOf(b), (left, right) =>
    left.filter((value) => right.some((other) => isDeepStrictEqual(value, other))),
  )
  if (types?.length === 0 || choices?.length === 0) return undefined
  if (a.format !== undefined && b.format !== undefined && a.format !== b.format) return undefined

  const { const: _a, ...left } = a
  const { const: _b, ...right } = b
  return definedOnly({
    ...left,
    ...right,
    type: types,
    enum: choices,
    not: both(a.not, b.not, (x, y) => ({ anyOf: [x, y] })),
    minimum: both(a.minimum, b.minimum, Math.max),
    maximum: both(a.maximum, b.maximum, Math.min),
    exclusiveMinimum: both(a.exclusiveMinimum, b.exclusiveMinimum, Math.max),
    exclusiveMaximum: both(a.exclusiveMaximum, b.exclusiveMaximum, Math.min),
    multipleOf: both(a.multipleOf, b.multipleOf, commonMultiple),
    minLength: both(a.minLength, b.minLength, Math.max),
    maxLength: both(a.maxLength, b.maxLength, Math.min),
    minItems: both(a.minItems, b.minItems, Math.max),
    maxItems: both(a.maxItems, b.maxItems, Math.min),
    minProperties: both(a.minProperties, b.minProperties, Math.max),
    maxProperties: both(a.maxProperties, b.maxProperties, Math.min),
    pattern: both(a.pattern, b.pattern, (x, y) => `^(?=[^]*(?:${x}))(?=[^]*(?:${y}))`),
    uniqueItems: both(a.uniqueItems, b.uniqueItems, (x, y) => x || y),
    required: both(a.required, b.required, (x, y) => [...new Set([...x, ...y])]),
    properties: mergeProperties(a, b),
    patternProperties: both(a.patternProperties, b.patternProperties, mergeRecords),
    additionalProperties: bothSchemas(a.additionalProperties, b.additionalProperties),
    propertyNames: bothSchemas(a.propertyNames, b.propertyNames),
    items: both(a.items, b.items, (x, y) => (Array.isArray(x) || Array.isArray(y) ? x : { allOf: [x, y] })),
    contains: b.contains ?? a.contains,
  })
}

function both<T>(a: T | undefined, b: T | undefined, join: (a: T, b: T) => T): T | undefined {
  if (a === undefined) return b
  return b === undefined ? a : join(a, b)
}

function bothSchemas(a: unknown, b: unknown): unknown {
  return both(a, b, (x, y) => ({ allOf: [x, y] }))
}

function commonTypes(a: TypeName[], b: TypeName[]): TypeName[] {
  const narrowed = [...a, ...b].filter((type) => allows(a, type) && allows(b, type))
  return [...new Set(narrowed)]
}

function allows(types: TypeName[], type: TypeName): boolean {
  return types.includes(type) || (type === 'integer' && types.includes('number'))
}

function commonMultiple(a: number, b: number): number {
  if (a % b === 0) return a
  return b % a === 0 ? b : a * b
}

/** A property that only one side declares is, to the other, an additional one. */
function mergeProperties(a: JsonSchema, b: JsonSchema): Record<string, unknown> | undefined {
  if (!a.properties && !b.properties) return undefined
  const names = new Set([...Object.keys(a.properties ?? {}), ...Object.keys(b.properties ?? {})])
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      bothSchemas(a.properties?.[name] ?? a.additionalProperties, b.properties?.[name] ?? b.additionalProperties),
    ]),
  )
}

function mergeRecords(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.keys({ ...a, ...b }).map((name) => [name, bothSchemas(a[name], b[name])]))
}

function definedOnly(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))
}
