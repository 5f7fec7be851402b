import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readAsMeant } from '../../src/wire/lenient-tool-arguments.ts'
import { parseInput } from '../../src/wire/validation.ts'
import { tools } from '../../tools/index.ts'

/** Reads the arguments of a tool as a call does. */
function read(name: string, args: Record<string, unknown>): Record<string, unknown> {
  const tool = tools.find((known) => known.name === name)
  assert.ok(tool)
  return parseInput(tool.input, readAsMeant(tool.input, args))
}

describe('arguments of a tool', () => {
  it('may be null or an empty text where they are absent, in all twelve tools', () => {
    assert.equal(tools.length, 12)
    for (const { input } of tools)
      for (const [name, field] of Object.entries(input.shape))
        for (const absent of [null, '']) {
          const isOptional = field.safeParse(undefined).success && !field.safeParse(absent).success
          if (isOptional) assert.deepEqual(readAsMeant(input, { [name]: absent }), {}, `${name}: ${absent}`)
        }
    const { namespace, tags, if_version } = read('gateway_memory_store', {
      key: 'k',
      value: 1,
      namespace: '',
      tags: null,
      if_version: null,
    })
    assert.deepEqual([namespace, tags, if_version], ['default', undefined, undefined])
  })

  it('may be numbers, truths and lists as text', () => {
    assert.equal(read('gateway_memory_search', { query: 'q', limit: '5' }).limit, 5)
    assert.equal(read('gateway_llm_query', { query: 'q', include_context: 'false' }).include_context, false)
    for (const forget of [false, 'false'])
      assert.equal(read('gateway_memory_store', { key: 'k', value: 1, forget }).forget, false)
    for (const tags of ['["a","b"]', 'a, b'])
      assert.deepEqual(read('gateway_memory_store', { key: 'k', value: 1, tags }).tags, ['a', 'b'])
  })

  it('stay as they are where they fit: a text of digits, an empty value, no project', () => {
    const { key, value, project } = read('gateway_memory_store', { key: '5', value: '', project: null })
    assert.deepEqual([key, value, project], ['5', '', null])
    assert.equal(read('gateway_memory_store', { key: 'k', value: '[1]' }).value, '[1]')
  })

  it('are refused where nothing else can be meant, by their name', () => {
    for (const [args, param] of [
      [{ query: 'q', limit: 'many' }, 'limit'],
      [{ query: 'q', limit: '1000' }, 'limit'],
      [{ query: null }, 'query'],
      [{ query: 'q', colour: null }, 'colour'],
    ] as const)
      assert.throws(() => read('gateway_memory_search', args), { code: 'validation_failed', param })
  })
})
