import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as z from 'zod'
import { toInvalidParams } from '../../adapters/stdio/invalid-params.ts'

const failed = (code: number, message: string) => ({ jsonrpc: '2.0' as const, id: 1, error: { code, message } })

describe('an answer to parameters that a method does not take', () => {
  it('names the fields in sentences, under the code for it', () => {
    const Request = z.object({ params: z.object({ level: z.enum(['a', 'b']), count: z.number() }) })
    const refused = Request.safeParse({ params: { level: 'c', count: 'x' } }).error?.message ?? ''
    const told = failed(
      -32602,
      'params.level: Invalid option: expected one of "a"|"b". params.count: Invalid input: expected number, received string.',
    )
    assert.deepEqual(toInvalidParams(failed(-32603, refused)), told)
    assert.deepEqual(toInvalidParams(failed(-32602, `Invalid tools/call request: ${refused}`)), told)
  })

  it('leaves every other message as it is', () => {
    for (const message of [
      failed(-32603, 'The disk is full.'),
      failed(-32603, '[]'),
      failed(-32603, '["a"]'),
      failed(-32601, 'Method not found'),
      { jsonrpc: '2.0' as const, id: 1, result: {} },
      { jsonrpc: '2.0' as const, method: 'notifications/message' },
    ])
      assert.equal(toInvalidParams(message), message)
  })
})
