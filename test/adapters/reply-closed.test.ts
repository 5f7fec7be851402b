import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { readJson } from '../../adapters/web/json-body.ts'
import { onReplyClosed } from '../../adapters/web/reply-closed.ts'

/** Events of a request that a reader of its body listens to. */
const OF_BODY = ['data', 'end', 'error']

describe('what listens to a request and its reply', () => {
  const server = createServer()
  let url = ''

  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })

  after(() => {
    server.closeAllConnections()
    server.close()
  })

  /** Sends a chat. */
  async function ask() {
    const arrived = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>
    const client = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } })
    client.on('error', () => {})
    client.end('{"model":"m"}')
    const [incoming, outgoing] = await arrived
    return { client, incoming, outgoing }
  }

  it('calls all listeners of a sent reply once, by one listener of Node’s event', async () => {
    const { client, outgoing } = await ask()
    const own = outgoing.listenerCount('close')
    const called: string[] = []
    for (const name of ['first', 'second', 'third']) onReplyClosed(outgoing, () => void called.push(name))
    assert.equal(outgoing.listenerCount('close'), own + 1)
    const closed = once(outgoing, 'close')
    outgoing.end('{}')
    client.on('response', (reply) => reply.resume())
    await closed
    outgoing.emit('close')
    assert.deepEqual(called, ['first', 'second', 'third'])
  })

  it('calls them when the client disconnects', async () => {
    const { client, outgoing } = await ask()
    const closed = new Promise<void>((resolve) => onReplyClosed(outgoing, resolve))
    client.destroy()
    await closed
    assert.equal(outgoing.writableFinished, false)
  })

  it('leaves no listener on a request whose body is read', async () => {
    const { client, incoming, outgoing } = await ask()
    const before = OF_BODY.map((event) => incoming.listenerCount(event))
    const { json } = await readJson(incoming, {
      bytes: 1000,
      callerId: null,
      setting: 'http.max_body_bytes',
      buffered: null,
    })
    assert.deepEqual(json, { model: 'm' })
    assert.deepEqual(
      OF_BODY.map((event) => incoming.listenerCount(event)),
      before,
    )
    outgoing.end()
    client.destroy()
  })
})
