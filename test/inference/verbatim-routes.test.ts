import assert from 'node:assert/strict'
import { it } from 'node:test'
import { verbatimPassage } from '../../src/inference/passages/verbatim-passage.ts'
import { createRelays } from '../../src/inference/relay/relays.ts'
import { createVerbatimRoutes } from '../../src/inference/route/verbatim-routes.ts'
import type { NamedUpstream } from '../../src/inference/upstreams/named-upstream.ts'
import { routingTo, upstreamAt } from '../doubles/routing.ts'

it('what an upstream keeps that has the name of the provider of default is there, where default has no key', () => {
  const first = upstreamAt('xai', { api_key: null })
  const named = upstreamAt('xai', { id: 'xai', api_key: 'the-key-of-xai' })
  const relaysOf = (upstream: NamedUpstream) => createRelays(upstream, () => assert.fail('nothing is sent'))
  const routes = createVerbatimRoutes(routingTo(first, [named]), relaysOf)
  const route = { method: 'GET', path: '/files', body: 'none', cost: 'nothing' } as const
  const passage = verbatimPassage({ route, target: '/files', formType: null, visible: null })
  const way = { path: '/files', passage }
  assert.equal(routes.named('xai', way)?.[0]?.relays.upstream.provider.id, 'xai')
  assert.equal(routes.named('openai', way), null)
})
