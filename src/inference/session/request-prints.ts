import { createHash } from 'node:crypto'
import { isObject } from '../../text/json.ts'

/** Fingerprint of what a request asks, or of a tool result that it sends. */
export interface Print {
  /** The same for the same request, or the same tool call with the same result. */
  hash: string
  /** Name of the tool; null for a whole request. */
  tool: string | null
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Fields that make two requests to a model the same, of conversations, embeddings and rankings. Instructions are not
 * among them: some agents date and number theirs.
 */
const ASKED = [
  ...['messages', 'input', 'contents', 'prompt', 'previous_response_id'],
  ...['content', 'requests', 'query', 'documents'],
] as const

/**
 * Builds the prints of a request: of the whole, and of each tool result at its end, once where several are the same. A
 * request that asks in other fields, such as the file of a form, has none: nothing tells it from another one.
 */
export function printsOf(request: Fields): Print[] {
  const asked = ASKED.map((name) => request[name])
  if (asked.every((value) => value === undefined)) return []
  const turns = [request.messages, request.input, request.contents].find(Array.isArray) ?? []
  const whole = { hash: hashOf([request.model, ...asked]), tool: null }
  const prints = [whole, ...toolPrints(turns.filter(isObject))]
  return [...new Map(prints.map((print) => [print.hash, print])).values()]
}

function toolPrints(turns: readonly Fields[]): Print[] {
  const results = lastResults(turns)
  if (results.length === 0) return []
  const calls = new Map(turns.flatMap(partsOf).flatMap(callIn))
  return results.flatMap(({ id, result }) => {
    // A call that the request does not hold, as one that continues a stored answer, may be any.
    const call = calls.get(id)
    return call === undefined ? [] : [{ hash: hashOf([call.tool, call.input, result]), tool: call.tool }]
  })
}

interface Result {
  id: unknown
  result: unknown
}

/** Reads the tool results behind the last answer of the model. */
function lastResults(turns: readonly Fields[]): Result[] {
  const results: Result[] = []
  for (const turn of turns.toReversed()) {
    const found = partsOf(turn).flatMap(resultIn)
    if (found.length === 0) break
    results.push(...found)
  }
  return results
}

/** Parts of a turn: content blocks of a Message, parts of Gemini's contents, else the turn itself. */
function partsOf(turn: Fields): Fields[] {
  const inner = [turn.content, turn.parts].find(Array.isArray)
  return [turn, ...(inner ?? []).filter(isObject)]
}

/** Reads a result of Chat Completions, Messages, Responses or Gemini. */
function resultIn(part: Fields): Result[] {
  const { type, role, tool_call_id, tool_use_id, call_id, content, output, functionResponse } = part
  if (role === 'tool') return [{ id: tool_call_id, result: content }]
  if (type === 'tool_result') return [{ id: tool_use_id, result: content }]
  if (type === 'function_call_output' || type === 'custom_tool_call_output') return [{ id: call_id, result: output }]
  if (!isObject(functionResponse)) return []
  const { id, name, response } = functionResponse
  return [{ id: id ?? name, result: response }]
}

/** Reads the calls of a part, by the id that their results name. */
function callIn(part: Fields): Array<[id: unknown, call: { tool: string; input: unknown }]> {
  const { type, id, name, input, call_id, tool_calls, functionCall } = part
  if (type === 'tool_use') return [[id, { tool: String(name), input }]]
  if (type === 'function_call') return [[call_id, { tool: String(name), input: part.arguments }]]
  if (type === 'custom_tool_call') return [[call_id, { tool: String(name), input }]]
  if (isObject(functionCall))
    return [[functionCall.id ?? functionCall.name, { tool: String(functionCall.name), input: functionCall.args }]]
  if (!Array.isArray(tool_calls)) return []
  return tool_calls.filter(isObject).map((call) => {
    const made = isObject(call.function) ? call.function : {}
    return [call.id, { tool: String(made.name), input: made.arguments }]
  })
}

/** Marks for caches move from turn to turn, and change nothing that is asked. */
const hashOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value, (key, inner) => (key === 'cache_control' ? undefined : inner)))
    .digest('base64')
