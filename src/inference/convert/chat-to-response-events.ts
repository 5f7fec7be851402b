import type OpenAI from 'openai'
import { errorBody, GazewayError } from '../../errors.ts'
import { cut } from '../../text/cut.ts'
import { isObject } from '../../text/json.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { incompleteReason } from '../api/finish-reason.ts'
import { OWN_RESPONSE } from '../api/own-response.ts'
import { reportedIn } from '../api/reported-error.ts'
import type { ChatChunk, ChatCompletion, ResponseRequest } from '../api/requests.ts'
import { read as readAnswer } from './answer-reader.ts'
import { type BegunResponse, endedItem } from './begun-response.ts'
import { callableTools } from './callable-tools.ts'
import { firstChoice } from './chat-answer.ts'
import { type Ending, endResponse, outputText, type ResponseObject, responseShell } from './chat-to-response.ts'
import { callFault } from './complete-call.ts'
import { completionChunks } from './completion-chunks.ts'
import { createStreamedOutput } from './converted-output.ts'
import { itemId, type OutputItem } from './response-items.ts'
import type { Emit, ResponseEvent } from './streamed-items.ts'
import { type SealState, UNSEALED } from './thinking-blocks.ts'

export type { ResponseEvent } from './streamed-items.ts'

/**
 * Converts the chunks of a chat stream to the events of a streamed Response. Chunks after the last event are ignored.
 */
export interface ResponseEvents {
  /**
   * Emits `response.created` and `response.in_progress`; when a Response is continued, the ends of its open items
   * instead. The other methods emit them first when this was not called.
   */
  start(): ResponseEvent[]
  /** Converts one chunk. A chunk with an error, or with a failed choice, ends the stream like `fail`. */
  push(chunk: ChatChunk): ResponseEvent[]
  /** Fault of the calls of a complete answer, which nobody may run. Null without one. */
  fault(): string | null
  /**
   * Ends all items and the Response, after the last chunk of a complete answer. Some upstreams send no finish reason.
   */
  finish(): ResponseEvent[]
  /**
   * Emits `error`, then `response.failed` with the output so far. Open items get no `done`: a truncated tool call must
   * not be executed.
   */
  fail(error: GazewayError): ResponseEvent[]
}

/**
 * Converts a chat stream to a streamed Response, for the fallback. A state machine without I/O. Events are numbered
 * from 0 and come in the documented order (https://platform.openai.com/docs/api-reference/responses-streaming,
 * https://www.openresponses.org/specification). The last one contains the same Response as `toResponse` for the whole
 * completion.
 *
 * @param options.model model name until the upstream reports its own
 * @param options.seal seals the reasoning state, for the client to bring back
 * @param options.begun a Response that its provider cut off; the answer is appended to its items
 */
export function createResponseEvents(
  request: ResponseRequest,
  options: { model?: string; seal?: SealState; begun?: BegunResponse | null } = {},
): ResponseEvents {
  const { begun = null, seal = UNSEALED } = options
  const shell = responseShell(request, {
    id: begun?.id ?? itemId(OWN_RESPONSE),
    model: options.model ?? request.model ?? '',
    createdAt: begun?.createdAt ?? Math.floor(Date.now() / 1000),
  })
  const ending: Omit<Ending, 'output'> = { model: shell.model, finishReason: null, usage: null, serviceTier: null }
  let phase: 'new' | 'open' | 'over' = 'new'
  let number = begun?.sequence ?? 0
  let batch: ResponseEvent[] = []

  const emit: Emit = (event) => void batch.push({ ...event, sequence_number: number++ } as ResponseEvent)
  const earlier = (begun?.items ?? []).map(
    ({ item, ended }) => (ended ? item : endedItem(item)) as unknown as OutputItem,
  )
  const output = createStreamedOutput(emit, { called: callableTools(request).called, seal, earlier })

  /** Events that `work` emits, preceded by the first two when these are still due. */
  function eventsOf(work: () => void): ResponseEvent[] {
    if (phase === 'over') return []
    batch = []
    if (phase === 'new') {
      phase = 'open'
      if (begun) endEarlier(begun)
      else {
        emit({ type: 'response.created', response: shell })
        emit({ type: 'response.in_progress', response: shell })
      }
    }
    work()
    return batch
  }

  function endEarlier({ items }: BegunResponse): void {
    for (const [output_index, item] of earlier.entries())
      if (!items[output_index]?.ended) emit({ type: 'response.output_item.done', output_index, item })
  }

  function read(chunk: Fields): void {
    const choice = firstChoice(chunk)
    ending.model = readAnswer.optionalText(chunk.model, 'model') || ending.model
    ending.serviceTier = readAnswer.optionalText(chunk.service_tier, 'service_tier') ?? ending.serviceTier
    if (chunk.usage) ending.usage = chunk.usage as OpenAI.CompletionUsage
    if (!choice) return
    // Some providers send an empty one with each chunk.
    const reason = readAnswer.optionalText(choice.finish_reason, 'choices.0.finish_reason') || null
    output.read(choice, 'delta')
    ending.finishReason = reason ?? ending.finishReason
  }

  function end(): void {
    const isCut = incompleteReason(ending.finishReason) !== null
    const response = endResponse(shell, { ...ending, output: output.close(isCut) })
    emit({ type: isCut ? 'response.incomplete' : 'response.completed', response })
    phase = 'over'
  }

  function breakOff(error: GazewayError): void {
    emit(errorEvent(error))
    emit({
      type: 'response.failed',
      response: failedResponse({ ...shell, model: ending.model ?? shell.model }, output.soFar(), error),
    })
    phase = 'over'
  }

  return {
    start: () => (phase === 'new' ? eventsOf(() => {}) : []),
    push: (chunk) =>
      eventsOf(() => {
        const given = chunk as unknown as Fields
        const error = given.error || reportedIn(chunk)
        if (error) breakOff(errorOfChunk(error))
        else read(given)
      }),
    fault: () => callFault(output.calls(), ending.finishReason, request.tools),
    finish: () => eventsOf(end),
    fail: (error) => eventsOf(() => breakOff(error)),
  }
}

/** OpenAI puts the fields on the event, Open Responses below `error`, and its clients throw on that. */
function errorEvent(failure: GazewayError) {
  const { message, code, type, param } = errorBody(failure)
  return { type: 'error' as const, code, message, param, error: { type, code, message, param } }
}

function failedResponse(shell: ResponseObject, output: OutputItem[], failure: GazewayError): ResponseObject {
  const code = failure.status === 429 ? 'rate_limit_exceeded' : 'server_error'
  const error = { code, message: errorBody(failure).message } as const
  return { ...shell, output, output_text: outputText(output), status: 'failed', error }
}

/** Converts a completion that was not streamed to events. */
export function completionEvents(
  completion: ChatCompletion,
  request: ResponseRequest,
  options: { seal?: SealState; begun?: BegunResponse | null } = {},
): ResponseEvent[] {
  const events = createResponseEvents(request, { model: completion.model, ...options })
  const chunks = completionChunks(completion, { withUsage: true })
  return [...events.start(), ...chunks.flatMap((chunk) => events.push(chunk)), ...events.finish()]
}

/** Converts an error inside a stream, sent when the upstream aborts. */
function errorOfChunk(error: unknown): GazewayError {
  const message = isObject(error) || error instanceof Error ? error.message : error
  const text = typeof message === 'string' ? message : JSON.stringify(error)
  return new GazewayError('upstream_error', `The upstream aborted its answer: ${cut(text, 0, 500)}`)
}
