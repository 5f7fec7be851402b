import { GazewayError } from '../../errors.ts'
import type { Provider } from '../upstreams/provider.ts'
import { awsCredentials } from './aws-credentials.ts'
import { clockFault } from './clock-fault.ts'
import type { Cloud, CloudEnvironment, CloudError, CloudRequest } from './cloud.ts'
import { cloudBody } from './cloud-body.ts'
import { shapedError } from './cloud-error-shape.ts'
import { readFrames } from './event-frames.ts'
import { holdCredentials } from './held-credentials.ts'
import { isMessages } from './message-path.ts'
import { requireOwnHost } from './own-hosts.ts'
import { pathSegment } from './path-segment.ts'
import { signV4 } from './sigv4.ts'

/** Version of Messages at Bedrock, which its body names in place of a header. */
const VERSION = 'bedrock-2023-05-31'
const STREAM = 'invoke-with-response-stream'
const KEY = { from: 'bearer token', until: null }

/**
 * Amazon Bedrock. Claude is asked by InvokeModel, whose body is that of Messages without its model; its streams come in
 * frames. With `protocol: openai`, models are asked at the OpenAI-compatible endpoint.
 */
export function bedrockCloud(provider: Provider, env: CloudEnvironment): Cloud {
  const { cloudSettings: settings, baseUrl, protocol, section, catalogue } = provider
  const { deployments, region, credentials: source } = settings
  const held = holdCredentials(() => awsCredentials(settings, env))
  const named = Object.keys(deployments)
  const known = Object.keys(catalogue).filter((id) => id.includes('claude') === (protocol === 'anthropic'))
  const idOf = (model: string) => (Object.hasOwn(deployments, model) ? deployments[model] : undefined) ?? model

  function toClaude(request: CloudRequest): CloudRequest | null {
    const body = cloudBody(request.body)
    const model = body?.field('model')
    // What has another path is paid otherwise than an answer.
    if (body === null || typeof model !== 'string' || !isMessages(request)) return null
    const id = pathSegment(idOf(model))
    if (id === null) return null
    const { 'anthropic-beta': betas, 'anthropic-version': _, ...headers } = request.headers
    const method = body.field('stream') === true ? STREAM : 'invoke'
    return {
      ...request,
      headers,
      path: `/model/${id}/${method}`,
      body: body.with({
        model: undefined,
        stream: undefined,
        anthropic_version: VERSION,
        ...(betas && { anthropic_beta: betas.split(',').map((beta) => beta.trim()) }),
      }),
    }
  }

  function toOthers(request: CloudRequest): CloudRequest {
    const body = cloudBody(request.body)
    const model = body?.field('model')
    const path = `/openai/v1${request.path}`
    if (body === null || typeof model !== 'string') return { ...request, path }
    return { ...request, path, body: idOf(model) === model ? request.body : body.with({ model: idOf(model) }) }
  }

  return {
    listsModels: false,
    ownModels: named.length > 0 ? named : known,
    translate: protocol === 'anthropic' ? toClaude : toOthers,
    async authorize({ method, path, body }, key) {
      if (key !== null && (source === 'auto' || source === 'key'))
        return { headers: { authorization: `Bearer ${key}` }, credentials: KEY }
      if (source === 'key' || region === null)
        throw new GazewayError(
          'upstream_not_configured',
          region === null
            ? `Set ${section}.cloud.region, or AWS_REGION, for the signatures of Bedrock.`
            : `No bearer token is set for Bedrock (${section}.cloud.credentials is key).`,
        )
      requireOwnHost(provider)
      const credentials = await held.get()
      const request = { method, url: new URL(baseUrl + path), body, region, service: 'bedrock' }
      return { headers: signV4(request, credentials.keys, new Date()), credentials }
    },
    forget: held.forget,
    // A text alone may quote the request.
    isEnded: (error) => /ExpiredToken/.test(codeOf(error) ?? error.text),
    shapeError: (error) => shapedError(error, protocol, codeOf(error)),
    advice: (error) => adviceFor(error, section, region),
    ...(protocol === 'anthropic' && { reading: readFrames }),
  }
}

/** Name of an error of AWS, which may be followed by an address. */
const codeOf = ({ headers }: CloudError): string | null => {
  const type = headers['x-amzn-errortype']
  return typeof type === 'string' ? (type.split(':')[0] ?? null) : null
}

function adviceFor(error: CloudError, section: string, region: string | null): string | null {
  const { text, headers } = error
  if (/Signature expired|Signature not yet current|RequestTimeTooSkewed|InvalidSignatureException.*now/.test(text))
    return clockFault(String(headers.date)) ?? 'Set the clock of this machine.'
  if (/scoped to a valid region/.test(text))
    return `Set ${section}.cloud.region to the region of the address; it is ${region}.`
  if (/expired/.test(text)) return 'The credentials have ended: get new ones, such as by aws sso login.'
  if (/security token included in the request is invalid/.test(text)) return 'Check the access key, or the profile.'
  if (/on-demand throughput/.test(text))
    return `Ask for an inference profile, such as us.MODEL or global.MODEL, by its id or in ${section}.cloud.deployments.`
  if (/access to the model|model identifier is invalid/.test(text))
    return `Check the model id, and that the account has access to it in ${section}.cloud.region (${region}).`
  return null
}
