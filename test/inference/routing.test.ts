import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Route, Routing } from '../../src/inference/route/routing.ts'
import { errorOf } from '../doubles/error-of.ts'
import { routingTo, upstreamAt } from '../doubles/routing.ts'

const at = (id: string, over: object = {}, listed: readonly string[] = []) =>
  upstreamAt('http://127.0.0.1:1/v1', { id, ...over }, listed)
const route = (model: string, to: Route['to'], strategy: Route['strategy'] = 'order'): Route => ({
  model,
  to,
  strategy,
})

const first = upstreamAt('http://127.0.0.1:1/v1')
const fast = at('fast', { serves: ['llama-*'], weight: 3 })
const wide = at('wide', { serves: ['*'], aliases: { small: 'wide-small-1' } })

describe('the upstreams that can answer for a model', () => {
  const routing = routingTo(
    first,
    [fast, wide],
    [
      route('gpt-*', ['wide', 'fast/llama-4', { upstream: 'default', model: 'gpt-local', weight: 7 }]),
      route('gpt-5', ['fast']),
    ],
  )
  const found = (asked: string | undefined) =>
    routing.targets(asked, 'chat').all.map(({ upstream, model, weight }) => [upstream.provider.id, model, weight])

  for (const [what, asked, expected] of [
    [
      'the first route that fits',
      'gpt-5',
      [
        ['wide', 'gpt-5', 1],
        ['fast', 'llama-4', 3],
        ['default', 'gpt-local', 7],
      ],
    ],
    ['an upstream by its name', 'wide/some/model', [['wide', 'some/model', 1]]],
    ['default by its name', 'default/m', [['default', 'm', 1]]],
    ['the first upstream whose globs match', 'llama-4', [['fast', 'llama-4', 3]]],
    ['a later upstream whose globs match', 'nobody/knows', [['wide', 'nobody/knows', 1]]],
    ['a name that every object has', 'constructor/x', [['wide', 'constructor/x', 1]]],
    ['no model after the slash', 'fast/', [['wide', 'fast/', 1]]],
    ['no upstream before the slash', '/m', [['wide', '/m', 1]]],
    ['the model of the role', undefined, [['wide', 'c', 1]]],
  ] as const)
    it(`are those of ${what}`, () => assert.deepEqual(found(asked), expected))

  it('are only default for a model that no upstream claims, under its own name', () => {
    const { all } = routingTo(first, [fast]).targets('mine', 'chat')
    assert.deepEqual(
      all.map(({ upstream, model }) => [upstream.provider.id, model]),
      [['default', 'mine']],
    )
  })

  it('are without those whose key is missing', () => {
    const keyless = at('groq', { provider: 'groq', api_key: null })
    const { all } = routingTo(first, [keyless, wide], [route('m', ['groq', 'wide'])]).targets('m', 'chat')
    assert.deepEqual(
      all.map(({ upstream }) => upstream.provider.id),
      ['wide'],
    )
  })

  it('are an error when all keys are missing, which says how to set them', () => {
    const keyless = at('groq', { provider: 'groq', api_key: null })
    const { code, message } = errorOf(() => routingTo(first, [keyless]).targets('groq/llama-4', 'chat'))
    assert.equal(code, 'upstream_not_configured')
    assert.match(message, /GROQ_API_KEY, GAZEWAY_UPSTREAM_GROQ_API_KEYS or upstreams\.groq\.api_keys/)
  })

  it('are an error for a model that only the keyless default could serve; it suggests the nearest model', () => {
    const keyless = upstreamAt('xai', { provider: 'xai', api_key: null })
    const listing = at('fast', {}, ['fast/llama-4', 'fast/qwen-3'])
    const routing = routingTo(keyless, [listing], [route('exact-name', ['fast'])])
    const { code, status, message, param } = errorOf(() => routing.targets('fast/llama4'.slice(5), 'chat'))
    assert.deepEqual([code, status, param], ['model_not_found', 404, 'model'])
    assert.match(message, /"llama4"; the nearest is fast\/llama-4\./)
    assert.match(errorOf(() => routing.targets('exact-nam', 'chat')).message, /the nearest is exact-name\./)
    assert.equal(errorOf(() => routing.targets(undefined, 'chat')).code, 'upstream_not_configured')
  })

  it('are the first alone for a client with its own key, which ours need not be beside', () => {
    const keyless = at('groq', { provider: 'groq', api_key: null })
    const none = upstreamAt('xai', { provider: 'xai', api_key: null })
    const of = (routing: Routing, model?: string) => routing.first(model, 'chat').upstream.provider.id
    assert.equal(of(routingTo(first, [keyless, wide], [route('m', ['groq', 'wide'])]), 'm'), 'groq')
    assert.equal(of(routingTo(first, [keyless]), 'groq/llama-4'), 'groq')
    assert.equal(of(routingTo(none), 'grok'), 'default')
    assert.equal(errorOf(() => of(routingTo(none, [fast]), 'claude')).code, 'model_not_found', 'a key for another')
  })

  it('name the provider’s id of a model', () => {
    assert.equal(routing.idOf('wide/small'), 'wide-small-1')
    assert.equal(routing.idOf('small'), 'wide-small-1')
    assert.equal(routing.idOf('fast/x'), 'x')
  })
})
