import assert from 'node:assert/strict'
import { it } from 'node:test'
import { mendsFor } from '../../src/inference/dialect/mends.ts'
import { refusalIn } from '../../src/inference/dialect/refusal.ts'

const refusalOf = (status: number, body: string) =>
  refusalIn({ kind: 'whole', status, headers: {}, announced: undefined, body: Buffer.from(body) })

it('reads the beginning alone of a refusal that quotes a long request', () => {
  const quoted = `id: ${'tool id '.repeat(100_000)}`
  assert.ok((refusalOf(500, quoted)?.message.length ?? 0) <= 8000)
  assert.ok((refusalOf(400, JSON.stringify({ error: { message: quoted } }))?.message.length ?? 0) <= 8000)
})

it('reads why a request is refused behind a long quote of it', () => {
  const why = 'to gemini tool calls. Received error=Missing corresponding tool call for tool response message.'
  const quote = `Unable to convert openai tool calls={'role': 'assistant', 'content': '${'so '.repeat(10_000)}'} ${why}`
  const refusal = refusalOf(500, JSON.stringify({ error: { message: quote } }))
  assert.ok(refusal?.message.endsWith(why))
  assert.ok(refusal && mendsFor('chat', refusal, []).some(({ name }) => name === 'tool_pairs'))
})

it('tells a refusal of a field as such from one of its value', () => {
  assert.equal(refusalOf(400, '{"error":{"message":"Unsupported parameter: seed"}}')?.isAsSuch, true)
  assert.equal(refusalOf(400, '{"error":{"message":"seed must be positive"}}')?.isAsSuch, false)
})
