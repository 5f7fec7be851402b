import type { TextFile } from '../assistants/format.ts'

/** Variables in a `.env` file. The rest of the text is unchanged, byte for byte. */

/** A variable with its value, which may have several lines within quotes. Otherwise a comment ends it. */
const VARIABLE =
  /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*("(?:\\.|[^"\\])*"|'[^']*'|`[^`]*`|[^#\r\n]*?(?=[ \t]+#)|[^#\r\n]*)/gm

/** Value of a variable. Undefined when it is not set. */
export function variableIn({ text }: TextFile, name: string): string | undefined {
  const raw = found(text, name)?.[2]?.trim()
  if (raw === undefined) return undefined
  const [, quote, value = ''] = /^(["'`])(.*)\1$/s.exec(raw) ?? []
  if (quote === undefined) return raw
  return quote === '"' ? value.replaceAll('\\n', '\n').replaceAll('\\r', '\r') : value
}

/** Adds a variable at the end, or replaces it. */
export function putVariable({ text }: TextFile, name: string, value: unknown): string {
  const line = `${name}=${quoted(String(value))}`
  const match = found(text, name)
  if (match !== undefined) return text.slice(0, match.index) + line + text.slice(match.index + match[0].length)
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n'
  return `${text}${text === '' || text.endsWith('\n') ? '' : eol}${line}${eol}`
}

/** Removes a variable with its line. */
export function takeVariable({ text }: TextFile, name: string): string {
  const match = found(text, name)
  if (match === undefined) return text
  const lineEnd = text.indexOf('\n', match.index + match[0].length)
  return text.slice(0, match.index) + (lineEnd === -1 ? '' : text.slice(lineEnd + 1))
}

/** A value in quotes. Only double ones change what is in them: they have `\\n` and `\\r`, but no `\\"`. */
function quoted(value: string): string {
  const single = value.includes("'") ? '`' : "'"
  const quote = /["\\]/.test(value) ? single : '"'
  return quote + value + quote
}

/** The last assignment of a variable, which is the one that counts. */
const found = (text: string, name: string): RegExpExecArray | undefined =>
  [...text.matchAll(VARIABLE)].findLast((match) => match[1] === name)
