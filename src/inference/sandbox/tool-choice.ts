import { GazewayError } from '../../errors.ts'
import { termsOf } from './extract.ts'

/** A tool that the client executes, in the shared form of chat completions and responses. */
export interface FunctionTool {
  name: string
  description: string
  /** Arguments as a JSON Schema. */
  parameters: Record<string, unknown>
}

/** Calling mode, and the tools it applies to (null: any). */
export interface ToolChoice {
  mode: 'none' | 'auto' | 'required'
  names: string[] | null
}

/** Verbs at the start of many tool names, which tell no tools apart. */
const VERBS = new Set(['get', 'set', 'list', 'fetch', 'read', 'run', 'do', 'make', 'call', 'use', 'tool', 'function'])

/** Shared words, and their share of a description, from which a question counts as asking for the tool. */
const MIN_SHARED_WORDS = 3
const MIN_SHARED_PART = 0.5

/**
 * Chooses the tool to call for `question`; nothing for an answer in text. When a call is required, the best match wins,
 * the first among equals. Otherwise the question must name the tool or use the words of its name or description, and
 * neither this tool has answered yet nor any usefully.
 *
 * @param since.answered tools that have answered since the question
 * @param since.isDone true when one of them gave something to answer with
 * @throws GazewayError `invalid_request` when a required tool is missing
 */
export function chooseTool(
  question: string,
  tools: FunctionTool[],
  choice: ToolChoice,
  { answered, isDone }: { answered: ReadonlySet<string>; isDone: boolean },
): FunctionTool | undefined {
  const missing = choice.names?.find((name) => !tools.some((tool) => tool.name === name))
  if (missing !== undefined) throw refused(`Tool choice '${missing}' is not one of the request's tools.`)
  if (choice.mode === 'none') return undefined

  const allowed = tools.filter(({ name }) => choice.names === null || choice.names.includes(name))
  const asked = { text: plain(question), terms: new Set(termsOf(question)) }
  const ranked = allowed.map((tool) => ({ tool, fit: fitOf(tool, asked) })).sort((a, b) => b.fit - a.fit)
  if (choice.mode === 'auto' && isDone) return undefined
  if (choice.mode === 'auto') return ranked.find(({ tool, fit }) => fit >= 1 && !answered.has(tool.name))?.tool
  if (ranked.length === 0) throw refused("Tool choice 'required' needs at least one function tool.")
  return ranked[0]?.tool
}

function refused(message: string): GazewayError {
  return new GazewayError('invalid_request', message, { param: 'tool_choice' })
}

/** Scores a tool: 3 when the question names it, 1 to 2 when it uses the tool's words, below 1 otherwise. */
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

/** Tells whether the question contains the name, as written or with other separators (`get weather`, `get-weather`). */
function namesTool(question: string, name: string): boolean {
  return spaced(name).trim() !== '' && question.includes(plain(name))
}

/** Words of a text in lower case, with a space around each. */
function plain(text: string): string {
  return ` ${
    spaced(text)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.join(' ') ?? ''
  } `
}

/** Separates the words of a name: `getWeather` becomes `get Weather`, `get_weather` becomes `get weather`. */
function spaced(name: string): string {
  return name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll('_', ' ')
}
