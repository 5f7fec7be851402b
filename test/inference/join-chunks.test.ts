import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { joinChunks } from '../../src/inference/observe/join-chunks.ts'

/** The id, name and arguments of the calls that the pieces of a stream are joined to, each piece in a chunk of its own. */
function callsOf(...pieces: object[]) {
  const joined = joinChunks()
  for (const piece of pieces) joined.push({ choices: [{ index: 0, delta: { tool_calls: [piece] } }] })
  joined.push({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })
  return joined.completion().choices[0]?.message.tool_calls
}
const call = (id: string | undefined, name: string, args: string) => ({
  ...(id === undefined ? {} : { id }),
  type: 'function',
  function: { name, arguments: args },
})
const more = (args: string) => ({ function: { arguments: args } })

describe('the tool calls of a stream that is joined', () => {
  it('are distinguished by their index, in any order of their pieces', () => {
    const [a, b] = [
      { index: 0, ...call('a', 'f', '{"x"') },
      { index: 1, ...call('b', 'g', '{"y"') },
    ]
    assert.deepEqual(callsOf(a, b, { index: 0, ...more(':1}') }, { index: 1, ...more(':2}') }), [
      call('a', 'f', '{"x":1}'),
      call('b', 'g', '{"y":2}'),
    ])
  })

  for (const index of [0, undefined, null])
    it(`are distinguished by their id where each has the index ${index}`, () => {
      const at = index === undefined ? {} : { index }
      const [a, b] = [
        { ...at, ...call('a', 'f', '{"x":1}') },
        { ...at, ...call('b', 'g', '{"y"') },
      ]
      assert.deepEqual(callsOf(a, b, { ...at, ...more(':2}') }), [call('a', 'f', '{"x":1}'), call('b', 'g', '{"y":2}')])
    })

  it('are one where their index comes with its id again', () => {
    const [first, second] = [
      { index: 0, ...call('a', 'f', '{"x"') },
      { index: 0, id: 'a', ...more(':1}') },
    ]
    assert.deepEqual(callsOf(first, second), [call('a', 'f', '{"x":1}')])
  })

  it('begin with their names where they have neither index nor id', () => {
    const calls = [call(undefined, 'f', '{}'), call(undefined, 'f', '{"y":2}')]
    assert.deepEqual(callsOf(...calls), calls)
  })
})
