import matter from 'gray-matter'
import yaml from 'js-yaml'
import { FRONT_MATTER_BYTES } from './skill.ts'

/** Maximum number of consecutive blanks and line ends. gray-matter takes quadratic time in their number. */
const MAX_BLANKS = 200
/** Limits of a front matter's size and depth. With YAML anchors a few lines can expand to millions of values. */
const MAX_VALUES = 2000
const DEEPEST = 12

/** A SKILL.md: its front matter and its instructions. */
export interface FrontMatter {
  /** Values as YAML parses them: numbers, booleans, times. */
  data: Record<string, unknown>
  /** Values as text: `1.10`, which `data` has as 1.1. */
  written: Record<string, unknown>
  content: string
}

/** Allows YAML only: gray-matter would otherwise evaluate JavaScript after the opening line. */
const ENGINES = { javascript: refused, json: refused, coffee: refused, toml: refused }

/** YAML schema of texts, lists, maps and null; other scalars stay text. */
const AS_WRITTEN = new yaml.Schema({
  include: [yaml.DEFAULT_SAFE_SCHEMA],
  implicit: ['bool', 'int', 'float', 'timestamp'].map(
    (name) => new yaml.Type(`tag:yaml.org,2002:${name}`, { kind: 'scalar' }),
  ),
})
const loadAsWritten = (text: string) => yaml.safeLoad(text, { schema: AS_WRITTEN }) as object
const writtenIn = (skill: string) => matter(skill, { engines: { ...ENGINES, yaml: loadAsWritten } }).data

/**
 * Parses a SKILL.md. Values are JSON: times as text, and nothing without a JSON form.
 *
 * @throws Error with a message for the author of the skill
 */
export function parseFrontMatter(text: string): FrontMatter {
  const plain = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const opening = plain.slice(0, plain.indexOf('\n') >>> 0).trimEnd()
  if (opening !== '---') throw new Error('It does not begin with front matter: a line "---", YAML, and another "---".')
  const end = plain.slice(0, FRONT_MATTER_BYTES).search(/\n---[ \t]*(?:\n|$)/)
  if (end === -1) throw new Error('Its front matter does not end with a line "---" within 64 KiB.')
  if (new RegExp(`\\s{${MAX_BLANKS}}`).test(plain.slice(0, end)))
    throw new Error(`Its front matter has ${MAX_BLANKS} blanks or empty lines in a row.`)
  const { data, content } = matter(plain, { engines: ENGINES })
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new Error('Its front matter is not a list of "key: value" lines.')
  return { data: plainObject(data), written: plainObject(writtenIn(plain)), content: content.replace(/^\n+/, '') }
}

function plainObject(data: object): Record<string, unknown> {
  let values = 0
  let characters = 0
  return plainly(data, 0) as Record<string, unknown>

  function plainly(value: unknown, depth: number): unknown {
    values++
    if (values > MAX_VALUES || depth > DEEPEST) throw new Error('Its front matter has too many values.')
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
    if (Array.isArray(value)) return value.map((item) => plainly(item, depth + 1))
    if (typeof value === 'number') return Number.isFinite(value) ? value : null
    if (typeof value === 'boolean') return value
    if (typeof value === 'string') return counted(value)
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return null
    const entries = Object.entries(value).map(([key, inner]) => [counted(key), plainly(inner, depth + 1)] as const)
    return Object.fromEntries(entries)
  }
  function counted(text: string): string {
    characters += text.length
    if (characters > FRONT_MATTER_BYTES) throw new Error('Its front matter has too much text.')
    return text
  }
}

function refused(): never {
  throw new Error('Its front matter is not YAML.')
}
