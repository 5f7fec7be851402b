import type { Gateway } from '../../src/gateway.ts'
import { CALL_PATHS } from '../../src/inference/api/endpoints.ts'
import type { Routing } from '../../src/inference/route/routing.ts'
import type { Provider } from '../../src/inference/upstreams/provider.ts'
import { OWN_MODELS } from '../../src/providers/preset.ts'
import { presetAt } from '../../src/providers/providers.ts'
import { conventionalProvider } from './genai-names.ts'

/** Label of unknown models, paths, upstreams and providers: each distinct label would be a permanent time series. */
export const OTHER = 'other'
/** Maximum number of models with a label of their own beside those that the configuration names. */
const LABELLED = 200

/** Labels of an upstream. */
export interface UpstreamLabels {
  /** Its name in the configuration. */
  upstream: string
  /** The known provider, by the name that OpenTelemetry's conventions have for it. */
  provider: string
}

const UNKNOWN: UpstreamLabels = { upstream: OTHER, provider: OTHER }

/** Bounded labels of calls. */
export interface CallLabels {
  /** Labels of an upstream by its name in records: the same object for the same labels. */
  ofUpstream(name: string): UpstreamLabels
  /** Name of an upstream by its label for callers, as in skipped candidates. */
  ofSkipped(label: string): string
  /** The known endpoint of a path (`/v1/models` for `/v1/models/a/b`). */
  path(path: string): string
  /** The model, if the configuration, a price or the list of an upstream has it. */
  model(name: string): string
  /** Fetches the lists of models in the background if calls named unknown models since the last time. */
  refresh(): void
}

/** Labels of an upstream with a provider. */
export const labelsOf = ({ id, vendor, baseUrl }: Provider): UpstreamLabels => {
  const known = vendor ?? presetAt(baseUrl)?.name
  return { upstream: id, provider: known === undefined ? OTHER : conventionalProvider(known) }
}

/** Creates the labels. They grow with the configuration alone: a call may outlast its upstream. */
export function callLabels(gateway: Pick<Gateway, 'upstream' | 'loaded'>): CallLabels {
  const models = new Set<string>()
  const paths = new Set<string>()
  const upstreams = new Map<string, UpstreamLabels>()
  const interned = new Map<string, UpstreamLabels>()
  const skipped = new Map<string, string>()
  /** Listed and priced models that calls have named. */
  const found = new Set<string>()
  let hasUnknown = false
  let learned: Routing | undefined

  function learn(): void {
    const { routing } = gateway.upstream
    if (routing === learned) return
    learned = routing
    for (const name of routing.names) models.add(name)
    for (const { provider } of routing.upstreams) {
      const labels = labelsOf(provider)
      const key = JSON.stringify(labels)
      interned.set(key, interned.get(key) ?? labels)
      upstreams.set(provider.name, interned.get(key) ?? labels)
      skipped.set(provider.label, provider.id)
      for (const name of [...Object.values(OWN_MODELS), ...provider.aliases])
        models.add(name).add(provider.resolve(name, 'chat').upstream)
    }
    for (const endpoint of [...CALL_PATHS, ...gateway.loaded.config.upstream.allowed_paths]) paths.add(`/v1${endpoint}`)
  }
  learn()

  return {
    ofUpstream(name) {
      learn()
      return upstreams.get(name) ?? UNKNOWN
    },
    ofSkipped: (label) => skipped.get(label) ?? OTHER,
    path(path) {
      learn()
      return pathLabel(paths, path)
    },
    model(name) {
      if (models.has(name) || found.has(name)) return name
      const isPriced = Object.hasOwn(gateway.loaded.config.pricing.models, name)
      const isKnown = isPriced || gateway.upstream.routing.upstreams.some((upstream) => upstream.models.knows(name))
      hasUnknown ||= !isKnown
      if (!isKnown || found.size >= LABELLED) return OTHER
      found.add(name)
      return name
    },
    refresh() {
      if (!hasUnknown) return
      hasUnknown = false
      for (const { listed, provider } of gateway.upstream.routing.upstreams)
        if (provider.hasKey) void listed({ surface: 'http', callerId: null })
    },
  }
}

function pathLabel(known: ReadonlySet<string>, path: string): string {
  if (known.has(path)) return path
  for (const endpoint of known) if (path.startsWith(`${endpoint}/`)) return endpoint
  return OTHER
}
