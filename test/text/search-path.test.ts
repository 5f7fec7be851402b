import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ownSearchPath } from '../../src/text/search-path.ts'

it('Of a search path the folders are kept that no repository fills, on each system by its own separators', () => {
  assert.deepEqual(ownSearchPath('/usr/bin::.:bin:/work/shop/node_modules/.bin:/opt/a;b', 'linux'), [
    '/usr/bin',
    '/opt/a;b',
  ])
  const windows =
    'C:\\Windows;;.;bin;D:\\shop\\node_modules\\.bin;D:/shop/node_modules/.bin/;C:\\Program Files\\Git\\cmd'
  assert.deepEqual(ownSearchPath(windows, 'win32'), ['C:\\Windows', 'C:\\Program Files\\Git\\cmd'])
})
