import * as z from 'zod'
import { GEMINI_METHODS } from '../../src/inference/api/gemini-endpoints.ts'
import { VERBATIM_PATHS, type VerbatimPath } from '../../src/inference/api/verbatim-paths.ts'
import { MemoryList } from '../../src/memory/memory.ts'
import { memoryRecall } from '../../tools/memory-recall.ts'
import { memoryStore } from '../../tools/memory-store.ts'
import type { Route } from '../platform/define-route.ts'
import { type DescribedRoute, type OpenApi, openApi } from '../platform/openapi.ts'
import { ChatRequest } from './routes/chat-completions-route.ts'
import { CountRequest, MessagesRequest } from './routes/messages-route.ts'
import { ResponsesRequest } from './routes/responses-route.ts'

const TAGS: Readonly<Record<string, string>> = {
  Models: 'Calls of models, in the formats of OpenAI, Anthropic and Google.',
  'Passed on': 'Paths whose requests go to an upstream unchanged.',
  Memory: 'Memories that a key’s assistants share.',
  'Coding sessions': 'Sessions of coding agents: costs, limits, stops.',
  Health: 'State of the service.',
}

/** Reply in the format of a provider's API, which that API describes. */
const Provided = z.looseObject({}).describe('As the API of the provider has it.')

type Rest = Partial<DescribedRoute> & Pick<DescribedRoute, 'operation' | 'summary'>

function endpoint(at: string, group: string, rest: Rest): DescribedRoute {
  const [method = '', path = ''] = at.split(' ')
  return { method, path, group, access: 'inference', reply: Provided, ...rest }
}

const STREAMED = 'With `stream`, the reply is server-sent events.'

const MODEL_CALLS: readonly DescribedRoute[] = [
  endpoint('POST /v1/chat/completions', 'Models', {
    operation: 'createChatCompletion',
    summary: 'Complete a chat, as OpenAI’s API',
    description: STREAMED,
    body: ChatRequest,
  }),
  endpoint('POST /v1/responses', 'Models', {
    operation: 'createResponse',
    summary: 'Create a response, as OpenAI’s API',
    description: STREAMED,
    body: ResponsesRequest,
  }),
  endpoint('POST /v1/messages', 'Models', {
    operation: 'createMessage',
    summary: 'Create a message, as Anthropic’s API',
    description: STREAMED,
    body: MessagesRequest,
  }),
  endpoint('POST /v1/messages/count_tokens', 'Models', {
    operation: 'countMessageTokens',
    summary: 'Count the tokens of a message, as Anthropic’s API',
    body: CountRequest,
    reply: z.looseObject({ input_tokens: z.int() }),
  }),
  ...GEMINI_METHODS.map((method) =>
    endpoint(`POST /v1beta/models/{model}:${method}`, 'Models', {
      operation: method,
      summary: `${method.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^./, (letter) => letter.toUpperCase())}, as Google’s API`,
      params: z.object({ model: z.string().describe('Id of the model') }),
      body: z.looseObject({}),
    }),
  ),
  endpoint('GET /v1/models', 'Models', {
    operation: 'listModels',
    summary: 'List models',
    description: 'In the format of Anthropic or Google for clients that send their headers.',
    reply: z.looseObject({ object: z.literal('list'), data: z.array(z.looseObject({ id: z.string() })) }),
  }),
  endpoint('GET /v1/models/{id}', 'Models', {
    operation: 'getModel',
    summary: 'Retrieve a model',
    params: z.object({ id: z.string().describe('Its id, which may contain slashes') }),
    reply: z.looseObject({ id: z.string() }),
  }),
]

const MEMORY: readonly DescribedRoute[] = [
  endpoint('POST /memory/store', 'Memory', {
    operation: 'storeMemory',
    summary: 'Store a memory',
    body: memoryStore.input,
    reply: memoryStore.output,
    idempotent: true,
  }),
  endpoint('GET /memory/recall', 'Memory', {
    operation: 'recallMemory',
    summary: 'Recall a memory by its key',
    query: memoryRecall.input,
    reply: z.looseObject({ found: z.literal(true), memory: z.looseObject({}) }),
  }),
  endpoint('GET /memory/recent', 'Memory', {
    operation: 'listRecentMemories',
    summary: 'List the newest memories',
    query: MemoryList,
    reply: z.looseObject({ items: z.array(z.looseObject({})), total: z.int() }),
  }),
]

const HEALTH = endpoint('GET /health', 'Health', {
  operation: 'getHealth',
  summary: 'Check the health of the gateway, its store and its upstreams',
  access: 'open',
  reply: z.looseObject({ status: z.enum(['ok', 'degraded']), version: z.string(), uptime_seconds: z.int() }),
})

/** Describes the gateway by its endpoints. @param shared routes that it shares with the platform */
export const describeGateway = (shared: readonly Route[]): OpenApi =>
  openApi(
    [
      ...MODEL_CALLS,
      ...VERBATIM_PATHS.map(verbatim),
      ...MEMORY,
      ...shared.map((route) => ({ ...route, group: 'Coding sessions' })),
      HEALTH,
    ],
    {
      title: 'Gazeway gateway',
      description: 'Models in the formats of OpenAI, Anthropic and Google, and the memory of the tools.',
      tags: TAGS,
      examples: {},
    },
  )

const VERBS: Readonly<Record<VerbatimPath['method'], string>> = { GET: 'get', POST: 'create', DELETE: 'delete' }

/** Describes a path that is passed on: `GET /files/{id}/content` is getFilesContent. */
function verbatim({ method, path, body }: VerbatimPath): DescribedRoute {
  const words = path.split(/[/_]/).filter((word) => word !== '' && !word.startsWith('{'))
  const verb = method === 'GET' && !path.includes('{') ? 'list' : VERBS[method]
  const operation = verb + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? []
  return endpoint(`${method} /v1${path}`, 'Passed on', {
    operation,
    summary: `Pass ${method} ${path} on`,
    description: body === 'form' ? 'The body is multipart/form-data.' : '',
    ...(parameter && { params: z.object({ [parameter]: z.string().max(200).describe('As the upstream names it') }) }),
    ...((body === 'json' || body === 'any') && { body: z.looseObject({}) }),
  })
}
