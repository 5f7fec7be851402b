import { randomUUID } from 'node:crypto'
import { isObject } from '../../text/json.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { MALFORMED_CALL } from '../api/gemini-finish.ts'
import type { ChatChunk, ChatCompletion } from '../api/requests.ts'
import { read } from './answer-reader.ts'
import { callFault } from './complete-call.ts'
import { completionChunks } from './completion-chunks.ts'
import { type AnswerTerms, createGeminiAnswer, type GeminiAnswer } from './gemini-answer.ts'
import type { AnswerReasoning } from './gemini-thoughts.ts'
import { calledFunctions, offeredFunctions } from './gemini-tools.ts'

/** A reply of `generateContent`, or a piece of it in a stream: each has the parts that are new. */
export type GeminiReply = Fields

interface Options {
  model: string
  reasoning?: AnswerReasoning
}

/** Converts the chunks of a chat stream to the pieces of a streamed Gemini reply. */
export interface GeminiStream {
  /** Converts one chunk. Empty while there is nothing for the client. */
  push(chunk: ChatChunk): GeminiReply[]
  /** Fault of the calls of a complete answer, which nobody may run. Null without one. */
  fault(): string | null
  /**
   * Ends the reply, after the last chunk of a complete answer.
   *
   * @param fault of its calls
   */
  finish(fault?: string | null): GeminiReply
}

/**
 * Converts a chat stream to a streamed Gemini reply. A state machine without I/O.
 *
 * @param request with the names of Google's reference
 * @param options.model model name when the upstream names none
 * @param options.reasoning carries the reasoning state to the next turn. Shown alone without it
 */
export function createGeminiStream(request: Fields, options: Options): GeminiStream {
  const tools = offeredFunctions(request.tools)
  const terms: AnswerTerms = {
    nameOf: calledFunctions(request.tools),
    // Without tools, no model needs its reasoning back.
    reasoning: tools.length > 0 ? (options.reasoning ?? null) : null,
    showsThoughts: showsThoughts(request),
  }
  const answers = new Map<number, GeminiAnswer>()
  let responseId = ''
  let modelVersion = options.model
  let usage: unknown

  function answerAt(index: number): GeminiAnswer {
    const answer = answers.get(index) ?? createGeminiAnswer(terms)
    answers.set(index, answer)
    return answer
  }

  const reply = (candidates: Fields[]): GeminiReply => ({ candidates, modelVersion, responseId })

  return {
    push(given) {
      const chunk = given as unknown as Fields
      responseId ||= read.optionalText(chunk.id, 'id') || randomUUID()
      modelVersion = read.optionalText(chunk.model, 'model') || modelVersion
      if (chunk.usage) usage = chunk.usage
      const candidates = read.objects(chunk.choices, 'choices').flatMap((choice, position) => {
        const index = read.optionalNumber(choice.index, `choices.${position}.index`) ?? 0
        const parts = answerAt(index).read(choice, `choices.${position}.delta`)
        return parts.length === 0 ? [] : [{ content: { parts, role: 'model' }, index }]
      })
      return candidates.length === 0 ? [] : [reply(candidates)]
    },
    fault() {
      const faults = [...answers.values()].map((answer) => callFault(answer.calls(), answer.finish(), tools))
      return faults.find((fault) => fault !== null) ?? null
    },
    finish(fault = null) {
      if (answers.size === 0) answerAt(0)
      responseId ||= randomUUID()
      const candidates = [...answers].map(([index, answer]) => {
        const { parts, finishReason, ...more } = answer.end()
        const isBroken = fault !== null
        const last = parts.length === 0 || isBroken ? [{ text: '' }] : parts
        const ending = isBroken ? { finishReason: MALFORMED_CALL, finishMessage: fault } : { finishReason }
        return { content: { parts: last, role: 'model' }, ...ending, index, ...more }
      })
      return { ...reply(candidates), usageMetadata: toUsage(usage) }
    },
  }
}

/** Tells whether a client wants to see the thoughts of the model. */
const showsThoughts = ({ generationConfig }: Fields): boolean =>
  fieldsOrNone(fieldsOrNone(generationConfig).thinkingConfig).includeThoughts === true

/**
 * Converts a chat completion to the reply of the same request.
 *
 * @param completion one that did not fail (`reportedIn`)
 * @returns the fault of one whose calls nobody may run
 */
export function toGeminiReply(completion: ChatCompletion, request: Fields, options: Options): GeminiReply | string {
  const stream = createGeminiStream(request, options)
  const pieces = completionChunks(completion, { withUsage: true }).flatMap((chunk) => stream.push(chunk))
  const fault = stream.fault()
  if (fault !== null) return fault
  const last = stream.finish()
  const candidates = read.objects(last.candidates, 'candidates').map((candidate) => {
    const earlier = [...pieces, last].flatMap(partsOf(candidate.index))
    const said = earlier.filter((part) => part.text !== '')
    return { ...candidate, content: { parts: said.length === 0 ? [{ text: '' }] : said, role: 'model' } }
  })
  return { ...last, candidates }
}

const partsOf =
  (index: unknown) =>
  ({ candidates }: GeminiReply): Fields[] =>
    (candidates as Fields[])
      .filter((candidate) => candidate.index === index)
      .flatMap(({ content }) => fieldsOrNone(content).parts as Fields[])

/** Converts chat usage. Some providers count thoughts within the completion, and some in the total only. */
function toUsage(reported: unknown): Fields {
  if (!isObject(reported)) return {}
  const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details } = reported
  const prompt = count(prompt_tokens)
  const completion = count(completion_tokens)
  const cached = count(fieldsOrNone(prompt_tokens_details).cached_tokens)
  const output = Math.max(completion, count(reported.total_tokens) - prompt)
  const reasoning = count(fieldsOrNone(completion_tokens_details).reasoning_tokens)
  const thoughts = Math.min(output, Math.max(reasoning, output - completion))
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: output - thoughts,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    totalTokenCount: prompt + output,
  }
}

const count = (value: unknown): number => (Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0)
