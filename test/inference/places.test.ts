import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createRelays } from '../../src/inference/relay/relays.ts'
import type { NamedUpstream } from '../../src/inference/upstreams/named-upstream.ts'
import { createPlaces } from '../../src/inference/verbatim/places.ts'
import { routingTo, upstreamAt } from '../doubles/routing.ts'

it('what an upstream keeps that has the name of the provider of default is there, where default has no key', () => {
  const first = upstreamAt('xai', { api_key: null })
  const named = upstreamAt('xai', { id: 'xai', api_key: 'the-key-of-xai' })
  const relaysOf = (upstream: NamedUpstream) => createRelays(upstream, () => assert.fail('nothing is sent'))
  const places = createPlaces(routingTo(first, [named]), relaysOf)
  assert.equal(places.named('xai', '/files')?.[0].relays.upstream.provider.id, 'xai')
  assert.equal(places.named('openai', '/files'), null)
})
