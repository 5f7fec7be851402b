import type { Hono } from 'hono'
import * as z from 'zod'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { ModelBody } from '../../../src/inference/admit/admit.ts'
import {
  COUNT_CONTENT,
  EMBED_CONTENT,
  GEMINI_METHODS,
  GEMINI_VERSIONS,
  GENERATE_CONTENT,
  type GeminiMethod,
} from '../../../src/inference/api/gemini-endpoints.ts'
import { geminiRequest } from '../../../src/inference/convert/gemini-request.ts'
import type { OpenCalls } from '../../../src/inference/inference.ts'
import type { ClientRequest } from '../../../src/inference/relay/request-body.ts'
import { isObject } from '../../../src/text/json.ts'
import { LIST_LIMIT, parseInput } from '../../../src/wire/validation.ts'
import { type Arrival, arrivalOf } from '../../web/arrival.ts'
import { modelBodyLimit } from '../../web/body-limit.ts'
import type { Frame } from '../../web/frame-context.ts'
import { ALREADY_SENT, receiverOf } from '../../web/http-receiver.ts'
import { readJson } from '../../web/json-body.ts'
import { asList } from '../listed-events.ts'
import { relayOnce } from '../relay-once.ts'
import { callContext, createAsk } from './chat-completions-route.ts'

const METHODS: ReadonlySet<string> = new Set(GEMINI_METHODS)
/** Longest name of a model. */
const LONGEST_MODEL = 256

/** Fields of a request that Gazeway acts on; the conversion, or the upstream, validates the others. */
const ContentRequest = z.looseObject({
  contents: z.array(z.looseObject({})).max(LIST_LIMIT).min(1),
  tools: z.array(z.looseObject({})).max(LIST_LIMIT).nullish(),
})

const EmbedRequest = z.looseObject({
  content: z.looseObject({}).nullish(),
  requests: z.array(z.looseObject({})).max(LIST_LIMIT).nullish(),
})
/** Cost of a request for embeddings. */
const EMBEDDED = { cost: 'input', formType: null } as const

/** A model, and the method of it that a path calls. */
interface Asked {
  model: string
  method: GeminiMethod
  isEvents: boolean
}

/** Serves the requests of a method. */
interface Way {
  /** @throws GazewayError `validation_failed` */
  check(json: unknown): unknown
  serve(arrival: Arrival, asked: Asked, body: ClientRequest<ModelBody>): Promise<void>
}

/** Registers `POST /v1beta/models/{model}:{method}` of Google's API, for each of its versions. */
export function geminiRoutes(app: Hono<Frame>, calls: OpenCalls, gateway: Gateway): void {
  const ask = createAsk(calls, gateway, GENERATE_CONTENT)

  async function generate(arrival: Arrival, asked: Asked, body: ClientRequest<ModelBody>): Promise<void> {
    const stream = asked.method === 'streamGenerateContent'
    const request = geminiRequest(body, { model: asked.model, stream })
    const once = { path: `/v1${GENERATE_CONTENT}`, text: `${asked.model}\n${body.text}`, stream }
    await relayOnce(arrival, gateway, once, (receiver) =>
      ask(request, stream && !asked.isEvents ? asList(receiver) : receiver, callContext(arrival, request.json)),
    )
  }

  async function count(arrival: Arrival, { model }: Asked, body: ClientRequest<ModelBody>): Promise<void> {
    const request = { ...body, json: { ...counted(body.json), model } }
    const receiver = receiverOf(arrival, gateway.loaded.config.upstream.timeout_ms)
    await calls.current().countPrompt(request, receiver, callContext(arrival, request.json), COUNT_CONTENT)
  }

  async function embed(arrival: Arrival, { model }: Asked, body: ClientRequest<ModelBody>): Promise<void> {
    const request = { ...body, json: { ...body.json, model } }
    const once = { path: `/v1${EMBED_CONTENT}`, text: `${model}\n${body.text}`, stream: false }
    const asked = { endpoint: EMBED_CONTENT, request, retries: 0, needsText: false, verbatim: EMBEDDED } as const
    await relayOnce(arrival, gateway, once, async (receiver) => {
      await calls.current().call(asked, receiver, callContext(arrival, request.json))
    })
  }

  const ways: Readonly<Record<GeminiMethod, Way>> = {
    generateContent: { serve: generate, check: (json) => parseInput(ContentRequest, json) },
    streamGenerateContent: { serve: generate, check: (json) => parseInput(ContentRequest, json) },
    countTokens: { serve: count, check: (json) => parseInput(ContentRequest, counted(json)) },
    embedContent: { serve: embed, check: (json) => parseInput(EmbedRequest, json) },
    batchEmbedContents: { serve: embed, check: (json) => parseInput(EmbedRequest, json) },
  }

  // The pattern is that of the list: the fast router takes no two that match the same path.
  for (const version of GEMINI_VERSIONS)
    app.post(`/${version}/models/:id{.+}`, async (c) => {
      const arrival = arrivalOf(c)
      const asked = askedIn(c.req.param('id'), c.req.query('alt'))
      const body = await readJson(arrival.incoming, modelBodyLimit(gateway, arrival.callerId))
      const { serve, check } = ways[asked.method]
      check(body.json)
      await serve(arrival, asked, body as ClientRequest<ModelBody>)
      return ALREADY_SENT
    })
}

/** Reads the model and the method in a path: names of models may have slashes and colons. */
function askedIn(path: string, alt: string | undefined): Asked {
  const at = path.lastIndexOf(':')
  const model = path.slice(0, Math.max(at, 0))
  if (!METHODS.has(path.slice(at + 1)) || model === '' || model.length > LONGEST_MODEL)
    throw new GazewayError('not_found', `A POST here asks a model for one of ${[...METHODS].join(', ')}.`)
  return { model, method: path.slice(at + 1) as GeminiMethod, isEvents: alt === 'sse' }
}

/** The request whose tokens are counted. It may be enclosed, since only so it may have instructions and tools. */
function counted(json: unknown): ModelBody {
  const body = isObject(json) ? json : {}
  const enclosed = body.generateContentRequest ?? body.generate_content_request
  return isObject(enclosed) ? enclosed : body
}
