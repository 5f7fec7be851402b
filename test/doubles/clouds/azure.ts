import { chunks, completion } from '../upstream.ts'
import { type CloudAsked, type CloudReply, eventsOf, startCloudServer } from './cloud-server.ts'

export const TENANT = 'tenant-of-the-tests'
export const CLIENT = 'client-of-the-tests'
export const SECRET = 'secret~of.the-service-principal'
export const API_KEY = 'azure-key-of-the-tests'
const SCOPE = 'https://cognitiveservices.azure.com/.default'
const RESOURCE = 'https://cognitiveservices.azure.com'

const refused = (status: number, code: string, message: string): CloudReply => ({
  status,
  body: { error: { code, message } },
})
const DENIED = 'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key.'

const formOf = async ({ headers, body }: CloudAsked) => {
  const type = headers['content-type'] ?? ''
  return Object.fromEntries(await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData())
}

/** Azure OpenAI with one deployment, Microsoft Entra and the identity of a machine, which refuse what the real ones do. */
export async function startAzure({ deployment }: { deployment: string }) {
  const state = {
    tokens: new Set<string>(),
    given: 0,
    lastsSeconds: 3600,
    asked: [] as CloudAsked[],
    chats: [] as CloudAsked[],
    isSecretEnded: false,
    isTokenRefused: false,
  }

  function give(): CloudReply {
    const token = `entra-token-number-${++state.given}`
    state.tokens.add(token)
    return { status: 200, body: { token_type: 'Bearer', access_token: token, expires_in: state.lastsSeconds } }
  }

  function entra({ method, headers, body }: CloudAsked): CloudReply {
    const form = new URLSearchParams(body.toString())
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded')
    if (method !== 'POST' || !isForm || form.get('grant_type') !== 'client_credentials')
      return {
        status: 400,
        body: { error: 'unsupported_grant_type', error_description: 'AADSTS70003: The grant type is not supported.' },
      }
    if (form.get('scope') !== SCOPE || form.get('client_id') !== CLIENT)
      return {
        status: 400,
        body: { error: 'invalid_scope', error_description: 'AADSTS70011: The scope is not valid.' },
      }
    if (state.isSecretEnded)
      return {
        status: 401,
        body: {
          error: 'invalid_client',
          error_description: `AADSTS7000222: The provided client secret keys for app '${CLIENT}' are expired.\r\nTrace ID: 1`,
        },
      }
    if (form.get('client_secret') !== SECRET)
      return {
        status: 401,
        body: { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret provided.' },
      }
    return give()
  }

  function identity({ headers, url }: CloudAsked): CloudReply {
    const isAsked =
      url.searchParams.get('api-version') === '2018-02-01' && url.searchParams.get('resource') === RESOURCE
    if (headers.metadata !== 'true' || !isAsked)
      return {
        status: 400,
        body: { error: 'invalid_request', error_description: 'Required metadata header not specified' },
      }
    return give()
  }

  async function openai(asked: CloudAsked): Promise<CloudReply> {
    const { url, headers, method, body } = asked
    const [, token = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
    if (headers['api-key'] !== API_KEY && (state.isTokenRefused || !state.tokens.has(token)))
      return refused(401, '401', `${DENIED} ${token}`)
    const version = url.searchParams.get('api-version')
    const [, inPath, path = ''] = /^\/openai\/(?:v1|deployments\/([^/]+)|(?=models))(\/?.*)$/.exec(url.pathname) ?? []
    const isV1 = url.pathname.startsWith('/openai/v1/')
    if (isV1 ? version !== null : version === null) return refused(404, '404', 'Resource not found')
    if (method === 'GET' && path.endsWith('models'))
      return { status: 200, body: { object: 'list', data: [{ id: 'dall-e-3' }] } }
    const isSpeech = path === '/audio/transcriptions'
    if (path !== '/chat/completions' && !isSpeech) return refused(404, '404', 'Resource not found')
    const named = isSpeech ? await formOf(asked) : JSON.parse(body.toString())
    const { model, stream } = named as { model?: string; stream?: boolean }
    if ((isV1 ? model : decodeURIComponent(inPath ?? '')) !== deployment)
      return refused(404, 'DeploymentNotFound', 'The API deployment for this resource does not exist.')
    state.chats.push(asked)
    if (isSpeech) return { status: 200, body: { text: 'Hello.' } }
    const answer = { ...completion('Hello.'), model: 'gpt-5-2025-08-07' }
    if (!stream) return { status: 200, body: answer, headers: { 'x-ratelimit-remaining-requests': '7' } }
    // The first event of a stream has the results of the content filter, and no choice.
    const filtered = {
      id: '',
      object: '',
      created: 0,
      model: '',
      choices: [],
      prompt_filter_results: [{ prompt_index: 0 }],
    }
    return {
      status: 200,
      body: eventsOf([filtered, ...chunks(['Hello.'])]),
      headers: { 'content-type': 'text/event-stream' },
    }
  }

  const server = await startCloudServer((asked) => {
    if (asked.url.pathname === `/${TENANT}/oauth2/v2.0/token`) return entra(asked)
    if (asked.url.pathname === '/metadata/identity/oauth2/token') return identity(asked)
    state.asked.push(asked)
    return openai(asked)
  })
  return { ...server, state }
}
