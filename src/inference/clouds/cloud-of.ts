import { lazily } from '../../lazily.ts'
import type { Provider } from '../upstreams/provider.ts'
import type { Cloud, CloudRequest } from './cloud.ts'
import type { Credentials } from './held-credentials.ts'

const loadClouds = lazily(() => import('./open-cloud.ts'))

/** Clouds by their upstream: all calls of an upstream use the same credentials. */
const opened = new WeakMap<Provider, Promise<Cloud>>()

/** The cloud of an upstream. Its code is loaded once a request needs it. */
export function cloudOf(provider: Provider): Promise<Cloud> {
  const cloud = opened.get(provider) ?? loadClouds().then(({ openCloud }) => openCloud(provider, process.env))
  opened.set(provider, cloud)
  return cloud
}

const LIST: CloudRequest = { method: 'GET', path: '/models', headers: { accept: 'application/json' }, body: null }

/** The request for the list of a cloud. Where it has none, the credentials are all that is asked for. */
const listAt = (cloud: Cloud): CloudRequest => (cloud.listsModels ? cloud.translate(LIST) : null) ?? LIST

/** Asks a cloud for its list of models. One without a list answers 200 once there are credentials. */
export async function askForList(provider: Provider, signal: AbortSignal): Promise<Response> {
  const cloud = await cloudOf(provider)
  const { path, headers } = listAt(cloud)
  const authorization = await cloud.authorize({ ...LIST, path, headers }, provider.apiKey)
  if (!cloud.listsModels) return new Response(null, { status: 200 })
  const sent = { ...provider.headers, ...headers, ...authorization.headers }
  return provider.fetch(`${provider.baseUrl}${path}`, { headers: sent, redirect: 'manual', signal })
}

/**
 * The credentials that an upstream in a cloud uses now, for operators.
 *
 * @throws GazewayError `upstream_not_configured` when there are none
 */
export async function credentialsOf(provider: Provider): Promise<Credentials> {
  const cloud = await cloudOf(provider)
  return (await cloud.authorize(listAt(cloud), provider.apiKey)).credentials
}
