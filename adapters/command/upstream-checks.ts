import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import { firstForChat } from '../../src/inference/model-for.ts'
import { idsOf, lackingNames, readModels } from '../../src/inference/model-list.ts'
import type { NamedUpstream } from '../../src/inference/named-upstream.ts'
import { DEFAULT_UPSTREAM, type Provider } from '../../src/inference/provider.ts'
import { routeTarget } from '../../src/inference/routing.ts'
import { keyVariableOf } from '../../src/providers/key-variable.ts'
import { presetOf } from '../../src/providers/providers.ts'
import type { Check } from './check.ts'

const ROLES = ['chat', 'primary', 'fallback'] as const
/** Timeout of an upstream's list of models, in milliseconds. */
export const PATIENCE_MS = 10_000

/** Creates a check for each upstream, and one for the routes if any exist. */
export function upstreamChecks({ upstream: { routing }, loaded }: Gateway): Check[] {
  const checks = routing.upstreams.map((one) => {
    const { id } = one.provider
    return {
      name: id === DEFAULT_UPSTREAM ? 'upstream' : `upstream ${id}`,
      run: (gateway: Gateway) => check(gateway, one),
    }
  })
  const { routes } = loaded.config
  return routes.length === 0 ? checks : [...checks, { name: 'routes', run: checkRoutes }]
}

async function check({ upstream, loaded }: Gateway, of: NamedUpstream): Promise<string | { warning: string }> {
  const { provider } = of
  // An upstream without a key is acceptable when another one has a key.
  if (!provider.hasKey && upstream.routing.upstreams.some((other) => other.provider.hasKey)) return withoutKey(provider)
  provider.requireKey()
  const context = { surface: 'stdio' as const, callerId: null, signal: AbortSignal.timeout(PATIENCE_MS) }
  const { status, body } = await upstream.askForModels(context, of)
  const answer = `${provider.name} at ${provider.baseUrl} answered ${status}`
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
  return compareModels(of, ids, routedTo(provider.id, loaded.config.routes))
}

function withoutKey(provider: Provider): { warning: string } {
  try {
    provider.requireKey()
    return { warning: 'has no key.' }
  } catch (error) {
    return { warning: `${(error as Error).message} Until then, this upstream is skipped.` }
  }
}

/** The models that routes request from an upstream by name. */
function routedTo(id: string, routes: Gateway['loaded']['config']['routes']): string[] {
  return routes
    .flatMap(({ to }) => to.map(routeTarget))
    .flatMap(({ upstream, model }) => (upstream === id && model !== null ? [model] : []))
}

/** Compares the models that an upstream lists with its aliases, the models of the roles and those of routes. */
function compareModels(
  { provider }: NamedUpstream,
  ids: readonly string[],
  routed: readonly string[],
): string | { warning: string } {
  const answers = `${provider.name} answers at ${provider.baseUrl}`
  const [first] = ids
  if (first === undefined) return { warning: `${answers} and lists no models: load or install one there.` }
  const names = [...new Set([...provider.aliases, ...routed])]
  const lacking = lackingNames({ resolve: provider.resolve, aliases: names }, ids).map((name) => {
    const { upstream } = provider.resolve(name, 'chat')
    return name === upstream ? name : `${upstream} (${name})`
  })
  const { section } = provider
  const settings = section === 'upstream' ? 'upstream.aliases or upstream.models' : `${section}.aliases or routes`
  if (lacking.length > 0)
    return {
      warning: `${answers} and does not list ${lacking.join(', ')}: set ${settings} to listed models, such as ${first}.`,
    }
  const open = ROLES.filter((role) => provider.isUnassigned(provider.resolve(undefined, role).requested))
  const isOpen = section === 'upstream' && open.length > 0
  const chosen = isOpen ? `; without a configured model ${open.join(', ')}: ${firstForChat(ids)}` : ''
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

const addressOf = ({ section }: Provider): string =>
  section === 'upstream' ? '--upstream' : `${section}.provider or ${section}.base_url`

/** Names the variables that set an upstream's key. */
function keyVariables({ provider }: NamedUpstream): string {
  const { id, name } = provider
  if (id !== DEFAULT_UPSTREAM) return `${keyVariableOf(id)}, or ${provider.section}.api_keys`
  const own = presetOf(name)?.key?.variable
  return own === undefined ? 'GAZEWAY_UPSTREAM_API_KEY' : `GAZEWAY_UPSTREAM_API_KEY, or ${own}`
}

const counted = (count: number, of: string): string => `${count} ${of}${count === 1 ? '' : 's'}`
