import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser'
import { GazewayError } from '../errors.ts'
import { isObject } from '../text/json.ts'
import { type Format, invalidFile, SERVER_NAME, type Source, type TextFile, unnested } from './format.ts'

/** A part of a text. */
type Range = readonly [from: number, to: number]

/** TOML 1.0, as Codex uses it. */
export const toml: Format = {
  read: (source) => entryOf(source, parse(source)),
  hasServers: (source) => contentOf(parse(source))[source.servers] !== undefined,
  put(source, entry) {
    const program = parse(source)
    const { text } = source
    if (entryOf(source, program) === undefined) return checked(source, appended(source, text, entry))
    const [first, ...others] = piecesOf(program, source)
    if (first?.type !== 'TOMLTable') return checked(source, appended(source, toml.take(source, 'kept'), entry))
    const rest = without(
      text,
      others.map((piece) => linesOf(text, piece)),
    )
    const table = tableOf(source, entry).slice(0, -1).join(eolOf(text))
    return checked(source, rest.slice(0, first.range[0]) + table + rest.slice(first.range[1]))
  },
  take(source) {
    const program = parse(source)
    if (entryOf(source, program) === undefined) return source.text
    const pieces = piecesOf(program, source)
    if (pieces.length === 0) throw byHand(source)
    return without(
      source.text,
      pieces.map((piece) => linesOf(source.text, piece)),
    )
  },
}

/** Parses a file. @throws GazewayError `config_invalid` for a text that is not valid TOML, as with a table twice */
export function parse({ file, text }: TextFile): AST.TOMLProgram {
  try {
    return unnested(file, () => parseTOML(text, { tomlVersion: '1.0' }))
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    throw invalidFile(file, `line ${error.lineNumber}, column ${error.column + 1}: not valid TOML (${error.message})`)
  }
}

/** Content of a parsed file. */
export const contentOf = (program: AST.TOMLProgram) => getStaticTOMLValue(program) as Record<string, unknown>

function entryOf({ file, servers }: Source, program: AST.TOMLProgram): unknown {
  const held = contentOf(program)[servers]
  if (held === undefined) return undefined
  if (!isObject(held)) throw invalidFile(file, `${servers} is not a table`)
  return held[SERVER_NAME]
}

/** Tables and lines of the entry that contain nothing else. */
function piecesOf(program: AST.TOMLProgram, { servers }: Source): (AST.TOMLTable | AST.TOMLKeyValue)[] {
  const isOwn = (path: readonly (string | number)[]) => path[0] === servers && path[1] === SERVER_NAME
  return program.body[0].body.flatMap((node): (AST.TOMLTable | AST.TOMLKeyValue)[] => {
    if (node.type === 'TOMLKeyValue') return isOwn(namesOf(node)) ? [node] : []
    if (isOwn(node.resolvedKey)) return [node]
    return node.body.filter((line) => isOwn([...node.resolvedKey, ...namesOf(line)]))
  })
}

/** Names of a key, outermost first. */
export const namesOf = ({ key }: AST.TOMLKeyValue): string[] =>
  key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value))

/** Lines of a piece. Includes the blank line before a table when it is no longer needed. */
export function linesOf(text: string, { range: [start, end], type }: AST.TOMLTable | AST.TOMLKeyValue): Range {
  const from = text.lastIndexOf('\n', start - 1) + 1
  const lineEnd = text.indexOf('\n', end)
  const to = lineEnd === -1 ? text.length : lineEnd + 1
  const blank =
    type === 'TOMLTable' && /^(\r?\n|$)/.test(text.slice(to, to + 2))
      ? /(?<=\n)\r?\n$/.exec(text.slice(Math.max(0, from - 3), from))
      : null
  return [from - (blank?.[0].length ?? 0), to]
}

/** Text without some of its parts, given in order. */
export const without = (text: string, ranges: readonly Range[]): string =>
  ranges.toReversed().reduce((rest, [from, to]) => rest.slice(0, from) + rest.slice(to), text)

/** Appends a table after a blank line, where it belongs to nothing else. */
function appended(source: Source, text: string, entry: Record<string, unknown>): string {
  const eol = eolOf(text)
  const end = text === '' || text.endsWith('\n') ? '' : eol
  const blank = text === '' ? '' : eol
  return text + end + blank + tableOf(source, entry).join(eol)
}

/** Lines of the entry, the last one empty. */
const tableOf = ({ servers }: Source, entry: Record<string, unknown>): string[] => [
  `[${servers}.${SERVER_NAME}]`,
  ...Object.entries(entry).map(([name, value]) => `${keyOf(name)} = ${literal(value)}`),
  '',
]

/** Line end of a text. */
export const eolOf = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n'

/** A name as a key. */
export const keyOf = (name: string): string => (/^[\w-]+$/.test(name) ? name : literal(name))

/** A value as TOML writes it. */
export function literal(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (isObject(value))
    return `{ ${Object.entries(value)
      .map(([name, held]) => `${keyOf(name)} = ${literal(held)}`)
      .join(', ')} }`
  // JSON does not escape DEL, which TOML rejects.
  return JSON.stringify(value).replaceAll('\x7f', '\\u007F')
}

/**
 * Validates the result.
 *
 * @throws GazewayError `config_invalid` when no table can be added, because the servers are an inline table
 */
function checked(source: Source, text: string): string {
  try {
    parse({ ...source, text })
  } catch (error) {
    throw error instanceof GazewayError ? byHand(source) : error
  }
  return text
}

const byHand = ({ file, servers }: Source): GazewayError =>
  invalidFile(file, `${servers} is an inline table, to which no table can be added`)
