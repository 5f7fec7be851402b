import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createReferences } from '../../src/inference/reasoning/references.ts'

const call = (id: unknown, args: string, name = 'look') => ({ id, function: { name, arguments: args } })
const calling = (...tool_calls: object[]) => ({ role: 'assistant', tool_calls })
const asks = (content: unknown, tool_call_id?: string) => ({
  role: 'user',
  content,
  ...(tool_call_id && { tool_call_id }),
})
const said = (content: unknown) => ({ role: 'assistant', content })

/** Messages, each with the one before it, of which some differ in what is no part of a short key. */
const MESSAGES: [message: Record<string, unknown>, before: Record<string, unknown> | null][] = [
  [calling(call('call_1', '{"at":1}')), null],
  [calling(call('call_1', '{"at":2}')), null],
  [calling(call('call_1', '{"at":1}', 'find')), null],
  [calling(call('call_1', '{"at":1}'), call('call_2', '{"at":3}')), null],
  [calling(call('call_1', '{"at":1}'), call('call_2', '{"at":4}')), null],
  [calling(call('call_1', '{"at":1}'), call('call_3', '{"at":4}')), null],
  [said('There.'), asks('Where?')],
  [said('Theme.'), asks('Where?')],
  [said('There.'), asks('When??')],
  [said('There.'), { role: 'tool', content: 'Where?' }],
  [said('There.'), asks('Where?', 'call_1')],
]

describe('references to answers', () => {
  it('are those of a fresh start, whatever came before, and differ where messages do', () => {
    const fresh = MESSAGES.map(([message, before]) => createReferences()(() => 'mine', message, before))
    assert.equal(new Set(fresh).size, MESSAGES.length)
    const referenceOf = createReferences()
    for (const bound of ['mine', 'other', 'mine'])
      for (const [index, [message, before]] of [...MESSAGES, ...MESSAGES.toReversed()].entries()) {
        const at = index < MESSAGES.length ? index : 2 * MESSAGES.length - 1 - index
        assert.equal(referenceOf(() => bound, message, before) === fresh[at], bound === 'mine')
      }
  })

  it('do not depend on spaces in arguments, nor on the form of a text', () => {
    const referenceOf = createReferences()
    const of = (message: object, before: object | null = null) =>
      referenceOf(() => 'mine', message as Record<string, unknown>, before as Record<string, unknown> | null)
    assert.equal(of(calling(call('call_1', '{ "at": 1 }'))), of(calling(call('call_1', '{"at":1}'))))
    assert.equal(of(said([{ type: 'text', text: 'There.' }]), asks('Where?')), of(said('There. '), asks(' Where?')))
    assert.equal(of(said(''), asks('Where?')), null)
    assert.equal(of(said('There.')), null)
  })
})
