import assert from 'node:assert/strict'
import { it } from 'node:test'
import { faultOf } from '../../adapters/web/listen.ts'

it('A port that may not be listened on is refused for the reason that the system has', () => {
  const cause = Object.assign(new Error('listen EACCES'), { code: 'EACCES' })
  const address = { host: '127.0.0.1', port: 811, flag: '--port' }
  assert.match(faultOf(cause, address, 'linux').message, /^--port: .* port 811; must be a port from 1024/)
  assert.match(faultOf(cause, address, 'win32').message, /^--port: Windows keeps port 811 .*excludedportrange/)
})
