import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { streamText } from 'ai'
import OpenAI from 'openai'
import { request } from 'undici'
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

/** An answer that is being received. */
interface Receiving {
  got: Got
  isStream: boolean
  /** Text of its stream. */
  heard: Promise<string>
}

/** Header by which a request is found again; the clients are shared by all. */
const RECEIVING = 'x-receiving'
const receiving = new Map<string, Receiving>()
let asks = 0

async function listen(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const headers = new Headers(init?.headers)
  const one = receiving.get(headers.get(RECEIVING) ?? '')
  headers.delete(RECEIVING)
  const reply = await fetch(input, { ...init, headers })
  if (one === undefined) return reply
  one.got.status = reply.status
  one.got.changed = reply.headers.get('x-gazeway-changed') ?? ''
  if (!one.isStream || reply.status >= 400 || reply.body === null) return reply
  const [read, other] = reply.body.tee()
  one.heard = new Response(read).text()
  return new Response(other, reply)
}

interface Clients {
  anthropic: Anthropic
  openai: OpenAI
  ai: ReturnType<typeof createOpenAI>
}
let shared: (Clients & Pick<Door, 'url' | 'key'>) | null = null

/** The official SDKs for a key of a gateway, made once. */
function clientsOf({ url, key }: Pick<Door, 'url' | 'key'>): Clients {
  if (shared?.url === url && shared.key === key) return shared
  const options = { maxRetries: 0, fetch: listen as typeof fetch, apiKey: key }
  shared = {
    url,
    key,
    anthropic: new Anthropic({ ...options, baseURL: url }),
    openai: new OpenAI({ ...options, baseURL: `${url}/v1` }),
    ai: createOpenAI({ baseURL: `${url}/v1`, apiKey: key }),
  }
  return shared
}

/** Asks with the official SDK of an API, and checks the order of a stream's events. */
export async function ask(path: Path, body: object, door: Door): Promise<Got> {
  const { anthropic, openai } = clientsOf(door)
  const got: Got = { said: null, status: 200, reason: '', field: null, changed: '', faults: [] }
  const isStream = (body as { stream?: boolean }).stream === true
  const one: Receiving = { got, isStream, heard: Promise.resolve('') }
  const id = String(asks++)
  receiving.set(id, one)
  const options = { headers: { ...door.headers, [RECEIVING]: id } }
  try {
    if (path === 'M') got.said = await askMessages(anthropic, body, options)
    else if (path === 'R') got.said = await askResponses(openai, body, options)
    else got.said = await askChat(openai, body, options)
  } catch (error) {
    const { message, error: told } = error as Error & {
      error?: { param?: string; message?: string; error?: { message?: string } }
    }
    got.reason = told?.error?.message ?? told?.message ?? message
    got.field = fieldOf(got.reason, told?.param)
  }
  receiving.delete(id)
  const heard = await one.heard.catch(() => '')
  const events = eventsIn(heard)
  if (events.length > 0) got.faults = [...orderFaults[path](events), ...(path === 'M' ? nameFaults(heard) : [])]
  return got
}

function eventsIn(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)))
}

/** Events of a Message that clients overlook, since their name is none of the event's type. */
const nameFaults = (text: string): string[] =>
  text
    .split('\n\n')
    .filter((event) => event.includes('data:') && !/^event: (\w+)\ndata: \{(?:.*,)?"type":"\1"/.test(event))
    .map((event) => `no name: ${event}`)

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

interface Options {
  headers: Record<string, string>
}

async function askMessages(client: Anthropic, body: object, options: Options): Promise<Said> {
  const { stream, ...rest } = body as { stream?: boolean }
  const message = stream
    ? await client.messages.stream(rest as never, options).finalMessage()
    : await client.messages.create(rest as never, options)
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

async function askResponses(client: OpenAI, body: object, options: Options): Promise<Said> {
  const { stream, ...rest } = body as { stream?: boolean }
  const answer = stream
    ? await client.responses.stream(rest as never, options).finalResponse()
    : ((await client.responses.create(rest as never, options)) as OpenAI.Responses.Response)
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

async function askChat(client: OpenAI, body: object, options: Options): Promise<Said> {
  const { stream, ...rest } = body as { stream?: boolean }
  const answer = stream
    ? await client.chat.completions.stream(rest as never, options).finalChatCompletion()
    : ((await client.chat.completions.create(rest as never, options)) as OpenAI.ChatCompletion)
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

/** Door of each API. */
const PATHS: Readonly<Record<Path, string>> = { M: '/v1/messages', R: '/v1/responses', C: '/v1/chat/completions' }

/** Text of a whole answer, by the API of its client. */
// biome-ignore lint/suspicious/noExplicitAny: answers of three APIs
const TEXTS: Readonly<Record<Path, (answer: any) => unknown>> = {
  M: ({ content }) => content?.[0]?.text,
  R: ({ output }) => output?.[0]?.content?.[0]?.text,
  C: ({ choices }) => choices?.[0]?.message?.content,
}

/** Asks without an SDK, for an answer that is one text: what is tried is the request. */
export async function askPlain(path: Path, body: object, { url, key, headers }: Door): Promise<Got> {
  const sent = { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers }
  const reply = await request(`${url}${PATHS[path]}`, { method: 'POST', headers: sent, body: JSON.stringify(body) })
  const answer = (await reply.body.json()) as { error?: { message?: string; param?: string } }
  const text = reply.statusCode < 400 ? TEXTS[path](answer) : undefined
  const reason = answer.error?.message ?? ''
  return {
    said: typeof text === 'string' ? { text, calls: [], thinking: '' } : null,
    status: reply.statusCode,
    reason,
    field: fieldOf(reason, answer.error?.param),
    changed: String(reply.headers['x-gazeway-changed'] ?? ''),
    faults: [],
  }
}

const fieldOf = (reason: string, param: string | null | undefined): string | null =>
  param ?? (/^([\w.]+): .*No request was made/.exec(reason)?.[1] || null)

/** Asks with the `ai` SDK, by Responses or chat completions. @returns the text and calls that it reads, or null on an error */
export async function askAi(
  path: 'R' | 'C',
  model: string,
  { url, key }: Door,
): Promise<Pick<Said, 'text' | 'calls'> | null> {
  const { ai: provider } = clientsOf({ url, key })
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
