import {
  applyEdits,
  getNodeValue,
  type Node,
  type ParseError,
  type ParseOptions,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { GazewayError } from '../errors.ts'
import { isObject } from '../text/json.ts'
import { type Format, invalidFile, SERVER_NAME, type TextFile, unnested } from './format.ts'
import {
  addedItem,
  addedProperty,
  cutMember,
  type JsonObject,
  type JsonProperty,
  replacedValue,
  styleOf,
} from './json-edits.ts'

/** Names of nested properties, outermost first. */
export type JsonPath = readonly string[]

/** A format whose nested properties are read and edited by path. */
export interface JsonFormat extends Format {
  /** Reads a value. Undefined when there is none. @throws as `read` */
  valueAt(file: TextFile, path: JsonPath): unknown
  /** Counts the properties of a path that exist, from the outermost. @throws as `read` */
  depthOf(file: TextFile, path: JsonPath): number
  /** Adds or replaces a value, with the objects that lead to it. @throws as `read` */
  putAt(file: TextFile, path: JsonPath, value: unknown): string
  /**
   * Removes a value, and the objects that are empty without it.
   *
   * @param kept number of outermost objects that stay even when they are empty
   * @throws as `read`
   */
  takeAt(file: TextFile, path: JsonPath, kept: number): string
  /** Tells whether a list has an item. @throws as `read` */
  hasItem(file: TextFile, path: JsonPath, value: unknown): boolean
  /** Adds an item at the end of a list, which may be absent. @throws as `read` */
  putItem(file: TextFile, path: JsonPath, value: unknown): string
  /** Removes an item, and what is empty without it beyond the outermost `kept` names. @throws as `read` */
  takeItem(file: TextFile, path: JsonPath, value: unknown, kept: number): string
}

/** JSON of RFC 8259. */
export const json = createJsonFormat({ disallowComments: true })

/** JSON with comments and trailing commas, as editors accept it. */
export const jsonc = createJsonFormat({ allowTrailingComma: true })

/** The part of a path that exists: objects, and the property that each holds. */
interface Located {
  root: JsonObject | undefined
  /** One for each name of the path that was looked for. */
  objects: JsonObject[]
  /** Those that were found. */
  properties: JsonProperty[]
}

/** Finds paths in texts of one dialect. */
function createLocate(options: ParseOptions): (source: TextFile, path: JsonPath) => Located {
  /** Root object. Undefined for a text that is empty or consists of comments. */
  function rootOf({ file, text }: TextFile): JsonObject | undefined {
    const errors: ParseError[] = []
    const root = unnested(file, () => parseTree(text, errors, { ...options, allowEmptyContent: true }))
    const [fault] = errors
    if (fault !== undefined)
      throw invalidFile(file, `${placeOf(text, fault.offset)}: not valid JSON (${printParseErrorCode(fault.error)})`)
    return root === undefined ? undefined : asObject(root, file, 'The file')
  }

  return (source, path) => {
    const root = rootOf(source)
    const located: Located = { root, objects: [], properties: [] }
    let object = root
    for (const [index, name] of path.entries()) {
      if (object === undefined) return located
      located.objects.push(object)
      const property = propertyOf(object, name, source.file)
      if (property === undefined) return located
      located.properties.push(property)
      if (index < path.length - 1) object = asObject(property.children[1], source.file, name)
    }
    return located
  }
}

function createJsonFormat(options: ParseOptions): JsonFormat {
  const locate = createLocate(options)

  function valueAt(file: TextFile, path: JsonPath): unknown {
    const property = locate(file, path).properties[path.length - 1]
    return property && getNodeValue(property.children[1])
  }

  function putAt(file: TextFile, path: JsonPath, value: unknown): string {
    const { text } = file
    const { root, objects, properties } = locate(file, path)
    const style = styleOf(text, root)
    if (root === undefined) {
      const document = JSON.stringify(nested(path, value), null, style.unit)
      const before = text === '' || text.endsWith(style.eol) ? text : text + style.eol
      return `${before}${document.replaceAll('\n', style.eol)}${style.eol}`
    }
    const present = properties[path.length - 1]
    if (present !== undefined) return applyEdits(text, replacedValue(text, present, value, style))
    const [name = '', ...inner] = path.slice(properties.length)
    const object = objects[properties.length] ?? root
    return applyEdits(text, addedProperty(text, object, name, nested(inner, value), style))
  }

  function takeAt(file: TextFile, path: JsonPath, kept: number): string {
    const { text } = file
    const { objects, properties } = locate(file, path)
    if (properties.length < path.length) return text
    let level = path.length - 1
    while (level > kept && isEmptied(text, objects[level], properties[level])) level--
    const [object, property] = [objects[level], properties[level]]
    return object && property ? applyEdits(text, cutMember(text, object, property)) : text
  }

  /** Items of a list, absent or empty as none. @throws GazewayError `config_invalid` for anything but a list */
  function listAt(file: TextFile, path: JsonPath): (Node & { children: Node[] }) | undefined {
    const list = locate(file, path).properties[path.length - 1]?.children[1]
    if (list === undefined) return undefined
    if (list.type !== 'array') throw invalidFile(file.file, `${path.join('.')} is not a list`)
    return { ...list, children: list.children ?? [] }
  }

  return {
    hasItem: (file, path, value) => itemIn(listAt(file, path), value) !== undefined,
    putItem(file, path, value) {
      const list = listAt(file, path)
      if (list === undefined) return putAt(file, path, [value])
      return applyEdits(file.text, addedItem(file.text, list, value, styleOf(file.text, locate(file, path).root)))
    },
    takeItem(file, path, value, kept) {
      const list = listAt(file, path)
      const item = itemIn(list, value)
      if (list === undefined || item === undefined) return file.text
      if (list.children.length === 1 && kept < path.length) return takeAt(file, path, kept)
      return applyEdits(file.text, cutMember(file.text, list, item))
    },
    valueAt,
    depthOf: (file, path) => locate(file, path).properties.length,
    putAt,
    takeAt,
    read: (source) => valueAt(source, [source.servers, SERVER_NAME]),
    hasServers: (source) => locate(source, [source.servers]).properties.length > 0,
    put: (source, entry) => putAt(source, [source.servers, SERVER_NAME], entry),
    take: (source, emptied) => takeAt(source, [source.servers, SERVER_NAME], emptied === 'kept' ? 1 : 0),
  }
}

const itemIn = (list: { children: Node[] } | undefined, value: unknown) =>
  list?.children.find((item) => isSame(getNodeValue(item), value))

/** Wraps a value in objects, one for each name. */
const nested = (path: JsonPath, value: unknown): unknown =>
  path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)

function asObject(node: { type: string } | undefined, file: string, name: string): JsonObject {
  if (node?.type === 'object') return { children: [], ...node } as unknown as JsonObject
  throw invalidFile(file, `${name} is not an object`)
}

/**
 * Finds a property.
 *
 * @throws GazewayError `conflict` for a duplicate name: readers differ in which one counts
 */
function propertyOf(object: JsonObject, name: string, file: string): JsonProperty | undefined {
  const properties = object.children.filter(({ children: [key] }) => key.value === name)
  if (properties.length < 2) return properties[0]
  throw new GazewayError(
    'conflict',
    `${file}: "${name}" occurs ${properties.length} times; keep one of them. Nothing was changed.`,
  )
}

/** Tells whether an object holds nothing but one property, not even a comment. */
const isEmptied = (text: string, object: JsonObject | undefined, property: JsonProperty | undefined): boolean =>
  object?.children.length === 1 && property !== undefined && !hasComment(text, object, property)

/** Tells whether an object contains comments beside its one property. */
function hasComment(text: string, object: JsonObject, { offset, length }: JsonProperty): boolean {
  const before = text.slice(object.offset + 1, offset)
  const after = text.slice(offset + length, object.offset + object.length - 1)
  return before.trim() !== '' || !/^[\s,]*$/.test(after)
}

function placeOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}

/** Tells whether two JSON values are equal. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => isSame(item, b[i]))
  if (!isObject(a) || !isObject(b)) return a === b
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => isSame(a[name], b[name]))
}
