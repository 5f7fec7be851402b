import assert from 'node:assert/strict'
import { win32 } from 'node:path'
import { it } from 'node:test'
import { existingAbove } from '../../adapters/command/review-hold.ts'

it('Finds the folder that is there above one that is not, and ends at the top of a drive that is not there', () => {
  const exists = (folder: unknown) => folder === 'C:\\shop'
  assert.equal(existingAbove('C:\\shop\\new\\x', exists, win32.dirname), 'C:\\shop')
  assert.equal(existingAbove('Z:\\shop\\x', exists, win32.dirname), 'Z:\\')
  assert.equal(existingAbove('\\\\server\\share\\x', exists, win32.dirname), '\\\\server\\share\\')
  assert.equal(existingAbove('/no-such-folder/x'), '/')
})
