import assert from 'node:assert/strict'
import { GazewayError } from '../../src/errors.ts'

/** Returns the GazewayError that `work` throws. Fails if it throws nothing or another error. */
export function errorOf(work: () => unknown): GazewayError {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof GazewayError, String(error))
    return error
  }
  assert.fail('it threw nothing')
}
