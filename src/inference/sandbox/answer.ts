import { createHash } from 'node:crypto'
import { isObject } from '../../text/json.ts'
import {
  checkResults,
  isUseful,
  questionOf,
  quotable,
  resultsSinceQuestion,
  type ToolResult,
  type Turn,
} from './conversation.ts'
import { clip, type Ranked, rankSentences, sentencesOf } from './extract.ts'
import { createInstance } from './json-instance.ts'
import { createJsonTexts } from './json-texts.ts'
import { type Citation, cite, type Search, type SearchTool, search } from './search-tools.ts'
import { stepsOf } from './steps.ts'
import { NO_MODEL } from './text-prefix.ts'
import { countTokens, cutToTokens } from './tokens.ts'
import { chooseTool, type FunctionTool, type ToolChoice } from './tool-choice.ts'

/** Maximum number of sentences in an answer, and the longest sentence. */
const SENTENCES = 3
const SENTENCE_LENGTH = 400
/** Longest tool result that is quoted in full. */
const RESULT_LENGTH = 1_000
/** Tokens that a chat format adds per message, as a rule of thumb. */
const TOKENS_PER_TURN = 4
/** A file as people write it: `README.md`, `src/index.ts`. */
const FILE = /(?<![\w./-])[\w./-]{0,200}\w{2}\.[A-Za-z]\w{0,7}(?!\w)/g

/** Format of the answer: free text, any JSON object, or JSON under a schema. */
type AnswerFormat = { type: 'text' } | { type: 'json_object' } | { type: 'json_schema'; schema: unknown }

/** A request to either endpoint, in their shared form. */
export interface Question {
  turns: Turn[]
  /** Field of the request that holds the turns, for errors. */
  param: 'messages' | 'input'
  tools: FunctionTool[]
  choice: ToolChoice
  searchTools: SearchTool[]
  format: AnswerFormat
  /** Stop sequences. The text ends before the first one. */
  stop: string[]
  /** Token limit of the answer. No limit when absent. */
  maxTokens: number | undefined
  /** Seed of the answer's ids: the same request gets the same ids. */
  seed: string
}

/** A call for the client to execute. */
interface ToolCall {
  id: string
  name: string
  /** Arguments as JSON. */
  arguments: string
}

/** Answer of the sandbox: text or a tool call. */
export interface Answer {
  text: string
  call: ToolCall | null
  searches: Search[]
  citations: Citation[]
  /** True when `maxTokens` truncated it. */
  cut: boolean
  usage: { input: number; output: number }
}

/**
 * Answers a question from the user's text and the results of tools, deterministically. In order of precedence:
 * 1. a tool call, when one is wanted and none has been useful yet ({@link chooseTool});
 * 2. JSON, when asked for ({@link createInstance});
 * 3. the results of tools;
 * 4. the sentences closest to the last user message ({@link rankSentences}), in their original order.
 *
 * @throws GazewayError `invalid_request` when a tool, a tool result or a schema cannot be honoured
 */
export function answer(question: Question): Answer {
  const { tools, choice, format } = question
  checkResults(question.turns, question.param)
  const turns = quotable(question.turns)
  const asked = questionOf(turns)
  const results = resultsSinceQuestion(turns)
  const input = inputTokens(question)
  const finish = (text: string) => withinLimit(text, question.maxTokens)

  const tool = chooseTool(asked, tools, choice, {
    answered: new Set(results.map(({ tool }) => tool)),
    isDone: results.some(isUseful),
  })
  if (tool) {
    const args = finish(JSON.stringify(argumentsFor(tool, asked)))
    const call = { id: `call_${idFrom(question.seed, tool.name)}`, name: tool.name, arguments: args.text }
    return { text: '', call, searches: [], citations: [], cut: args.cut, usage: { input, output: args.tokens } }
  }

  const searches = question.searchTools.map((name) => search(name, asked))
  const plain = stopped(
    format.type === 'text' ? textAnswer(turns, asked, results) : jsonAnswer(turns, asked, format),
    question.stop,
  )
  const cited = format.type === 'text' ? cite(plain, searches) : { text: plain, citations: [] }
  const { text, cut, tokens } = finish(cited.text)
  const citations = cited.citations.filter(({ end }) => end <= text.length)
  return { text, call: null, searches, citations, cut, usage: { input, output: tokens } }
}

/** Derives an id part from its inputs: 24 hexadecimal digits. */
export function idFrom(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)
}

function textAnswer(turns: Turn[], asked: string, results: ToolResult[]): string {
  if (results.length > 0) {
    return NO_MODEL + results.map(({ tool, text }) => `${tool} answered: ${quote(text, asked)}`).join('\n')
  }
  const best = closest(turns, asked).slice(0, SENTENCES)
  if (best.length === 0) return `${NO_MODEL}Nothing in the given text matches: ${clip(asked, SENTENCE_LENGTH)}`
  const inOrder = best.sort((a, b) => a.position - b.position)
  return NO_MODEL + inOrder.map(({ sentence }) => clip(sentence, SENTENCE_LENGTH)).join(' ')
}

/** Quotes a tool result: in full when short, otherwise its closest sentences, otherwise its beginning. */
function quote(result: string, asked: string): string {
  if (result.length <= RESULT_LENGTH) return result
  const best = rankSentences(asked, sentencesOf(result)).slice(0, SENTENCES)
  if (best.length === 0) return clip(result, RESULT_LENGTH)
  return best.map(({ sentence }) => clip(sentence, SENTENCE_LENGTH)).join(' ')
}

function jsonAnswer(turns: Turn[], asked: string, format: Exclude<AnswerFormat, { type: 'text' }>): string {
  const found = closest(turns, asked).map(({ sentence }) => sentence)
  const texts = createJsonTexts(found.length > 0 ? found : sentencesOf(asked), { marked: true })
  if (format.type === 'json_object') return JSON.stringify({ answer: texts.next('text'), upstream: 'sandbox' })
  return JSON.stringify(createInstance(format.schema, texts, stepsOf(asked)))
}

/**
 * Derives the arguments of a call from the question: its quotations first, then its files, then its names, then its text.
 * Optional arguments are omitted, since a guess at them often makes a call useless.
 */
function argumentsFor(tool: FunctionTool, asked: string): unknown {
  const quoted = [...asked.matchAll(/"([^"\n]+)"|`([^`\n]+)`|“([^“”\n]+)”/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  )
  const names = asked.match(/(?<=[\p{Ll}\p{N},] )\p{Lu}[\p{L}\p{N}]*(?: \p{Lu}[\p{L}\p{N}]*)*/gu) ?? []
  const files = asked.match(FILE) ?? []
  const sources = [quoted, files, names].find((found) => found.length > 0) ?? []
  const schema = { type: 'object', ...requiredOnly(tool.parameters) }
  return createInstance(schema, createJsonTexts([...sources, asked], { marked: false }))
}

/** Schema of an object without its optional properties, where it names required ones. */
function requiredOnly(schema: Record<string, unknown>): Record<string, unknown> {
  const { properties, required } = schema
  if (!isObject(properties) || !Array.isArray(required) || required.length === 0) return schema
  const named = Object.entries(properties).filter(([name]) => required.includes(name))
  return { ...schema, properties: Object.fromEntries(named) }
}

/**
 * Given sentences closest to the question, best first. A message asks by its questions, or else by its first sentence.
 * The rest of it can be quoted, as can the other messages and results.
 */
function closest(turns: Turn[], asked: string): Ranked[] {
  const own = sentencesOf(asked)
  const questions = own.filter((sentence) => /[?？]["')\]]?$/.test(sentence))
  const asks = questions.length > 0 ? questions : own.slice(0, 1)
  const position = turns.findLastIndex((turn) => turn.role === 'user')
  const around = turns.flatMap((turn, at) => (at === position || turn.role === 'call' ? [] : [turn.text]))
  const given = [...around.flatMap(sentencesOf), ...own.filter((sentence) => !asks.includes(sentence))]

  const best = rankSentences(asks.join(' '), given)
  return best.length > 0 ? best : rankSentences(asked, given)
}

/** Applies stop sequences, which never remove the first line. */
function stopped(text: string, stop: string[]): string {
  const from = text.startsWith(NO_MODEL) ? NO_MODEL.length : 0
  const ends = stop.map((sequence) => text.indexOf(sequence, from)).filter((at) => at !== -1)
  return text.slice(0, Math.min(text.length, ...ends))
}

function withinLimit(text: string, maxTokens: number | undefined): { text: string; tokens: number; cut: boolean } {
  const tokens = countTokens(text)
  if (maxTokens === undefined || tokens <= maxTokens) return { text, tokens, cut: false }
  return { text: cutToTokens(text, maxTokens), tokens: maxTokens, cut: true }
}

function inputTokens({ turns, tools, format }: Question): number {
  const texts = turns.map((turn) => (turn.role === 'call' ? turn.tool : turn.text))
  const extras = [...tools, ...(format.type === 'json_schema' ? [format.schema] : [])].map((extra) =>
    JSON.stringify(extra),
  )
  return [...texts, ...extras].reduce((sum, text) => sum + TOKENS_PER_TURN + countTokens(text), 0)
}
