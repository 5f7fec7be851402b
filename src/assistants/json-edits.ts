import type { Edit, Node } from 'jsonc-parser'
import { isObject } from '../text/json.ts'

/** A property of an object: its name, and its value. */
export type JsonProperty = Omit<Node, 'children'> & { children: [Node, Node] }
/** An object of JSON. */
export type JsonObject = Omit<Node, 'children'> & { children: JsonProperty[] }
/** Position of a part of a text. */
type Place = Pick<Node, 'offset' | 'length'>
/** An object with its properties, or a list with its items. */
export type JsonContainer = Place & { children: readonly Place[] }

/** A property or an item as text. */
interface Member {
  inline: string
  /** Over several lines, the first of which is indented already. */
  laidOut(indent: string): string
}

/** Layout of a file. */
export interface Style {
  eol: string
  /** One step of indentation. */
  unit: string
  /** True when everything is on one line. */
  isInline: boolean
}

/** Spaces, comments and line ends. */
const TRIVIA = /(?:\s+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y
/** Rest of a line: spaces and comments. */
const REST_OF_LINE = /(?:[ \t]+|\/\*[\s\S]*?\*\/)*(?:\/\/[^\r\n]*)?/y

/** Detects the layout of a text, for additions to it. */
export function styleOf(text: string, root: JsonObject | undefined): Style {
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n'
  const [first] = root?.children ?? []
  const isInline = root !== undefined && first !== undefined && !text.slice(root.offset, endOf(root)).includes('\n')
  return { eol, isInline, unit: (root && first && stepOf(text, root, first)) || '  ' }
}

/** Indentation of a property relative to its object. */
function stepOf(text: string, object: JsonObject, first: JsonProperty): string {
  const outer = lineIndent(text, object.offset)
  const inner = indentOf(text, first) ?? ''
  return inner.startsWith(outer) ? inner.slice(outer.length) : ''
}

/** Adds a property at the end of an object, formatted like its predecessors. Comments stay where they belong. */
export function addedProperty(text: string, object: JsonObject, name: string, value: unknown, style: Style): Edit[] {
  const label = `${JSON.stringify(name)}: `
  const member = {
    inline: label + inline(value),
    laidOut: (indent: string) => label + laidOut(value, indent, style),
  }
  return addedMember(text, object, member, style)
}

/** Adds an item at the end of a list in the same way. */
export const addedItem = (text: string, list: JsonContainer, value: unknown, style: Style): Edit[] =>
  addedMember(text, list, { inline: inline(value), laidOut: (indent) => laidOut(value, indent, style) }, style)

function addedMember(text: string, object: JsonContainer, member: Member, style: Style): Edit[] {
  const [first] = object.children
  const last = object.children.at(-1)
  if (first === undefined || last === undefined) return filled(text, object, member, style)
  const end = endOf(last)
  const comma = commaAfter(text, end)
  const base = comma === null ? end : comma + 1
  const separator: Edit[] = comma === null ? [{ offset: end, length: 0, content: ',' }] : []
  const closing = comma === null ? '' : ','
  const indent = indentOf(text, first)
  if (indent === null) {
    const content = ` ${member.inline}${closing}`
    return [...separator, { offset: base, length: 0, content }]
  }
  const lineEnd = matchEnd(REST_OF_LINE, text, base)
  const offset = /[\r\n]/.test(text[lineEnd] ?? '') ? lineEnd : base
  const content = `${style.eol}${indent}${member.laidOut(indent)}${closing}`
  return [...separator, { offset, length: 0, content }]
}

/** Replaces the value of a property. */
export function replacedValue(text: string, property: JsonProperty, value: unknown, style: Style): Edit[] {
  const [, { offset, length }] = property.children
  const indent = indentOf(text, property)
  return [{ offset, length, content: indent === null ? inline(value) : laidOut(value, indent, style) }]
}

/** Removes a property or an item, with its line and comma. */
export function cutMember(text: string, object: JsonContainer, property: Place): Edit[] {
  const { offset: start } = property
  const end = endOf(property)
  const index = object.children.indexOf(property)
  const before = object.children[index - 1]
  const comma = commaAfter(text, end)
  const from = lineStart(text, start)
  if (comma !== null && (before !== undefined || object.children.length > 1)) {
    if (from !== null) return [removed(from, end), removed(comma, comma + 1)]
    return [removed(start, comma + 1 + spacesAfter(text, comma + 1))]
  }
  if (before !== undefined) {
    const separator = commaAfter(text, endOf(before))
    const cut = removed(from ?? start - spacesBefore(text, start), end)
    return separator === null ? [cut] : [removed(separator, separator + 1), cut]
  }
  const [inner, innerEnd] = [object.offset + 1, endOf(object) - 1]
  const rest = text.slice(inner, start) + text.slice(comma === null ? end : comma + 1, innerEnd)
  if (rest.trim() === '') return [removed(inner, innerEnd)]
  const own = removed(from ?? start, end)
  return comma === null ? [own] : [own, removed(comma, comma + 1)]
}

/** Adds the first property or item. */
function filled(text: string, object: JsonContainer, member: Member, style: Style): Edit[] {
  const inner = text.slice(object.offset + 1, endOf(object) - 1)
  const offset = object.offset + 1
  if (style.isInline && inner.trim() === '') return [{ offset, length: inner.length, content: member.inline }]
  const outer = lineIndent(text, object.offset)
  const indent = outer + style.unit
  const line = `${style.eol}${indent}${member.laidOut(indent)}`
  const comments = inner.trimEnd()
  if (comments === '') return [{ offset, length: inner.length, content: `${line}${style.eol}${outer}` }]
  const content = inner.slice(comments.length).includes('\n') ? line : `${line}${style.eol}${outer}`
  return [{ offset: offset + comments.length, length: 0, content }]
}

const laidOut = (value: unknown, indent: string, { unit, eol }: Style): string =>
  JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indent}`)

/** Formats a value on one line, with conventional spaces. */
function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}: ${inline(field)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

const endOf = ({ offset, length }: Place): number => offset + length
const removed = (from: number, to: number): Edit => ({ offset: from, length: to - from, content: '' })

/** Position of a comma that follows, after spaces and comments only. Null without one. */
function commaAfter(text: string, from: number): number | null {
  const at = matchEnd(TRIVIA, text, from)
  return text[at] === ',' ? at : null
}

function matchEnd(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return from + (pattern.exec(text)?.[0].length ?? 0)
}

/** Indentation of a property that starts its line. Null for others. */
function indentOf(text: string, { offset }: Place): string | null {
  const spaces = spacesBefore(text, offset)
  return text[offset - spaces - 1] === '\n' ? text.slice(offset - spaces, offset) : null
}

/** Position of the line end before an offset, with only spaces in between. Null otherwise. */
function lineStart(text: string, offset: number): number | null {
  const at = offset - spacesBefore(text, offset) - 1
  if (text[at] !== '\n') return null
  return text[at - 1] === '\r' ? at - 1 : at
}

function lineIndent(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return text.slice(start, start + spacesAfter(text, start))
}

function spacesBefore(text: string, offset: number): number {
  let count = 0
  while (isSpace(text[offset - 1 - count])) count++
  return count
}

function spacesAfter(text: string, offset: number): number {
  let count = 0
  while (isSpace(text[offset + count])) count++
  return count
}

const isSpace = (character: string | undefined): boolean => character === ' ' || character === '\t'
