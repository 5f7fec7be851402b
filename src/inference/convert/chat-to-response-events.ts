import type OpenAI from 'openai'
import { errorBody, GazewayError } from '../../errors.ts'
import { cut } from '../../text/cut.ts'
import { incompleteReason } from '../finish-reason.ts'
import { reportedIn } from '../reported-error.ts'
import { type BegunResponse, endedItem } from './begun-response.ts'
import { callableTools } from './callable-tools.ts'
import { type Ending, endResponse, outputText, responseShell } from './chat-to-response.ts'
import { completionChunks } from './completion-chunks.ts'
import { createStreamedOutput } from './converted-output.ts'
import { type Loose, record, records } from './loose.ts'
import type { ChatCompletion, ResponseRequest } from './requests.ts'
import { itemId, type OutputItem } from './response-items.ts'
import type { Emit, ResponseEvent } from './streamed-items.ts'

export type { ResponseEvent } from './streamed-items.ts'

/** A piece of a streamed chat completion. */
export type ChatChunk = OpenAI.Chat.ChatCompletionChunk

/** Turns the chunks of a chat stream into the events of a streamed Response. Nothing comes after the last event. */
export interface ResponseEvents {
  /**
   * `response.created` and `response.in_progress`, or where a Response goes on, the end of items that are open in it. The
   * other three begin with them where this was not called.
   */
  start(): ResponseEvent[]
  /** The events of one chunk. A chunk that holds an error, or whose choice failed, ends the stream as `fail` does. */
  push(chunk: ChatChunk): ResponseEvent[]
  /** After the last chunk of a complete answer, which some upstreams give no finish reason: ends all items, then the Response. */
  finish(): ResponseEvent[]
  /** `error`, then `response.failed` with what had come. Open items get no `done`: a cut tool call must not be run. */
  fail(error: GazewayError): ResponseEvent[]
}

/**
 * The converter from a chat stream to a streamed Response, for the fallback: a state machine without input or output of
 * its own. Events are numbered from 0 and come in the documented order
 * (https://platform.openai.com/docs/api-reference/responses-streaming, https://www.openresponses.org/specification);
 * the last one holds the Response that `toResponse` makes of the whole completion.
 *
 * @param options.model what to call the model until the upstream names it
 * @param options.begun a Response that its provider broke off: the answer follows its items, in the same Response
 */
export function createResponseEvents(
  request: ResponseRequest,
  options: { model?: string; begun?: BegunResponse | null } = {},
): ResponseEvents {
  const { begun = null } = options
  const shell = responseShell(request, {
    id: begun?.id ?? itemId('resp'),
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
  const output = createStreamedOutput(emit, callableTools(request).called, earlier)

  /** The events that `work` emits, after the first two where they have not been given yet. */
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

  function read(chunk: Loose): void {
    if (typeof chunk.model === 'string' && chunk.model !== '') ending.model = chunk.model
    if (typeof chunk.service_tier === 'string') ending.serviceTier = chunk.service_tier
    if (chunk.usage) ending.usage = chunk.usage as OpenAI.CompletionUsage
    const choice = records(chunk.choices).find(({ index }) => (index ?? 0) === 0)
    if (!choice) return
    output.read(choice)
    const { finish_reason: reason } = choice
    // Some providers send an empty one with each chunk.
    if (typeof reason === 'string' && reason !== '') ending.finishReason = reason
  }

  function end(): void {
    const isCut = incompleteReason(ending.finishReason) !== null
    const response = endResponse(shell, { ...ending, output: output.close(isCut) })
    emit({ type: isCut ? 'response.incomplete' : 'response.completed', response })
    phase = 'over'
  }

  function breakOff(error: GazewayError): void {
    const { message, code, type, param } = errorBody(error)
    // OpenAI documents the fields on the event itself, Open Responses below `error`, which its clients throw on.
    const event = { type: 'error' as const, code, message, param, error: { type, code, message, param } }
    emit(event)
    const items = output.soFar()
    const reason = {
      code: error.status === 429 ? ('rate_limit_exceeded' as const) : ('server_error' as const),
      message,
    }
    const said = { model: ending.model ?? shell.model, output: items, output_text: outputText(items) }
    emit({ type: 'response.failed', response: { ...shell, ...said, status: 'failed', error: reason } })
    phase = 'over'
  }

  return {
    start: () => (phase === 'new' ? eventsOf(() => {}) : []),
    push: (chunk) =>
      eventsOf(() => {
        const error = record(chunk).error || reportedIn(chunk)
        if (error) breakOff(errorOfChunk(error))
        else read(record(chunk))
      }),
    finish: () => eventsOf(end),
    fail: (error) => eventsOf(() => breakOff(error)),
  }
}

/** The events of a completion that came in one piece. */
export function completionEvents(
  completion: ChatCompletion,
  request: ResponseRequest,
  begun: BegunResponse | null = null,
): ResponseEvent[] {
  const events = createResponseEvents(request, { model: completion.model, begun })
  const chunks = completionChunks(completion, { withUsage: true })
  return [...events.start(), ...chunks.flatMap((chunk) => events.push(chunk)), ...events.finish()]
}

/** The error that an upstream puts into its stream when it breaks off. */
function errorOfChunk(error: unknown): GazewayError {
  const { message } = record(error)
  const said = typeof message === 'string' ? message : JSON.stringify(error)
  return new GazewayError('upstream_error', `The upstream broke off its answer: ${cut(said, 0, 500)}`)
}
