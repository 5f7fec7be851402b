import {
  applyEdits,
  getNodeValue,
  type ParseError,
  type ParseOptions,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { GazewayError } from '../errors.ts'
import { isObject } from '../text/json.ts'
import { type Format, invalidFile, SERVER_NAME, type Source, unnested } from './format.ts'
import { addedProperty, cutProperty, type JsonObject, type JsonProperty, replacedValue, styleOf } from './json-edits.ts'

/** JSON of RFC 8259. */
export const json = createJsonFormat({ disallowComments: true })

/** JSON with comments and trailing commas, as editors accept it. */
export const jsonc = createJsonFormat({ allowTrailingComma: true })

function createJsonFormat(options: ParseOptions): Format {
  /** Root object. Undefined for a text that is empty or consists of comments. */
  function rootOf({ file, text }: Source): JsonObject | undefined {
    const errors: ParseError[] = []
    const root = unnested(file, () => parseTree(text, errors, { ...options, allowEmptyContent: true }))
    const [fault] = errors
    if (fault !== undefined)
      throw invalidFile(file, `${placeOf(text, fault.offset)}: not valid JSON (${printParseErrorCode(fault.error)})`)
    return root === undefined ? undefined : asObject(root, file, 'The file')
  }

  function found(source: Source) {
    const root = rootOf(source)
    const servers = root && propertyOf(root, source.servers, source.file)
    const container = servers && asObject(servers.children[1], source.file, source.servers)
    const entry = container && propertyOf(container, SERVER_NAME, source.file)
    return { root, servers, container, entry }
  }

  return {
    read(source) {
      const { entry } = found(source)
      return entry && getNodeValue(entry.children[1])
    },
    hasServers: (source) => found(source).servers !== undefined,
    put(source, entry) {
      const { text, servers } = source
      const { root, container, entry: present } = found(source)
      const style = styleOf(text, root)
      if (root === undefined) {
        const document = JSON.stringify({ [servers]: { [SERVER_NAME]: entry } }, null, style.unit)
        const before = text === '' || text.endsWith(style.eol) ? text : text + style.eol
        return `${before}${document.replaceAll('\n', style.eol)}${style.eol}`
      }
      if (container === undefined)
        return applyEdits(text, addedProperty(text, root, servers, { [SERVER_NAME]: entry }, style))
      if (present === undefined) return applyEdits(text, addedProperty(text, container, SERVER_NAME, entry, style))
      return applyEdits(text, replacedValue(text, present, entry, style))
    },
    take(source, emptied) {
      const { text } = source
      const { root, servers, container, entry } = found(source)
      if (!root || !servers || !container || !entry) return text
      const left = applyEdits(text, cutProperty(text, container, entry))
      if (emptied === 'kept' || container.children.length > 1 || hasComment(text, container, entry)) return left
      return applyEdits(text, cutProperty(text, root, servers))
    },
  }
}

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
