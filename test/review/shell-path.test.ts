import assert from 'node:assert/strict'
import { it } from 'node:test'
import { systemPath } from '../../src/review/shell-path.ts'

it('A path of a POSIX shell is read as the system has it, also where Git for Windows has named a drive', () => {
  assert.equal(systemPath('/c/shop/api', 'win32'), 'C:/shop/api')
  assert.equal(systemPath('/D', 'win32'), 'D:/')
  assert.equal(systemPath('D:/shop', 'win32'), 'D:/shop')
  assert.equal(systemPath('/usr/bin', 'win32'), '/usr/bin')
  assert.equal(systemPath('~/shop', 'win32', 'C:\\Users\\$&'), 'C:\\Users\\$&/shop')
  assert.equal(systemPath('/c/shop', 'linux'), '/c/shop')
  assert.equal(systemPath('~', 'linux', '/home/ann'), '/home/ann')
  assert.equal(systemPath('~shop', 'linux', '/home/ann'), '~shop')
})
