import assert from 'node:assert/strict'
import { it } from 'node:test'
import { refusalIn } from '../../src/inference/dialect/refusal.ts'

const refusalOf = (status: number, body: string) =>
  refusalIn({ kind: 'whole', status, headers: {}, announced: undefined, body: Buffer.from(body) })

it('reads the beginning alone of a refusal that quotes a long request', () => {
  const quoted = `id: ${'tool id '.repeat(100_000)}`
  assert.ok((refusalOf(500, quoted)?.message.length ?? 0) <= 8000)
  assert.ok((refusalOf(400, JSON.stringify({ error: { message: quoted } }))?.message.length ?? 0) <= 8000)
})

it('tells a refusal of a field as such from one of its value', () => {
  assert.equal(refusalOf(400, '{"error":{"message":"Unsupported parameter: seed"}}')?.isAsSuch, true)
  assert.equal(refusalOf(400, '{"error":{"message":"seed must be positive"}}')?.isAsSuch, false)
})
