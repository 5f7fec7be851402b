import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import { credentialsOf } from '../../src/inference/clouds/cloud-of.ts'
import type { Credentials } from '../../src/inference/clouds/held-credentials.ts'
import { type Routing, routeTarget } from '../../src/inference/route/routing.ts'
import { firstForChat } from '../../src/inference/upstreams/model-for.ts'
import { idsOf, lackingNames, readModels } from '../../src/inference/upstreams/model-list.ts'
import type { NamedUpstream } from '../../src/inference/upstreams/named-upstream.ts'
import { DEFAULT_UPSTREAM, type ModelRole, type Provider } from '../../src/inference/upstreams/provider.ts'
import { keyVariableOf } from '../../src/providers/key-variable.ts'
import { presetOf } from '../../src/providers/providers.ts'
import { counted } from '../../src/text/plural.ts'
import { throughProxy } from '../../src/wire/proxy-choice.ts'
import type { Check } from './check.ts'

const ROLES: readonly ModelRole[] = ['chat', 'primary', 'fallback']
/** Timeout of an upstream's list of models, in milliseconds. */
export const PATIENCE_MS = 10_000

/** Routes of the configuration, and the routing that they make. */
interface Routes {
  routing: Routing
  routes: Gateway['loaded']['config']['routes']
}

/** Creates a check for each upstream, and one for the routes if any exist. */
export function upstreamChecks({ upstream: { routing }, loaded }: Gateway): Check[] {
  const checks = routing.upstreams.map((one) => {
    const { id } = one.provider
    return {
      name: id === DEFAULT_UPSTREAM ? 'upstream' : `upstream ${id}`,
      settings: one.provider.section,
      run: (gateway: Gateway) => checkUpstream(gateway, one),
    }
  })
  const { routes } = loaded.config
  return routes.length === 0 ? checks : [...checks, { name: 'routes', settings: 'routes', run: checkRoutes }]
}

/**
 * Checks that an upstream takes its key, lists models, and has those that calls request from it.
 *
 * @throws GazewayError that says what to do
 */
export async function checkUpstream(
  { upstream, loaded }: Pick<Gateway, 'upstream' | 'loaded'>,
  of: NamedUpstream,
): Promise<string | { warning: string }> {
  const { provider } = of
  // An upstream without a key is acceptable when another one has a key.
  if (!provider.hasKey && upstream.routing.upstreams.some((other) => other.provider.hasKey)) return withoutKey(provider)
  provider.requireKey()
  const context = { surface: 'stdio' as const, callerId: null, signal: AbortSignal.timeout(PATIENCE_MS) }
  const credentials = provider.cloud === null ? '' : `, with ${toldCredentials(await credentialsOf(provider))}`
  const { status, body } = await upstream.askForModels(context, of)
  const answer = `${provider.name} at ${placeOf(provider)}${credentials} answered ${status}`
  if (status === 401 || status === 403)
    throw new GazewayError('upstream_error', `${answer}: check its key (${keyVariables(of)}).`)
  if (status === 429) throw new GazewayError('upstream_error', `${answer}: it limits requests. Retry later.`)
  if (status >= 500) throw new GazewayError('upstream_error', `${answer}. Retry later.`)
  // A web page, a redirect or an unknown path: another kind of service lives there.
  if (status !== 200 || typeof body !== 'object')
    throw new GazewayError(
      'upstream_bad_reply',
      `${answer}, not a list of models: check its address (${addressOf(provider)}).`,
    )
  const ids = idsOf(readModels(body) ?? [])
  const compared = compareModels(of, ids, { routing: upstream.routing, routes: loaded.config.routes })
  return typeof compared === 'string' ? compared + credentials : compared
}

/** Origin of credentials, and their end. */
const toldCredentials = ({ from, until }: Credentials): string =>
  until === null ? from : `${from} (until ${new Date(until).toISOString()})`

function withoutKey(provider: Provider): { warning: string } {
  try {
    provider.requireKey()
    return { warning: 'has no key.' }
  } catch (error) {
    return { warning: `${(error as Error).message} Until then, this upstream is skipped.` }
  }
}

/** The models that routes request from an upstream by name. */
function routedTo(id: string, routes: Routes['routes']): string[] {
  return routes
    .flatMap(({ to }) => to.map(routeTarget))
    .flatMap(({ upstream, model }) => (upstream === id && model !== null ? [model] : []))
}

/** The roles whose calls go to an upstream, with the model there. */
function rolesAt(of: NamedUpstream, { explain, upstreams: [first] }: Routing): { role: ModelRole; model: string }[] {
  return ROLES.flatMap((role) => {
    const { targets } = explain(first.provider.resolve(undefined, role).requested)
    return targets.flatMap(({ upstream, model }) => (upstream === of ? [{ role, model }] : []))
  })
}

/** The names by which calls request models from an upstream: its aliases, models of roles and those of routes. */
function namesAskedOf(of: NamedUpstream, { routing, routes }: Routes): string[] {
  const { id, aliases, isUnassigned } = of.provider
  // A route may send an alias of `default` elsewhere. Those of other upstreams are also requested as NAME/ALIAS.
  const own = aliases.filter(
    (name) => id !== DEFAULT_UPSTREAM || routing.explain(name).targets.some(({ upstream }) => upstream === of),
  )
  const ofRoles = rolesAt(of, routing).flatMap(({ model }) => (isUnassigned(model) ? [] : [model]))
  return [...new Set([...own, ...ofRoles, ...routedTo(id, routes)])]
}

/** Compares the models that an upstream lists with those that calls request from it. */
function compareModels(of: NamedUpstream, ids: readonly string[], routes: Routes): string | { warning: string } {
  const { provider } = of
  const answers = `${provider.name} answers at ${placeOf(provider)}`
  if (ids.length === 0) return { warning: `${answers} and lists no models: load or install one there.` }
  const aliases = namesAskedOf(of, routes)
  const lacking = lackingNames({ resolve: provider.resolve, aliases }, ids).map((name) => {
    const { upstream } = provider.resolve(name, 'chat')
    return name === upstream ? name : `${upstream} (${name})`
  })
  const { section } = provider
  const settings =
    section === 'upstream' ? 'upstream.aliases or upstream.models' : `${section}.aliases, upstream.models or routes`
  if (lacking.length > 0)
    return {
      warning: `${answers} and does not list ${lacking.join(', ')}: set ${settings} to listed models, such as ${firstForChat(ids)}.`,
    }
  const open = rolesAt(of, routes.routing).flatMap(({ role, model }) => (provider.isUnassigned(model) ? [role] : []))
  const chosen = open.length > 0 ? `; without a configured model ${open.join(', ')}: ${firstForChat(ids)}` : ''
  return `${answers}, models: ${ids.length}${chosen}`
}

/**
 * Checks that routes name known upstreams that have a key. Routes and upstreams may be stored apart: in a file, and in
 * a store's settings.
 */
async function checkRoutes({ upstream: { routing }, loaded }: Gateway): Promise<string | { warning: string }> {
  const known = new Map(routing.upstreams.map(({ provider }) => [provider.id, provider]))
  const faults = loaded.config.routes.flatMap(({ model, to }) => {
    const names = to.map((target) => routeTarget(target).upstream)
    const answering = names.filter((name) => known.get(name)?.hasKey)
    const unknown = names.filter((name) => !known.has(name))
    if (unknown.length > 0) return [`${model}: no upstream is named ${unknown.join(', ')}`]
    return answering.length === 0 ? [`${model}: no upstream has an API key`] : []
  })
  if (faults.length > 0) return { warning: `${faults.join('; ')}.` }
  return `${counted(loaded.config.routes.length, 'route')} between ${counted(known.size, 'upstream')}`
}

/** Address of a provider, and the proxy to it. */
const placeOf = ({ baseUrl, proxy, inProcess }: Provider): string =>
  inProcess ? baseUrl : baseUrl + throughProxy(baseUrl, proxy)

const addressOf = ({ section }: Provider): string =>
  section === 'upstream' ? '--upstream' : `${section}.provider or ${section}.base_url`

/** Names the variables that set an upstream's key. */
function keyVariables({ provider }: NamedUpstream): string {
  const { id, name } = provider
  if (id !== DEFAULT_UPSTREAM) return `${keyVariableOf(id)}, or ${provider.section}.api_keys`
  const own = presetOf(name)?.key?.variable
  return own === undefined ? 'GAZEWAY_UPSTREAM_API_KEY' : `GAZEWAY_UPSTREAM_API_KEY, or ${own}`
}
