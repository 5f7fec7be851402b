import { definitionsIn } from './definitions.ts'

/** Maximum number of lines of a definition without a body. */
const DEFINITION_LINES = 24
/** Maximum number of lines of a body. */
const BODY_LINES = 300
/** Maximum number of comment lines above a definition that belong to it. */
const COMMENT_LINES = 8
/** Definitions whose body has definitions of its own. */
const CONTAINER = /\b(?:class|interface|namespace|module|defmodule|trait|impl|object|enum|struct|package|extension)\b/
/** Lines as far out as the definition that belong to it, and those of them after which it goes on. */
const CLOSING = /^\s*(?:[)\]}{>]|end\b)/
const OPENING = /[{([<,:=]\s*$/
/** Lines as far out as the definition that do not end it: conditions of the C preprocessor and labels. */
const PASSED = /^(?:#|\w+:\s*$)/
const COMMENT = /^\s*(?:\/\/|\/\*|\*|#|--|;;|"""|@)/

/** A definition with its body and the comment above it, as lines from 1, both included. */
export interface Block {
  name: string
  from: number
  to: number
  /** False for constants and headings: they have no code. */
  hasBody: boolean
}

/** Finds the definitions of a text with their bodies, in line order. One may contain others. */
export function blocksIn(text: string, path: string, lines: readonly string[]): Block[] {
  const definitions = definitionsIn(text, path)
  return definitions.map(({ name, line }, i) => {
    const next = (definitions[i + 1]?.line ?? lines.length + 1) - 1
    const body = CONTAINER.test(lines[line - 1] ?? '') ? line : bodyEnd(lines, line)
    const hasBody = body > line
    const to = hasBody ? body : Math.max(line, Math.min(next, line + DEFINITION_LINES - 1))
    return { name, from: withComment(lines, line), to, hasBody }
  })
}

/** True for a line of a comment, or of an annotation. */
export const isComment = (line: string): boolean => COMMENT.test(line)

/** Last line of a definition's body, by its indentation; the line itself when there is none. */
function bodyEnd(lines: readonly string[], line: number): number {
  const indentation = indentationOf(lines[line - 1] ?? '')
  let last = line
  for (let at = line + 1; at <= Math.min(lines.length, line + BODY_LINES); at++) {
    const text = lines[at - 1] ?? ''
    if (text.trim() === '' || (PASSED.test(text) && last > line)) continue
    const isInside = indentationOf(text) > indentation
    if (!isInside && !CLOSING.test(text)) break
    last = at
    if (!isInside && !OPENING.test(text)) break
  }
  return last
}

const indentationOf = (text: string): number => text.search(/\S|$/)

/** Returns the first line of the comment directly above a line, or the line itself. */
function withComment(lines: readonly string[], line: number): number {
  let from = line
  while (from > 1 && line - from < COMMENT_LINES && isComment(lines[from - 2] ?? '')) from--
  return from
}
