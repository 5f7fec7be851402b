import { closest } from 'fastest-levenshtein'
import { keyVariableOf } from '../providers/key-variable.ts'
import type { Config } from './config-schema.ts'
import { addressOfUpstream } from './upstream-keys.ts'

/** Maximum number of upstreams accepted. */
const MAX_UPSTREAMS = 100
const DEFAULT = 'default'

/** A fault across several fields. */
export interface RoutingFault {
  /** Field at fault, dotted. */
  param: string
  /** `FIELD: problem; must be …` */
  message: string
}

/** First fault across upstreams, routes and aliases. Null for none. */
export function routingFault(config: Config): RoutingFault | null {
  return upstreamFault(config) ?? routeFault(config) ?? aliasFault(config)
}

const fault = (param: string, problem: string): RoutingFault => ({ param, message: `${param}: ${problem}` })

function upstreamFault({ upstreams }: Config): RoutingFault | null {
  const names = Object.keys(upstreams)
  if (names.length > MAX_UPSTREAMS) return fault('upstreams', `too many; must be at most ${MAX_UPSTREAMS} upstreams.`)
  const byVariable = new Map<string, string>()
  for (const [name, entry] of Object.entries(upstreams)) {
    const other = byVariable.get(keyVariableOf(name))
    if (other !== undefined)
      return fault(
        `upstreams.${name}`,
        `needs another name; its key variable ${keyVariableOf(name)} already belongs to ${other}.`,
      )
    byVariable.set(keyVariableOf(name), name)
    if (addressOfUpstream(name, entry) === null)
      return fault(`upstreams.${name}.provider`, `unknown provider ${name}; must be a known provider, or a base URL.`)
  }
  return null
}

function routeFault({ routes, upstreams }: Config): RoutingFault | null {
  const names = [DEFAULT, ...Object.keys(upstreams)]
  for (const [at, { to }] of routes.entries())
    for (const [place, target] of to.entries()) {
      const name = typeof target === 'string' ? (target.split('/')[0] ?? '') : target.upstream
      if (names.includes(name)) continue
      const field = `routes.${at}.to.${place}${typeof target === 'string' ? '' : '.upstream'}`
      return fault(
        field,
        `unknown upstream ${name}; must be one of ${names.join(', ')}. Did you mean ${closest(name, names)}?`,
      )
    }
  return null
}

function aliasFault({ upstream, upstreams }: Config): RoutingFault | null {
  const all = [
    ['upstream.aliases', upstream.aliases] as const,
    ...Object.entries(upstreams).map(([name, { aliases }]) => [`upstreams.${name}.aliases`, aliases] as const),
  ]
  for (const [key, aliases] of all) {
    const circle = circleIn(new Map(Object.entries(aliases)))
    if (circle)
      return fault(key, `${circle.join(' → ')} is a cycle; each alias must end at the provider's own model id.`)
  }
  return null
}

/** Finds a cycle of names. A name may refer to itself. */
function circleIn(aliases: ReadonlyMap<string, string>): string[] | null {
  const sound = new Set<string>()
  for (const start of aliases.keys()) {
    const way: string[] = []
    for (let name = start; !sound.has(name); ) {
      const at = way.indexOf(name)
      if (at !== -1) return [...way.slice(at), name]
      way.push(name)
      const next = aliases.get(name)
      if (next === undefined || next === name) break
      name = next
    }
    for (const name of way) sound.add(name)
  }
  return null
}
