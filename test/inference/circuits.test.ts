import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { type Circuit, createCircuits } from '../../src/inference/upstreams/circuits.ts'
import { createCooldowns } from '../../src/inference/upstreams/cooldowns.ts'
import { holdTime } from '../adapters/held-clock.ts'

const circuitOf = (model: string, callerId: string | null): Circuit => ({ path: '/chat/completions', model, callerId })

/** The circuits of an upstream, and requests over them. */
function openCircuits(t: TestContext) {
  const pass = holdTime(t)
  const circuits = createCircuits()
  const send = (model: string, callerId: string | null, isLastResort = false) => {
    const report = circuits.admit(circuitOf(model, callerId), isLastResort)
    return typeof report === 'number' ? null : report
  }
  const fail = (times: number, model: string, callerId: string | null) => {
    for (let i = 0; i < times; i++) send(model, callerId)?.answered(503)
  }
  const isOpen = (model: string, callerId: string | null) => circuits.isOpen(circuitOf(model, callerId))
  return { circuits, pass, send, fail, isOpen }
}

describe('the circuits of an upstream', () => {
  it('open for the model that fails, and no other', (t) => {
    const { fail, isOpen, circuits } = openCircuits(t)
    fail(10, 'bad', 'key_a')
    assert.deepEqual([isOpen('bad', 'key_a'), isOpen('good', 'key_a')], [true, false])
    assert.equal(circuits.isOpen({ ...circuitOf('bad', 'key_a'), path: '/responses' }), false, 'nor another endpoint')
  })

  it('open to the caller whose requests fail, and to no other', (t) => {
    const { fail, isOpen, send } = openCircuits(t)
    fail(1000, 'm', 'hostile')
    assert.deepEqual([isOpen('m', 'hostile'), isOpen('m', 'key_b'), isOpen('m', null)], [true, false, false])
    fail(4, 'm', 'key_b')
    assert.equal(isOpen('m', 'key_b'), false, 'a few failures of its own beside them')
    send('m', 'key_b')?.answered(200)
    assert.equal(isOpen('m', 'hostile'), false, 'an answer to anyone proves that it is back')
  })

  it('open to everyone once several callers have failed', (t) => {
    const { fail, isOpen, circuits } = openCircuits(t)
    fail(5, 'm', 'key_a')
    fail(5, 'm', 'key_b')
    assert.equal(isOpen('m', 'key_c'), true)
    assert.deepEqual(circuits.open(), [{ path: '/chat/completions', model: 'm', for_everyone: true }])
  })

  it('are not opened by errors that are answers', (t) => {
    const { send, isOpen } = openCircuits(t)
    for (const status of [400, 401, 404, 429, 500]) for (let i = 0; i < 20; i++) send('m', null)?.answered(status)
    assert.equal(isOpen('m', null), false)
  })

  it('open for the whole upstream when it accepts no connection, and close with the first that it accepts', (t) => {
    const { send, isOpen, pass, circuits } = openCircuits(t)
    for (let i = 0; i < 10; i++) send(`model-${i}`, `key_${i}`)?.failed()
    assert.equal(isOpen('any', 'anyone'), true)
    assert.deepEqual(circuits.open(), [{ path: null, model: null, for_everyone: true }])
    pass(1000)
    const probe = send('any', 'anyone')
    assert.equal(isOpen('other', 'another'), true, 'until the probe reports')
    probe?.connected()
    assert.equal(isOpen('other', 'another'), false, 'before it has its answer')
  })

  it('stay closed for the upstream when it takes requests and answers none', (t) => {
    const { send, isOpen } = openCircuits(t)
    for (let i = 0; i < 20; i++) {
      const report = send('crashing', 'hostile')
      report?.connected()
      report?.failed()
    }
    assert.deepEqual([isOpen('crashing', 'hostile'), isOpen('other', 'hostile')], [true, false])
  })

  it('probe one model without longer pauses for another', (t) => {
    const { fail, isOpen, pass, send } = openCircuits(t)
    fail(10, 'probed', null)
    for (let i = 0; i < 5; i++) {
      pass(15_000)
      send('probed', null)?.answered(503)
    }
    fail(10, 'new', null)
    pass(1000)
    assert.deepEqual([isOpen('probed', null), isOpen('new', null)], [true, false])
  })

  it('keep the thousand models that failed last', (t) => {
    const { fail, isOpen, circuits } = openCircuits(t)
    for (let i = 0; i < 1001; i++) fail(10, `model-${i}`, null)
    assert.equal(circuits.open().length, 1000)
    assert.deepEqual([isOpen('model-0', null), isOpen('model-1', null)], [false, true])
  })

  it('forget models that answer again', (t) => {
    const { fail, circuits, send, pass } = openCircuits(t)
    fail(10, 'm', null)
    pass(1000)
    send('m', null)?.answered(200)
    assert.deepEqual(circuits.open(), [])
  })
})

describe('the cooldowns of the keys of an upstream', () => {
  it('hold for the model that is limited, and for all once the key is rejected', (t) => {
    const pass = holdTime(t)
    const cooldowns = createCooldowns()
    cooldowns.limit('our-key', circuitOf('m', 'key_a'), 5000)
    assert.equal(cooldowns.leftMs('our-key', circuitOf('m', 'key_a')), 5000)
    assert.equal(cooldowns.leftMs('our-key', circuitOf('other', 'key_a')), 0)
    cooldowns.reject('our-key', 1000)
    assert.equal(cooldowns.leftMs('our-key', circuitOf('other', 'key_b')), 1000)
    assert.equal(cooldowns.leftMs('our-key', null), 1000)
    pass(1000)
    assert.equal(cooldowns.leftMs('our-key', circuitOf('other', 'key_b')), 0)
    pass(4000)
    assert.deepEqual(cooldowns.list(), [])
  })

  it('hold for the caller that met the limit, and for all once a second one has met it', (t) => {
    holdTime(t)
    const cooldowns = createCooldowns()
    cooldowns.limit('our-key', circuitOf('m', 'hostile'), 5000)
    assert.equal(cooldowns.leftMs('our-key', circuitOf('m', 'key_b')), 0)
    cooldowns.limit('our-key', circuitOf('m', 'key_b'), 1000)
    assert.equal(cooldowns.leftMs('our-key', circuitOf('m', 'key_c')), 5000)
  })

  it('are a thousand at most', (t) => {
    holdTime(t)
    const cooldowns = createCooldowns()
    for (let i = 0; i < 1001; i++) cooldowns.limit('our-key', circuitOf(`model-${i}`, null), 5000)
    assert.equal(cooldowns.list().length, 1000)
  })
})
