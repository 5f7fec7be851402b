import { isDeepStrictEqual } from 'node:util'
import { FORMATS } from './json-formats.ts'
import {
  choicesOf,
  itemsOf,
  type JsonSchema,
  propertySchemas,
  regExp,
  type SchemaDocument,
  type TypeName,
  typesOf,
} from './json-schema.ts'

/**
 * Whether `value` is valid under the schema `node` of `document` (JSON Schema validation vocabulary, 2020-12, with the
 * draft 7 form of tuples). Formats that are not in {@link FORMATS} say
 * nothing.
 */
export function conforms(document: SchemaDocument, node: unknown, value: unknown): boolean {
  const schema = document.read(node)
  const valid = (inner: unknown, part: unknown = value) => conforms(document, inner, part)

  const types = typesOf(schema)
  if (types && !types.some((type) => isOfType(type, value))) return false
  if (choicesOf(schema)?.some((choice) => isDeepStrictEqual(choice, value)) === false) return false
  if (schema.$ref !== undefined && !valid(document.resolve(schema.$ref))) return false
  if (schema.allOf?.every((inner) => valid(inner)) === false) return false
  if (schema.anyOf?.some((inner) => valid(inner)) === false) return false
  if (schema.oneOf && schema.oneOf.filter((inner) => valid(inner)).length !== 1) return false
  if (schema.not !== undefined && valid(schema.not)) return false

  if (typeof value === 'number') return numberConforms(schema, value)
  if (typeof value === 'string') return stringConforms(schema, value)
  if (Array.isArray(value)) return arrayConforms(schema, value, valid)
  if (typeof value === 'object' && value !== null) return objectConforms(schema, value, valid)
  return true
}

function isOfType(type: TypeName, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}

function numberConforms(schema: JsonSchema, value: number): boolean {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema
  if (value < minimum || value > maximum || value <= exclusiveMinimum || value >= exclusiveMaximum) return false
  return schema.multipleOf === undefined || Number.isInteger(value / schema.multipleOf)
}

function stringConforms(schema: JsonSchema, value: string): boolean {
  const length = [...value].length
  if (length < (schema.minLength ?? 0) || length > (schema.maxLength ?? Infinity)) return false
  if (FORMATS.get(schema.format ?? '')?.check(value) === false) return false
  return schema.pattern === undefined || regExp(schema.pattern).test(value)
}

type Valid = (node: unknown, value: unknown) => boolean

function arrayConforms(schema: JsonSchema, value: unknown[], valid: Valid): boolean {
  if (value.length < (schema.minItems ?? 0) || value.length > (schema.maxItems ?? Infinity)) return false
  const { prefix, rest } = itemsOf(schema)
  if (!value.every((item, index) => valid(index < prefix.length ? prefix[index] : rest, item))) return false
  if (schema.contains !== undefined && !value.some((item) => valid(schema.contains, item))) return false
  return (
    !schema.uniqueItems || value.every((item, at) => value.findIndex((other) => isDeepStrictEqual(item, other)) === at)
  )
}

function objectConforms(schema: JsonSchema, value: object, valid: Valid): boolean {
  const entries = Object.entries(value)
  if (entries.length < (schema.minProperties ?? 0) || entries.length > (schema.maxProperties ?? Infinity)) return false
  if (schema.required?.every((name) => Object.hasOwn(value, name)) === false) return false
  if (schema.propertyNames !== undefined && !entries.every(([name]) => valid(schema.propertyNames, name))) return false
  return entries.every(([name, part]) => propertySchemas(schema, name).every((node) => valid(node, part)))
}
