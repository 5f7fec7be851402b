import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { endWithTests } from './end-with-tests.ts'

type Fields = Record<string, unknown>

/** A request as the double received it. */
export interface GeminiRequest {
  path: string
  headers: IncomingHttpHeaders
  text: string
  body: Fields
}

/** A reply: its pieces, which are one where no stream is asked, or an error. */
export type GeminiScript = { pieces: Fields[]; breaksOff?: true } | { status: number; body: Fields }

/** Google's own API, beside the one that is compatible with OpenAI's. It refuses what Google refuses, in its words. */
export interface GeminiDouble {
  /** Base URL of the compatible API, as the preset has it. */
  url: string
  received: GeminiRequest[]
  /** Sets the replies to the next requests that generate; the last one stays. */
  on(...scripts: GeminiScript[]): void
  close(): Promise<void>
}

export const KEY = 'google-secret-key'
export const MODEL = 'gemini-3.8-flash'
/** One whose answers are shorter than a catalogue knows. */
export const SHORT_MODEL = 'gemini-2.0-flash'
const MODELS = new Set([MODEL, SHORT_MODEL, 'gemini-embedding-2', 'gemini-2.5-flash-image'])
/** Signature of the double: base64, as Google's are. */
export const SIGNATURE = Buffer.from('signed by the double, and by nobody else').toString('base64')
const SKIP = 'skip_thought_signature_validator'

/** Fields of each message of the API, by https://ai.google.dev/api/generate-content and https://ai.google.dev/api/caching. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '': [
    ...['contents', 'tools', 'toolConfig', 'safetySettings', 'systemInstruction', 'generationConfig', 'cachedContent'],
    ...['serviceTier', 'model', 'store'],
  ],
  contents: ['role', 'parts'],
  systemInstruction: ['role', 'parts'],
  parts: [
    ...['text', 'thought', 'thoughtSignature', 'inlineData', 'fileData', 'functionCall', 'functionResponse'],
    ...['executableCode', 'codeExecutionResult', 'videoMetadata', 'partMetadata', 'mediaResolution'],
  ],
  tools: [
    ...['functionDeclarations', 'googleSearch', 'googleSearchRetrieval', 'codeExecution', 'urlContext', 'googleMaps'],
    ...['fileSearch', 'computerUse'],
  ],
  generationConfig: [
    ...['stopSequences', 'responseMimeType', 'responseSchema', 'responseJsonSchema', 'responseModalities'],
    ...['candidateCount', 'maxOutputTokens', 'temperature', 'topP', 'topK', 'seed', 'presencePenalty'],
    ...['frequencyPenalty', 'responseLogprobs', 'logprobs', 'speechConfig', 'thinkingConfig', 'mediaResolution'],
  ],
}

const listOf = (value: unknown): Fields[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value as Fields]
const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The field of a request that the API does not have. Null where it has all. */
function unknownField(value: Fields, kind = '', at = ''): string | null {
  for (const [name, member] of Object.entries(value)) {
    if (!FIELDS[kind]?.includes(camel(name))) return `Unknown name "${name}"${at && ` at '${at}'`}: Cannot find field.`
    if (FIELDS[camel(name)] === undefined) continue
    for (const entry of listOf(member)) {
      const found = unknownField(entry, camel(name), at === '' ? name : `${at}.${name}`)
      if (found !== null) return found
    }
  }
  return null
}

/** Fault of the turns of a request. Null without one. */
function turnsFault(contents: Fields[]): string | null {
  for (const [at, { role, parts }] of contents.entries()) {
    const calls = listOf(parts).filter(({ functionCall }) => functionCall !== undefined)
    if (role !== 'model' || calls.length === 0) continue
    const answers = listOf(contents[at + 1]?.parts).filter(({ functionResponse }) => functionResponse !== undefined)
    if (answers.length !== calls.length)
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
    const { thoughtSignature: signature, functionCall } = calls[0] as {
      thoughtSignature?: string
      functionCall: Fields
    }
    if (signature === undefined)
      return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${functionCall.name}\` , position ${at + 1}.`
    if (signature !== SIGNATURE && signature !== SKIP) return 'Corrupted thought signature.'
  }
  return null
}

const errorOf = (code: number, status: string, message: string): { status: number; body: Fields } => ({
  status: code,
  body: { error: { code, message, status } },
})

const invalid = (message: string) => errorOf(400, 'INVALID_ARGUMENT', message)

/** Finds the reason to refuse a request. Null for a good one. */
function refusalOf({ headers, path, body }: GeminiRequest): { status: number; body: Fields } | null {
  if (headers['x-goog-api-key'] === undefined)
    return errorOf(
      403,
      'PERMISSION_DENIED',
      "Method doesn't allow unregistered callers (callers without established identity).",
    )
  if (headers['x-goog-api-key'] !== KEY || headers.authorization !== undefined)
    return invalid('API key not valid. Please pass a valid API key.')
  const [, model = '', method = ''] = /^\/v1beta\/models\/([^/:]+):(\w+)/.exec(path) ?? []
  if (!MODELS.has(model))
    return errorOf(
      404,
      'NOT_FOUND',
      `models/${model} is not found for API version v1beta, or is not supported for ${method}.`,
    )
  if (method === 'embedContent') return null
  if (method === 'batchEmbedContents')
    return listOf(body.requests).every((one) => one.model === `models/${model}`)
      ? null
      : invalid('* BatchEmbedContentsRequest.requests[0].model: model must match the parent')
  const asked = method === 'countTokens' ? ((body.generateContentRequest as Fields) ?? body) : body
  const unknown = unknownField(asked)
  if (unknown !== null) return invalid(`Invalid JSON payload received. ${unknown}`)
  if (asked !== body && asked.model !== `models/${model}`)
    return invalid('* CountTokensRequest.model: model must match')
  const { maxOutputTokens = 1 } = (asked.generationConfig ?? {}) as { maxOutputTokens?: number }
  const longest = model === SHORT_MODEL ? 4096 : 65_536
  if (!(maxOutputTokens >= 1 && maxOutputTokens <= longest))
    return invalid(
      `Unable to submit request because it has a maxOutputTokens value of ${maxOutputTokens} but the supported range is from 1 (inclusive) to ${longest + 1} (exclusive).`,
    )
  const fault = turnsFault(listOf(asked.contents))
  return fault === null ? null : invalid(fault)
}

export async function startGemini(): Promise<GeminiDouble> {
  const received: GeminiRequest[] = []
  let scripts: GeminiScript[] = []

  function reply(response: ServerResponse, status: number, body: unknown): void {
    response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body, null, 2))
  }

  async function generate(response: ServerResponse, { path }: GeminiRequest): Promise<void> {
    const script = scripts.length > 1 ? scripts.shift() : scripts[0]
    if (script === undefined) return reply(response, 500, errorOf(500, 'INTERNAL', 'no script').body)
    if ('status' in script) return reply(response, script.status, script.body)
    if (!path.includes(':streamGenerateContent')) return reply(response, 200, script.pieces[0])
    const isEvents = path.includes('alt=sse')
    response.writeHead(200, { 'content-type': isEvents ? 'text/event-stream' : 'application/json' })
    if (!isEvents) return void response.end(JSON.stringify(script.pieces))
    for (const piece of script.pieces)
      await new Promise((sent) => response.write(`data: ${JSON.stringify(piece)}\r\n\r\n`, sent))
    if (script.breaksOff) response.destroy()
    else response.end()
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString('utf8')
    const asked = { path: request.url ?? '', headers: request.headers, text, body: text ? JSON.parse(text) : {} }
    if (asked.path.startsWith('/v1beta/openai/')) {
      if (request.method === 'GET') return reply(response, 200, { data: [{ id: `models/${MODEL}`, object: 'model' }] })
      received.push(asked)
      const isKey = request.headers.authorization === `Bearer ${KEY}`
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Chat.' }, finish_reason: 'stop' }]
      return reply(response, isKey ? 200 : 401, { id: 'c', object: 'chat.completion', choices })
    }
    received.push(asked)
    const refused = refusalOf(asked)
    if (refused !== null) return reply(response, refused.status, refused.body)
    if (asked.path.includes(':countTokens')) return reply(response, 200, { totalTokens: 31 })
    if (asked.path.includes(':embedContent'))
      return reply(response, 200, { embedding: { values: [0.1, 0.2] }, usageMetadata: { promptTokenCount: 4 } })
    if (asked.path.includes(':batchEmbedContents'))
      return reply(response, 200, { embeddings: [{ values: [0.1, 0.2] }] })
    await generate(response, asked)
  })
  await new Promise<void>((resolve) => endWithTests(server).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1beta/openai`,
    received,
    on(...given) {
      scripts = given
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
