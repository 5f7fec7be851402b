import { GazewayError } from '../../errors.ts'
import type { Provider } from '../upstreams/provider.ts'
import type { Cloud, CloudEnvironment, CloudError, CloudRequest } from './cloud.ts'
import { cloudBody } from './cloud-body.ts'
import { shapedError } from './cloud-error-shape.ts'
import { googleToken } from './google-token.ts'
import { holdCredentials } from './held-credentials.ts'
import { isMessages } from './message-path.ts'
import { requireOwnHost } from './own-hosts.ts'
import { pathSegment } from './path-segment.ts'

/** Version of Messages at Vertex, which its body names in place of a header. */
const VERSION = 'vertex-2023-10-16'
const KEY = { from: 'access token of the configuration', until: null }

/**
 * Vertex AI. Claude is asked by Messages: its model is in the path, and not in the body. Other models are asked at the
 * OpenAI-compatible endpoint, where Google's own begin with `google/`.
 */
export function vertexCloud(provider: Provider, env: CloudEnvironment): Cloud {
  const { cloudSettings: settings, proxy, section, protocol, catalogue } = provider
  const { deployments } = settings
  const held = holdCredentials(() => googleToken({ settings, env, proxy }))
  const named = Object.keys(deployments)
  const known = Object.keys(catalogue).filter((id) => id.startsWith('claude') === (protocol === 'anthropic'))
  const idOf = (model: string) => (Object.hasOwn(deployments, model) ? deployments[model] : undefined) ?? model

  function toClaude(request: CloudRequest): CloudRequest | null {
    const body = cloudBody(request.body)
    const model = body?.field('model')
    if (body === null || typeof model !== 'string') return null
    const at = (segment: string, method: string) => `/publishers/anthropic/models/${segment}:${method}`
    if (/^\/messages\/count_tokens(?:\?|$)/.test(request.path))
      return {
        ...request,
        path: at('count-tokens', 'rawPredict'),
        body: body.with({ model: idOf(model), anthropic_version: VERSION }),
      }
    const id = pathSegment(idOf(model))
    // What has another path is paid otherwise than an answer.
    if (id === null || !isMessages(request)) return null
    const method = body.field('stream') === true ? 'streamRawPredict' : 'rawPredict'
    return {
      ...request,
      path: at(id, method),
      body: body.with({ model: undefined, anthropic_version: VERSION }),
    }
  }

  function toOthers(request: CloudRequest): CloudRequest {
    const body = cloudBody(request.body)
    const model = body?.field('model')
    const path = `/endpoints/openapi${request.path}`
    if (body === null || typeof model !== 'string') return { ...request, path }
    const id = idOf(model)
    return { ...request, path, body: body.with({ model: id.includes('/') ? id : `google/${id}` }) }
  }

  return {
    listsModels: false,
    ownModels: named.length > 0 ? named : known,
    translate: protocol === 'anthropic' ? toClaude : toOthers,
    async authorize(_, key) {
      const { credentials: source } = settings
      if (key !== null && (source === 'auto' || source === 'key'))
        return { headers: { authorization: `Bearer ${key}` }, credentials: KEY }
      if (source === 'key')
        throw new GazewayError(
          'upstream_not_configured',
          `No access token is set for Vertex AI (${section}.cloud.credentials is key).`,
        )
      requireOwnHost(provider)
      const credentials = await held.get()
      return { headers: { authorization: `Bearer ${credentials.token}` }, credentials }
    },
    forget: held.forget,
    isEnded: ({ status }) => status === 401,
    shapeError: (error) => shapedError(error, protocol, null),
    advice: (error) => adviceFor(error, section, settings.region),
  }
}

function adviceFor({ status, text }: CloudError, section: string, region: string | null): string | null {
  if (status === 403 && text.includes('aiplatform'))
    return `Give the account the role Vertex AI User, and check ${section}.cloud.project.`
  if (status === 404 || /not supported in|not servable in region/i.test(text))
    return `Check the model id and ${section}.cloud.region: ${region} may lack the model; global or us-east5 has most.`
  if (status === 401) return 'The access token has ended: use the file of a service account, which gets new ones.'
  return null
}
