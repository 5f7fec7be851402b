import type { TextFile } from '../assistants/format.ts'

/** Variables in a `.env` file. The rest of the text is unchanged, byte for byte. */

/** A variable with its value, which may have several lines within quotes. */
const VARIABLE = /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*("(?:\\.|[^"\\])*"|'[^']*'|[^\r\n]*)/gm

/** Value of a variable. Undefined when it is not set. */
export function variableIn({ text }: TextFile, name: string): string | undefined {
  const raw = found(text, name)?.[2]?.trim()
  return raw === undefined ? undefined : (/^(["'])(.*)\1$/s.exec(raw)?.[2] ?? raw)
}

/** Adds a variable at the end, or replaces it. */
export function putVariable({ text }: TextFile, name: string, value: unknown): string {
  const line = `${name}=${JSON.stringify(value)}`
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

/** The last assignment of a variable, which is the one that counts. */
const found = (text: string, name: string): RegExpExecArray | undefined =>
  [...text.matchAll(VARIABLE)].findLast((match) => match[1] === name)
