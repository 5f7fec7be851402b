import assert from 'node:assert/strict'
import { GazewayError } from '../../src/errors.ts'

/** The GazewayError that `work` throws. Fails where it throws nothing, or something else. */
export function errorOf(work: () => unknown): GazewayError {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof GazewayError, String(error))
    return error
  }
  assert.fail('it threw nothing')
}
