import { errorBody, GazewayError } from '../../errors.ts'
import { idFrom } from './answer.ts'
import { parseJson } from './request.ts'
import { createResponseHistory } from './response-history.ts'
import { completeChat } from './sandbox-chat.ts'
import { createEmbeddings } from './sandbox-embeddings.ts'
import { jsonReply } from './sandbox-reply.ts'
import { createResponse } from './sandbox-responses.ts'

/** An OpenAI-compatible provider in this process. */
export interface Sandbox {
  /**
   * Answers a request as a provider's server would, without a socket. Only the path after `/v1` matters. Faults are
   * replies in OpenAI's error shape. Like fetch, it rejects when the request's signal is aborted.
   */
  fetch(request: Request): Promise<Response>
}

/**
 * Creates the `sandbox` upstream, for trials without a key. The sandbox speaks the protocol of a real provider: models, chat
 * completions and responses, streamed or not, tools, structured output, searches. Answers are drawn from the given text
 * and are deterministic, ids included. Each says `sandbox`: in the text, in `system_fingerprint` and in the header
 * `x-upstream`.
 *
 * @example
 * import OpenAI from 'openai'
 * const sandbox = createSandbox()
 * const client = new OpenAI({
 *   baseURL: 'http://sandbox.local/v1',
 *   apiKey: 'none',
 *   fetch: async (url, init) => sandbox.fetch(new Request(url, init)),
 * })
 */
export function createSandbox(): Sandbox {
  const history = createResponseHistory()
  const routes: Route[] = [
    { path: /^\/models$/, method: 'GET', reply: async () => jsonReply({ object: 'list', data: MODELS }) },
    { path: /^\/models\/(.+)$/, method: 'GET', reply: async (_request, id) => modelReply(id) },
    {
      path: /^\/chat\/completions$/,
      method: 'POST',
      reply: async (request) => completeChat(request, ...(await readBody(request))),
    },
    {
      path: /^\/responses$/,
      method: 'POST',
      reply: async (request) => createResponse(request, ...(await readBody(request)), history),
    },
    {
      path: /^\/embeddings$/,
      method: 'POST',
      reply: async (request) => createEmbeddings(parseJson(await request.text())),
    },
  ]

  async function fetch(request: Request): Promise<Response> {
    request.signal.throwIfAborted()
    const path = pathOf(request)
    const route = routes.find((candidate) => candidate.path.test(path))
    try {
      if (!route) throw new GazewayError('not_found', `Unknown request URL: ${request.method} ${path}.`)
      if (route.method !== request.method) return wrongMethod(request, route)
      return await route.reply(request, route.path.exec(path)?.[1] ?? '')
    } catch (error) {
      if (error instanceof GazewayError) return errorReply(error)
      // V8 reports an exhausted stack as a RangeError: the body, or a schema in it, nests too deeply.
      if (!(error instanceof RangeError)) throw error
      return errorReply(new GazewayError('invalid_request', 'The request is nested too deeply.', { cause: error }))
    }
  }

  return { fetch }
}

interface Route {
  path: RegExp
  method: string
  reply(request: Request, id: string): Promise<Response>
}

/** Path below the version: `/models` for `http://sandbox.local/v1/models`. */
function pathOf(request: Request): string {
  const { pathname } = new URL(request.url)
  const at = pathname.indexOf('/v1/')
  return at === -1 ? pathname : pathname.slice(at + '/v1'.length)
}

/** Reads the JSON of a body, and the seed of the reply's ids, which is the same for a streamed request. */
async function readBody(request: Request): Promise<[body: unknown, seed: string]> {
  const body = parseJson(await request.text())
  const isObject = typeof body === 'object' && body !== null
  const asked = isObject ? { ...body, stream: undefined, stream_options: undefined } : body
  return [body, idFrom(JSON.stringify(asked))]
}

function modelReply(id: string): Response {
  const model = MODELS.find((known) => encodeURIComponent(known.id) === id || known.id === id)
  if (!model) throw new GazewayError('not_found', `The model '${id}' does not exist.`, { param: 'model' })
  return jsonReply(model)
}

function wrongMethod(request: Request, route: Route): Response {
  const message = `${request.method} is not allowed here. Use ${route.method}.`
  return errorReply(new GazewayError('method_not_allowed', message), { allow: route.method })
}

function errorReply(error: GazewayError, headers: Record<string, string> = {}): Response {
  return jsonReply({ error: errorBody(error) }, error.status, headers)
}

/**
 * Model ids that the sandbox lists: the gateway's own, and those of xAI that they resolve to. Requests may name any
 * model.
 */
const IDS = ['llm-', 'grok-'].flatMap((family) =>
  ['4.20-multi-agent-beta-0309', '4.20-0309-reasoning', '3-fast', '4-1-fast-reasoning'].map((id) => family + id),
)

/** 2026-01-01T00:00:00Z in Unix seconds. */
const CREATED = 1_767_225_600

/** Models of the sandbox, as `GET /v1/models` lists them. */
const MODELS = IDS.map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'sandbox' }))
