import { GazewayError } from '../../errors.ts'
import { termsOf } from './extract.ts'

/** A tool that the caller runs, in the form that chat completions and responses share. */
export interface FunctionTool {
  name: string
  description: string
  /** JSON Schema of its arguments. */
  parameters: Record<string, unknown>
}

/** Whether tools may or must be called, and which of them (null: any). */
export interface ToolChoice {
  mode: 'none' | 'auto' | 'required'
  names: string[] | null
}

/** Words that begin the names of many tools and tell none apart. */
const VERBS = new Set(['get', 'set', 'list', 'fetch', 'read', 'run', 'do', 'make', 'call', 'use', 'tool', 'function'])

/** Shared words, and their share of a description, from which a question is taken to ask for the tool. */
const MIN_SHARED_WORDS = 3
const MIN_SHARED_PART = 0.5

/**
 * The tool to call for `question`, or nothing for an answer in text. Where a call is required it is the tool that fits
 * best, the first of equals; otherwise one that the question names, or asks for in the words of its name or
 * description, and that has not answered yet.
 *
 * @param answered tools that have answered since the question
 * @throws GazewayError `invalid_request` when a call is required of a tool that is not there
 */
export function chooseTool(
  question: string,
  tools: FunctionTool[],
  choice: ToolChoice,
  answered: ReadonlySet<string>,
): FunctionTool | undefined {
  const missing = choice.names?.find((name) => !tools.some((tool) => tool.name === name))
  if (missing !== undefined) throw refused(`Tool choice '${missing}' is not among the tools of the request.`)
  if (choice.mode === 'none') return undefined

  const allowed = tools.filter(({ name }) => choice.names === null || choice.names.includes(name))
  const asked = { text: plain(question), terms: new Set(termsOf(question)) }
  const ranked = allowed.map((tool) => ({ tool, fit: fitOf(tool, asked) })).sort((a, b) => b.fit - a.fit)
  if (choice.mode === 'auto') return ranked.find(({ tool, fit }) => fit >= 1 && !answered.has(tool.name))?.tool
  if (ranked.length === 0) throw refused("Tool choice 'required' needs at least one function tool.")
  return ranked[0]?.tool
}

function refused(message: string): GazewayError {
  return new GazewayError('invalid_request', message, { param: 'tool_choice' })
}

/** How well a question fits a tool: 3 when it names it, 1 to 2 when it asks for it in its words, below 1 otherwise. */
function fitOf(tool: FunctionTool, asked: { text: string; terms: ReadonlySet<string> }): number {
  if (namesTool(asked.text, tool.name)) return 3
  const words = termsOf(spaced(tool.name)).filter((word) => !VERBS.has(word))
  const partOfName = shareOf(words, asked.terms)
  if (partOfName === 1) return 2

  const described = [...new Set(termsOf(tool.description))]
  const part = shareOf(described, asked.terms)
  const strong = described.length * part >= MIN_SHARED_WORDS && part >= MIN_SHARED_PART
  return strong ? 1 + part / 2 : (partOfName + part) / 4
}

function shareOf(words: string[], asked: ReadonlySet<string>): number {
  return words.length === 0 ? 0 : words.filter((word) => asked.has(word)).length / words.length
}

/** Whether the name itself is in the question, as written or with other separators (`get weather`, `get-weather`). */
function namesTool(question: string, name: string): boolean {
  return spaced(name).trim() !== '' && question.includes(plain(name))
}

/** The words of a text, in lower case with a space around each. */
function plain(text: string): string {
  return ` ${
    spaced(text)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.join(' ') ?? ''
  } `
}

/** A name with its words apart: `getWeather` and `get_weather` become `get Weather` and `get weather`. */
function spaced(name: string): string {
  return name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll('_', ' ')
}
