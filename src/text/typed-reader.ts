import { isObject } from './json.ts'

/** Fields of a JSON object whose types are not known yet. */
export type Fields = Record<string, unknown>

/**
 * Reads values of foreign data by their types. Undefined and null are an absent value. Every other value of a wrong
 * type throws, with the path of its field: it never becomes an empty one.
 */
export interface TypedReader {
  /** An object that must be present. */
  object(value: unknown, path: string): Fields
  /** Fields of an object; none when it is absent. */
  fields(value: unknown, path: string): Fields
  /** Entries of a list; none when it is absent. */
  list(value: unknown, path: string): unknown[]
  /** Entries of a list of objects; none when it is absent. */
  objects(value: unknown, path: string): Fields[]
  /** A text that must be present. */
  text(value: unknown, path: string): string
  optionalText(value: unknown, path: string): string | undefined
  optionalNumber(value: unknown, path: string): number | undefined
  optionalBoolean(value: unknown, path: string): boolean | undefined
}

/** Error for a value of a wrong type in foreign data. The message names the field, never its value. */
export class WrongTypeError extends TypeError {
  override readonly name = 'WrongTypeError'

  /**
   * @param path the field, dotted (`choices.0.message.content`)
   * @param expected the types that are read there (`text or a list of parts`)
   */
  constructor(path: string, expected: string) {
    super(`${path}: must be ${expected}`)
  }
}

/**
 * Creates a reader.
 *
 * @param wrong creates the error for the field at `path`, which is not `expected`
 * @example
 * const { text } = createTypedReader((path, expected) => new WrongTypeError(path, expected))
 * text(3, 'messages.0.content') // throws "messages.0.content: must be text"
 */
export function createTypedReader(wrong: (path: string, expected: string) => Error): TypedReader {
  const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null

  function object(value: unknown, path: string): Fields {
    // A number with more digits than JavaScript represents is an object of lossless-json.
    if (isObject(value) && !isExactNumber(value)) return value
    throw wrong(path, 'an object')
  }

  function list(value: unknown, path: string): unknown[] {
    if (isAbsent(value)) return []
    if (Array.isArray(value)) return value
    throw wrong(path, 'a list')
  }

  function text(value: unknown, path: string): string {
    if (typeof value === 'string') return value
    throw wrong(path, 'text')
  }

  return {
    object,
    fields: (value, path) => (isAbsent(value) ? {} : object(value, path)),
    list,
    objects: (value, path) => list(value, path).map((entry, index) => object(entry, `${path}.${index}`)),
    text,
    optionalText: (value, path) => (isAbsent(value) ? undefined : text(value, path)),
    optionalNumber(value, path) {
      if (isAbsent(value)) return undefined
      if (typeof value === 'number' || isExactNumber(value)) return value as number
      throw wrong(path, 'a number')
    },
    optionalBoolean(value, path) {
      if (isAbsent(value)) return undefined
      if (typeof value === 'boolean') return value
      throw wrong(path, 'true or false')
    },
  }
}

/** Recognizes lossless-json's type for a number that JavaScript cannot represent. */
export const isExactNumber = (value: unknown): value is { value: string } =>
  typeof value === 'object' && value !== null && 'isLosslessNumber' in value && value.constructor !== Object
