import { createVerify } from 'node:crypto'
import { chunks, completion } from '../upstream.ts'
import { type CloudAsked, type CloudReply, eventsOf, startCloudServer } from './cloud-server.ts'

export const EMAIL = 'gateway@tests.iam.gserviceaccount.com'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const TOLERATED_SECONDS = 300

const google = (code: number, status: string, message: string): CloudReply => ({
  status: code,
  body: [{ error: { code, message, status } }],
})

const MESSAGE = {
  id: 'msg_vrtx_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5-5',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
}

/** Events of the same Message. */
const EVENTS = [
  { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]

/**
 * Vertex AI and Google's service of tokens, which verifies the signature and the times of an assertion.
 *
 * @param options.secondsAhead clock of the double, beside that of this machine
 */
export async function startVertex({ publicKey }: { publicKey: string }) {
  const state = { given: 0, tokens: new Set<string>(), asked: [] as CloudAsked[], secondsAhead: 0, url: '' }

  function token({ body }: CloudAsked): CloudReply {
    const form = new URLSearchParams(body.toString())
    const date = new Date(Date.now() + state.secondsAhead * 1000)
    const headers = { date: date.toUTCString() }
    const refused = (description: string): CloudReply => ({
      status: 400,
      headers,
      body: { error: 'invalid_grant', error_description: description },
    })
    if (form.get('grant_type') === 'refresh_token') return refused('Token has been expired or revoked.')
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const isSigned = createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url')
    if (form.get('grant_type') !== GRANT || !isSigned) return refused('Invalid JWT Signature.')
    const { iss, aud, iat, exp, scope } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    const isDue = Math.abs(iat - date.getTime() / 1000) < TOLERATED_SECONDS && exp - iat <= 3600
    if (!isDue)
      return refused('Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.')
    if (iss !== EMAIL || aud !== `${state.url}/token` || !scope.endsWith('/cloud-platform'))
      return refused('Invalid JWT: Failed audience check.')
    const made = `ya29.token-number-${++state.given}`
    state.tokens.add(made)
    return { status: 200, body: { access_token: made, expires_in: 3599, token_type: 'Bearer' } }
  }

  function claude(model: string, method: string, body: Record<string, unknown>): CloudReply {
    const invalid = (message: string) => ({
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', message } },
    })
    if (body.anthropic_version !== 'vertex-2023-10-16') return invalid('anthropic_version: Field required')
    if (model === 'count-tokens')
      return typeof body.model === 'string'
        ? { status: 200, body: { input_tokens: 12 } }
        : invalid('model: Field required')
    if ('model' in body) return invalid('model: Extra inputs are not permitted')
    if (model !== 'claude-opus-5-5')
      return google(
        404,
        'NOT_FOUND',
        `Publisher Model \`${model}\` was not found or your project does not have access to it.`,
      )
    if (method === 'rawPredict') return { status: 200, body: MESSAGE }
    const text = EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    return { status: 200, body: Buffer.from(text), headers: { 'content-type': 'text/event-stream' } }
  }

  const server = await startCloudServer((asked) => {
    const { url, headers, body } = asked
    if (url.pathname === '/token') return token(asked)
    const [, given = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
    if (!state.tokens.has(given))
      return google(401, 'UNAUTHENTICATED', `Request had invalid authentication credentials: ${given}`)
    state.asked.push(asked)
    const below = /^\/v1\/projects\/team\/locations\/us-east5(\/.*)$/.exec(url.pathname)?.[1] ?? ''
    const [, model, method = ''] =
      /^\/publishers\/anthropic\/models\/([^:]+):(rawPredict|streamRawPredict)$/.exec(below) ?? []
    const json = JSON.parse(body.toString() || '{}')
    if (model !== undefined) return claude(decodeURIComponent(model), method, json)
    if (below !== '/endpoints/openapi/chat/completions') return google(404, 'NOT_FOUND', 'Not found.')
    if (!String(json.model).startsWith('google/')) return google(400, 'INVALID_ARGUMENT', 'Malformed publisher model')
    if (json.stream !== true) return { status: 200, body: completion('Hello.') }
    return { status: 200, body: eventsOf(chunks(['Hello.'])), headers: { 'content-type': 'text/event-stream' } }
  })
  state.url = server.url
  return { ...server, state }
}
