import type { CallContext } from '../../calls/call-record.ts'
import type { Routing } from '../route/routing.ts'
import type { Model } from './model-list.ts'

/**
 * Models that clients can request: those named by routes, then the names and lists of all upstreams with a key, without
 * duplicates.
 */
export async function mergedModels({ upstreams, names }: Routing, context: CallContext): Promise<Model[]> {
  const withKey = upstreams.filter(({ provider }) => provider.hasKey)
  const asked = withKey.length === 0 ? [upstreams[0]] : withKey
  const lists = await Promise.all(asked.map(({ models }) => models.all(context)))
  const routed = names.map((id) => ({ id, object: 'model' as const, created: 0, owned_by: 'gazeway' }))
  const known = new Map([...routed, ...lists.flat()].map((model) => [model.id, model]))
  return [...known.values()]
}
