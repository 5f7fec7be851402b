import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createChanges } from '../../src/inference/convert/reported-changes.ts'
import { mendedFields } from '../../src/inference/dialect/mend.ts'
import { knownMends } from '../../src/inference/dialect/mends.ts'

type Fields = Record<string, unknown>

/** Messages for a model whose roles must alternate. */
function alternating(messages: Fields[]): Fields[] {
  const { note } = createChanges()
  return mendedFields(knownMends('chat', ['alternate_turns'], false, []), { messages }, note).messages as Fields[]
}

const user = { role: 'user', content: 'Go on.' }
const answer = (content: string, more: Fields = {}) => ({ role: 'assistant', content, ...more })

it('answers that are joined keep the reasoning of each, in order', () => {
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }
  assert.deepEqual(
    alternating([
      user,
      answer('One.', { reasoning_content: 'First.' }),
      answer('Two.', { reasoning_content: 'Second.', tool_calls: [call] }),
    ]),
    [user, answer('One.\n\nTwo.', { reasoning_content: 'First.\n\nSecond.', tool_calls: [call] })],
  )
  const [one, two] = [
    { type: 'reasoning.encrypted', data: 'x' },
    { type: 'reasoning.text', text: 'y' },
  ]
  const joined = alternating([
    answer('One.', { reasoning: 'First.', reasoning_details: [one] }),
    answer('Two.', { reasoning_details: [two] }),
    answer('Three.'),
  ])
  assert.deepEqual(joined, [answer('One.\n\nTwo.\n\nThree.', { reasoning: 'First.', reasoning_details: [one, two] })])
})
