import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { bundledProgram } from '../doubles/bundled-program.ts'

// Without a check, Node ends the whole process when a thread finds no file descriptor.
it('a thread does not start without file descriptors, and starts once they are free', {
  skip: process.platform === 'win32',
}, () => {
  const command = ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, bundledProgram('test/wire/thread-probe.ts')]
  const { status, signal, stdout, stderr } = spawnSync('sh', command, { encoding: 'utf8' })
  assert.deepEqual([status, signal], [0, null], stderr)
  assert.deepEqual(JSON.parse(stdout), ['internal_error', 'second'])
})
