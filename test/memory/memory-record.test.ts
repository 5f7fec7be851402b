import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as z from 'zod'
import { Memory, MemoryInput, MemorySearch } from '../../src/memory/records/memory-record.ts'

const refused = (input: Record<string, unknown>) => {
  const result = MemoryInput.safeParse({ key: 'k', value: 'v', ...input })
  return result.success ? null : result.error.issues[0]?.path.join('.')
}

describe('what a memory takes', () => {
  it('has limits, each named by its field', () => {
    assert.deepEqual(MemoryInput.parse({ key: 'k', value: 'v' }), { key: 'k', value: 'v', namespace: 'default' })
    for (const input of [{ key: '' }, { key: 'x'.repeat(513) }, { key: 'a\0b' }]) assert.equal(refused(input), 'key')
    for (const namespace of ['', 'x'.repeat(129), '\0']) assert.equal(refused({ namespace }), 'namespace')
    assert.equal(refused({ tags: Array.from({ length: 33 }, (_, i) => `${i}`) }), 'tags')
    assert.equal(refused({ tags: ['ok', 'x'.repeat(65)] }), 'tags.1')
    assert.equal(refused({ also: Array.from({ length: 1_000 }, (_, i) => `word ${i}`) }), 'also')
    assert.equal(refused({ also: ['ok', 'x'.repeat(65)] }), 'also.1')
    for (const ttl_seconds of [0, 1.5, 1e12]) assert.equal(refused({ ttl_seconds }), 'ttl_seconds')
    assert.equal(refused({ if_version: -1 }), 'if_version')
    assert.equal(refused({ key: 'x'.repeat(512), tags: ['x'.repeat(64)], namespace: 'x'.repeat(128) }), null)
  })

  it('has a key, a namespace and tags of whole characters', () => {
    const half = 'wave \ud83d'
    assert.equal(refused({ key: half }), 'key')
    assert.equal(refused({ namespace: half }), 'namespace')
    assert.equal(refused({ tags: [half] }), 'tags.0')
    assert.equal(refused({ key: 'wave 👋', namespace: '👋', tags: ['👋'] }), null)
  })

  it('has a value of whole characters, its names too', () => {
    for (const value of ['\udc4b', ['a', { b: '\ud83d' }], { '\ud83d': 1 }]) assert.equal(refused({ value }), 'value')
    for (const value of ['👋', [{ '👋': '\\ud83d' }]]) assert.equal(refused({ value }), null)
    assert.equal(Memory.shape.value.safeParse('\ud83d').success, true, 'one that was stored before is read')
  })

  it('is an object with all its names', () => {
    const value = JSON.parse('{"a": 1, "__proto__": {"b": 2}, "c": {"__proto__": 3}}')
    const kept = MemoryInput.parse({ key: 'k', value }).value
    assert.equal(JSON.stringify(kept), JSON.stringify(value))
  })

  it('is text of at most 256 KiB as UTF-8, however JSON escapes it, or any JSON value of as much', () => {
    for (const value of ['', 0, false, null, [], {}, [{ a: [null] }]]) assert.equal(refused({ value }), null)
    for (const value of [undefined, () => 1, 1n]) assert.equal(refused({ value }), 'value')
    for (const letter of ['x', '\n', '"', '\u001b']) {
      assert.equal(refused({ value: letter.repeat(256 * 1024) }), null)
      assert.equal(refused({ value: letter.repeat(256 * 1024 + 1) }), 'value')
    }
    assert.equal(refused({ value: 'é'.repeat(128 * 1024) }), null)
    assert.equal(refused({ value: `${'é'.repeat(128 * 1024)}x` }), 'value')
    assert.equal(refused({ value: ['x'.repeat(256 * 1024 - 4)] }), null)
    assert.equal(refused({ value: ['x'.repeat(256 * 1024 - 3)] }), 'value')
  })

  it('does not nest without end', () => {
    const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    assert.equal(refused({ value: nested(100) }), null)
    assert.equal(refused({ value: nested(100_000) }), 'value')
  })

  it('holds no number that JSON cannot say', () => {
    for (const text of ['1e400', '{"a":[-1e400]}']) assert.equal(refused({ value: JSON.parse(text) }), 'value')
    assert.equal(refused({ value: { a: [1.7e308] } }), null)
  })

  it('holds no whole number that has lost digits on its way', () => {
    for (const text of [
      '12345678901234567890',
      '{"id":[-9007199254740993]}',
      '9007199254740992',
      '1e20',
      '1234567890123456789012345',
    ])
      assert.equal(refused({ value: JSON.parse(text) }), 'value', text)
    for (const text of [
      '9007199254740991',
      '[-9007199254740991]',
      '{"mass":1.98847e30}',
      '1e21',
      '0.1',
      '"12345678901234567890"',
    ])
      assert.equal(refused({ value: JSON.parse(text) }), null, text)
    assert.match(MemoryInput.safeParse({ key: 'k', value: 2 ** 60 }).error?.issues[0]?.message ?? '', /send it as text/)
    assert.equal(Memory.shape.value.safeParse(2 ** 60).success, true, 'one that was stored before is read')
  })

  it('is plain JSON Schema for the tools that show it', () => {
    for (const schema of [Memory, MemoryInput, MemorySearch])
      for (const io of ['input', 'output'] as const)
        assert.ok(!JSON.stringify(z.toJSONSchema(schema, { io })).includes('$ref'))
  })
})
