// A test file whose start fails once its double is there, and whose end fails before it has closed that one.
import { after, before, describe, it } from 'node:test'
import { startUpstream, type UpstreamDouble } from './upstream.ts'

describe('a start that fails', () => {
  let upstream: UpstreamDouble
  let running: UpstreamDouble
  before(async () => {
    upstream = await startUpstream()
    running = await Promise.reject(new Error('The port is taken.'))
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })
  it('runs no case', () => {})
})
