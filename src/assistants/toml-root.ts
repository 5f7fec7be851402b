import type { AST } from 'toml-eslint-parser'
import type { TextFile } from './format.ts'
import { contentOf, eolOf, keyOf, linesOf, literal, namesOf, parse, without } from './toml-format.ts'

/** Values before the first table of a TOML file. The rest of the text is unchanged, byte for byte. */

/** Reads a value. Undefined when there is none. @throws GazewayError `config_invalid` for an invalid text */
export const rootValue = (file: TextFile, name: string): unknown => contentOf(parse(file))[name]

/** Adds a value after the last one, or replaces it. @throws as {@link rootValue} */
export function putRoot(file: TextFile, name: string, value: unknown): string {
  const { text } = file
  const lines = rootLines(parse(file))
  const present = lines.find((line) => isNamed(line, name))
  if (present !== undefined) {
    const [start, end] = present.value.range
    return text.slice(0, start) + literal(value) + text.slice(end)
  }
  const eol = eolOf(text)
  const last = lines.at(-1)
  const at = last === undefined ? 0 : linesOf(text, last)[1]
  const before = text.slice(0, at)
  const lineEnd = before === '' || before.endsWith('\n') ? '' : eol
  const blank = last === undefined && text !== '' && !/^\r?\n/.test(text) ? eol : ''
  return `${before}${lineEnd}${keyOf(name)} = ${literal(value)}${eol}${blank}${text.slice(at)}`
}

/** Removes a value with its line. @throws as {@link rootValue} */
export function takeRoot(file: TextFile, name: string): string {
  const present = rootLines(parse(file)).find((line) => isNamed(line, name))
  return present === undefined ? file.text : without(file.text, [linesOf(file.text, present)])
}

const rootLines = (program: AST.TOMLProgram): AST.TOMLKeyValue[] =>
  program.body[0].body.filter((node) => node.type === 'TOMLKeyValue')

function isNamed(line: AST.TOMLKeyValue, name: string): boolean {
  const names = namesOf(line)
  return names.length === 1 && names[0] === name
}
