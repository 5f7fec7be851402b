import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { streamText } from 'ai'
import OpenAI from 'openai'
import { orderFaults } from './order.ts'

/** API by which a client asks: Messages, Responses or chat completions. */
export type Path = 'M' | 'R' | 'C'

/** Answer as a client has read it. Nobody runs the calls of one that was cut off. */
export interface Said {
  text: string
  /** Name and input of each call. */
  calls: [name: string, input: unknown][]
  thinking: string
}

/** Answer or error that a client got. */
export interface Got {
  said: Said | null
  status: number
  /** Reason of the error. */
  reason: string
  /** Field of the error, or the changes of an answer. */
  field: string | null
  changed: string
  /** Faults in the order of the events. */
  faults: string[]
}

interface Door {
  url: string
  key: string
  headers: Record<string, string>
}

/** Asks with the official SDK of an API, and checks the order of a stream's events. */
export async function ask(path: Path, body: object, { url, key, headers }: Door): Promise<Got> {
  const isStream = (body as { stream?: boolean }).stream === true
  let heard: Promise<string> = Promise.resolve('')
  const got: Got = { said: null, status: 200, reason: '', field: null, changed: '', faults: [] }
  const listening = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const reply = await fetch(input, init)
    got.status = reply.status
    got.changed = reply.headers.get('x-gazeway-changed') ?? ''
    if (!isStream || reply.status >= 400 || reply.body === null) return reply
    const [one, other] = reply.body.tee()
    heard = new Response(one).text()
    return new Response(other, reply)
  }
  const options = { maxRetries: 0, fetch: listening as typeof fetch, defaultHeaders: headers }
  try {
    if (path === 'M') got.said = await askMessages(new Anthropic({ ...options, baseURL: url, apiKey: key }), body)
    else if (path === 'R')
      got.said = await askResponses(new OpenAI({ ...options, baseURL: `${url}/v1`, apiKey: key }), body)
    else got.said = await askChat(new OpenAI({ ...options, baseURL: `${url}/v1`, apiKey: key }), body)
  } catch (error) {
    const { message, error: told } = error as Error & {
      error?: { param?: string; message?: string; error?: { message?: string } }
    }
    got.reason = told?.error?.message ?? told?.message ?? message
    got.field = told?.param ?? (/^([\w.]+): .*No request was made/.exec(got.reason)?.[1] || null)
  }
  const events = eventsIn(await heard.catch(() => ''))
  if (events.length > 0) got.faults = orderFaults[path](events)
  return got
}

function eventsIn(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)))
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function askMessages(client: Anthropic, body: object): Promise<Said> {
  const { stream, ...rest } = body as { stream?: boolean }
  const message = stream
    ? await client.messages.stream(rest as never).finalMessage()
    : await client.messages.create(rest as never)
  const answer = message as Anthropic.Message
  const blocks = answer.content
  return {
    text: blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls:
      answer.stop_reason === 'max_tokens'
        ? []
        : blocks.flatMap((block): Said['calls'] => (block.type === 'tool_use' ? [[block.name, block.input]] : [])),
    thinking: blocks.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
  }
}

async function askResponses(client: OpenAI, body: object): Promise<Said> {
  const { stream, ...rest } = body as { stream?: boolean }
  const answer = stream
    ? await client.responses.stream(rest as never).finalResponse()
    : ((await client.responses.create(rest as never)) as OpenAI.Responses.Response)
  if (answer.status === 'failed') throw new Error(answer.error?.message ?? 'failed')
  return {
    text: answer.output_text,
    calls: answer.output.flatMap((item): Said['calls'] =>
      item.type === 'function_call' && answer.status === 'completed' ? [[item.name, parsed(item.arguments)]] : [],
    ),
    thinking: answer.output
      .flatMap((item) => (item.type === 'reasoning' ? item.summary.map(({ text }) => text) : []))
      .join(''),
  }
}

async function askChat(client: OpenAI, body: object): Promise<Said> {
  const { stream, ...rest } = body as { stream?: boolean }
  const answer = stream
    ? await client.chat.completions.stream(rest as never).finalChatCompletion()
    : ((await client.chat.completions.create(rest as never)) as OpenAI.ChatCompletion)
  const said = answer.choices[0]?.message as OpenAI.ChatCompletionMessage & { reasoning_content?: string }
  return {
    text: said.content ?? '',
    calls: (answer.choices[0]?.finish_reason === 'length' ? [] : (said.tool_calls ?? [])).flatMap(
      (call): Said['calls'] =>
        call.type === 'function' ? [[call.function.name, parsed(call.function.arguments)]] : [],
    ),
    thinking: said.reasoning_content ?? '',
  }
}

/** Asks with the `ai` SDK, by Responses or chat completions. @returns the text and calls that it reads, or null on an error */
export async function askAi(
  path: 'R' | 'C',
  model: string,
  { url, key }: Door,
): Promise<Pick<Said, 'text' | 'calls'> | null> {
  const provider = createOpenAI({ baseURL: `${url}/v1`, apiKey: key })
  const failed: unknown[] = []
  const result = streamText({
    model: path === 'R' ? provider.responses(model) : provider.chat(model),
    prompt: 'Hello',
    maxRetries: 0,
    onError: ({ error }) => void failed.push(error),
  })
  try {
    const [text, calls] = [await result.text, (await result.finishReason) === 'length' ? [] : await result.toolCalls]
    return failed.length > 0 ? null : { text, calls: calls.map(({ toolName, input }) => [toolName, input]) }
  } catch {
    return null
  }
}
