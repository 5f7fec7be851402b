import { GazewayError } from '../../errors.ts'
import type { Provider } from '../upstreams/provider.ts'
import type { Cloud, CloudEnvironment, CloudError, CloudRequest } from './cloud.ts'
import { cloudBody } from './cloud-body.ts'
import { formModel } from './cloud-form.ts'
import { entraToken } from './entra-token.ts'
import { holdCredentials } from './held-credentials.ts'
import { requireOwnHost } from './own-hosts.ts'
import { pathSegment } from './path-segment.ts'

/** Paths with a deployment in them, where the version of the API is in the address. */
const OF_DEPLOYMENTS = /^\/(?:chat\/completions|completions|embeddings|images\/|audio\/)/

const KEY = { from: 'api key', until: null }

/**
 * Azure OpenAI: https://learn.microsoft.com/azure/ai-foundry/openai/reference. Below `/openai/v1` a request names its
 * deployment as its model; with `api_version` the deployment is in the path. An API key is sent as `api-key`.
 */
export function azureCloud(provider: Provider, env: CloudEnvironment): Cloud {
  const { cloudSettings: settings, baseUrl, proxy, section } = provider
  const { deployments, api_version: version } = settings
  const host = new URL(baseUrl).hostname
  const held = holdCredentials(() => entraToken({ settings, host, env, proxy }))
  const names = Object.keys(deployments)
  const deploymentOf = (model: string) => (Object.hasOwn(deployments, model) ? deployments[model] : undefined) ?? model

  /** The same request for a deployment. */
  function named(request: CloudRequest): CloudRequest & { deployment: string | null } {
    const body = cloudBody(request.body)
    if (body === null) {
      const form = request.body && formModel(request.body, request.headers['content-type'] ?? '')
      if (form === null) return { ...request, deployment: null }
      const deployment = deploymentOf(form.model)
      return { ...request, body: deployment === form.model ? request.body : form.with(deployment), deployment }
    }
    const model = body.field('model')
    if (typeof model !== 'string') return { ...request, deployment: null }
    const deployment = deploymentOf(model)
    return { ...request, body: deployment === model ? request.body : body.with({ model: deployment }), deployment }
  }

  return {
    listsModels: true,
    ownModels: names,
    translate(request) {
      const { deployment, ...sent } = named(request)
      if (version === null) return { ...sent, path: `/v1${request.path}` }
      const inPath = deployment !== null && OF_DEPLOYMENTS.test(request.path)
      const segment = inPath ? pathSegment(deployment) : null
      if (inPath && segment === null) return null
      const below = inPath ? `/deployments/${segment}${request.path}` : request.path
      return { ...sent, path: `${below}${below.includes('?') ? '&' : '?'}api-version=${version}` }
    },
    async authorize(_, key) {
      if (key !== null && (settings.credentials === 'auto' || settings.credentials === 'key'))
        return { headers: { 'api-key': key }, credentials: KEY }
      if (settings.credentials === 'key')
        throw new GazewayError(
          'upstream_not_configured',
          `No API key is set for Azure (${section}.cloud.credentials is key).`,
        )
      requireOwnHost(provider)
      const credentials = await held.get()
      return { headers: { authorization: `Bearer ${credentials.token}` }, credentials }
    },
    forget: held.forget,
    isEnded: ({ status }) => status === 401,
    advice: (error) => adviceFor(error, { section, version, names }),
  }
}

function adviceFor(
  { status, text }: CloudError,
  { section, version, names }: { section: string; version: string | null; names: readonly string[] },
): string | null {
  if (text.includes('DeploymentNotFound')) {
    const known = names.length === 0 ? '' : ` It has ${names.join(', ')}.`
    return `Set ${section}.cloud.deployments to the names of your deployments.${known}`
  }
  if (status === 404)
    return `Check ${section}.cloud.resource and ${section}.cloud.api_version (${version ?? 'none: /openai/v1'}).`
  if (/PermissionDenied|lacks the required data action/i.test(text))
    return 'Give the identity the role Cognitive Services OpenAI User on the resource.'
  if (/api.?version/i.test(text) && status === 400)
    return `Set ${section}.cloud.api_version to one that the resource has.`
  return null
}
