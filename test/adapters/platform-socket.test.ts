import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { freePort } from '../doubles/free-port.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'
import { connectWithKey, openSocket, refusalOf, type SocketClient, ticketOf, type Welcomed } from './socket-client.ts'

const PROTOCOL = 'gazeway.v1'
const answers = double.json(200, double.completion('Hello, Ada.'))

describe('the agent socket', () => {
  let upstream: double.UpstreamDouble
  let running: RunningPlatform
  before(async () => {
    upstream = await double.startUpstream()
    running = await startPlatform(upstream.url, {
      document: { upstream: { max_retries: 0 } },
      withHttp: false,
    })
  })
  beforeEach(() => {
    upstream.received.length = 0
    upstream.on('/chat/completions', answers)
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })

  const chat = async (client: SocketClient, content = 'Hello.') => {
    client.send({ type: 'chat', user: 'ada', content })
    return client.next()
  }
  const close = async (client: SocketClient) => {
    client.ws.close()
    await client.closed
  }

  describe('lets in', () => {
    it('a ticket that is offered as a subprotocol, and echoes only its own', async () => {
      const { id, ticket, url } = await ticketOf(running)
      assert.equal(url, `${running.url.replace('http', 'ws')}/agent`)
      const client = await openSocket(running.url, { protocols: [PROTOCOL, `ticket.${ticket}`] })
      assert.equal(client.ws.protocol, PROTOCOL)
      const { session_id, ...ready } = await client.next()
      assert.deepEqual(ready, { type: 'ready', connection_id: id, role: 'user' })
      assert.match(String(session_id), /^ses_[0-9a-f]{32}$/)
      await close(client)
    })

    it('a ticket in the first frame, with the session that it asks for', async () => {
      const { id, ticket } = await ticketOf(running)
      const client = await openSocket(running.url)
      client.send({ type: 'auth', ticket, session_id: 'ses_asked', id: 'hello' })
      assert.deepEqual(await client.next(), {
        type: 'ready',
        connection_id: id,
        session_id: 'ses_asked',
        role: 'user',
        id: 'hello',
      })
      await close(client)
    })

    it('a key with the scope platform, and an admin’s as an admin', async () => {
      for (const [key, role] of [
        [running.key, 'user'],
        [running.admin, 'admin'],
      ] as const) {
        const client = await connectWithKey(running, key)
        assert.deepEqual([client.ready.type, client.ready.role], ['ready', role])
        await close(client)
        const other = await openSocket(running.url, { headers: { 'x-gazeway-key': key } })
        // Without a key, it is refused.
        other.send({ type: 'ping' })
        assert.equal((await other.next()).role, role)
        await close(other)
      }
    })

    it('a client that sends its first chat without waiting', async () => {
      const { ticket } = await ticketOf(running)
      const client = await openSocket(running.url)
      client.send({ type: 'auth', ticket })
      client.send({ type: 'chat', content: 'x'.repeat(20_000), id: 1 })
      assert.equal((await client.next()).type, 'ready')
      const { type, id } = await client.next()
      assert.deepEqual([type, id], ['reply', 1])
      await close(client)
    })
  })

  it('is where the configuration says that others reach it, for who came by that host', async () => {
    const port = await freePort()
    const served = async (public_url: string) => {
      const platform = await startPlatform('sandbox', {
        document: { chain: { agent: { public_url } } },
        withHttp: false,
        platformPort: port,
      })
      const { url } = await ticketOf(platform)
      await platform.close()
      return url
    }
    assert.equal(await served(`https://127.0.0.1:${port}/`), `wss://127.0.0.1:${port}/agent`)
    assert.equal(await served('https://agent.example.com'), `ws://127.0.0.1:${port}/agent`)
  })

  describe('closes with 4401', () => {
    const refused = async (client: SocketClient, reason: RegExp) => {
      const { code, reason: said } = await client.closed
      assert.equal(code, 4401)
      assert.match(said, reason)
    }
    const withTicket = (ticket: string) => openSocket(running.url, { protocols: [PROTOCOL, `ticket.${ticket}`] })

    it('the second use of a ticket, however close to the first', async () => {
      const { ticket } = await ticketOf(running)
      const clients = await Promise.all(Array.from({ length: 8 }, () => withTicket(ticket)))
      const outcomes = await Promise.all(
        clients.map((client) =>
          Promise.race([client.next().then(({ type }) => type), client.closed.then(() => 'refused')]).catch(
            () => 'refused',
          ),
        ),
      )
      assert.deepEqual(outcomes.toSorted().slice(0, 2), ['ready', 'refused'])
      for (const client of clients) await close(client)
    })

    it('a ticket that has expired', async () => {
      const { ticket, id } = await ticketOf(running)
      const at = new Date(Date.now() - 1).toISOString()
      await running.gateway.store.db
        .updateTable('connection_tickets')
        .set({ expires_at: at })
        .where('id', '=', id)
        .execute()
      await refused(await withTicket(ticket), /^invalid_ticket$/)
    })

    it('a ticket that was never created, or is malformed', async () => {
      await refused(await withTicket(`gzt_${'a'.repeat(43)}`), /^invalid_ticket$/)
      await refused(await withTicket('nonsense'), /^invalid_ticket$/)
    })

    it('a ticket whose key was revoked', async () => {
      const { key, record } = await running.gateway.keys.create({ name: 'gone', scopes: ['platform'] })
      const { ticket } = await ticketOf(running, { key })
      await running.gateway.keys.revoke(record.id)
      await refused(await withTicket(ticket), /^invalid_ticket$/)
    })

    it('a key that is unknown or has another scope', async () => {
      const bearer = (key: string) => openSocket(running.url, { headers: { authorization: `Bearer ${key}` } })
      await refused(await bearer('gzw_unknown'), /^invalid_api_key$/)
      const { key } = await running.gateway.keys.create({ name: 'other', scopes: ['inference'] })
      await refused(await bearer(key), /^insufficient_scope$/)
    })

    it('a chat before auth, a binary frame and nonsense', async () => {
      for (const frame of [{ type: 'chat', content: 'Hello.' }, '{', '[]', { type: 'auth' }]) {
        const client = await openSocket(running.url)
        client.send(frame)
        await refused(client, /^The first frame must be auth\./)
      }
      const client = await openSocket(running.url)
      client.ws.send(Buffer.from('{}'))
      await refused(client, /must be text/)
    })
  })

  it('closes with 1009 what is over 4 KiB before auth, whole or not', async () => {
    const { ticket } = await ticketOf(running)
    const client = await openSocket(running.url)
    client.send({ type: 'auth', ticket, session_id: 'x'.repeat(5000) })
    assert.equal((await client.closed).code, 1009)
    const slow = await openSocket(running.url)
    slow.ws.send('x'.repeat(100_000), { fin: false })
    assert.equal((await slow.closed).code, 1009)
  })

  it('refuses a foreign Origin with 403, another path with 404, and what is no WebSocket handshake', async () => {
    const foreign = await refusalOf(running.url, { headers: { origin: 'https://evil.example' } })
    assert.equal(foreign.status, 403)
    assert.match(foreign.body, /"code":"forbidden_origin"/)
    assert.equal((await refusalOf(running.url, { path: '/other' })).status, 404)
    const misnamed = await refusalOf(running.url, { path: '/agent?session_id=a%20b' })
    assert.equal(misnamed.status, 422)
    assert.equal(JSON.parse(misnamed.body).error.param, 'session_id')
    const { status, body } = await raw(
      'GET /agent HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    )
    assert.equal(status, 400)
    assert.match(body, /"code":"invalid_request"/)
    const handshake =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
    for (const hosts of ['Host: localhost\r\nHost: localhost', 'Host: evil.example\r\nHost: localhost'])
      assert.equal((await raw(`GET /agent HTTP/1.1\r\n${hosts}\r\n${handshake}\r\n\r\n`)).status, 400)
  })

  it('leaves requests that offer another protocol to the routes', async () => {
    const offers = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'
    const { status } = await raw(`GET /health HTTP/1.1\r\nHost: localhost\r\n${offers}\r\n`)
    assert.equal(status, 200)
    const body = JSON.stringify({ user: 'ada' })
    const head =
      `POST /api/connections HTTP/1.1\r\nHost: localhost\r\n${offers}Authorization: Bearer ${running.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    for (const pieces of [[head + body], [head, body], [head + body.slice(0, 5), body.slice(5)]])
      assert.equal((await raw(...pieces)).status, 201, `in ${pieces.length} pieces`)
  })

  it('answers each of many requests on a connection that offer another protocol', async (t) => {
    const warnings: Error[] = []
    const warn = (warning: Error) => void warnings.push(warning)
    process.on('warning', warn)
    t.after(() => process.off('warning', warn))
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    const request = (id: number) =>
      `GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nX-Request-Id: r${id}\r\n\r\n`
    const pipelined = 3
    socket.write(Array.from({ length: pipelined }, (_, id) => request(id)).join(''))
    let sent = pipelined
    let text = ''
    const answered = () => [...text.matchAll(/x-request-id: (r\d+)/g)].map(([, id]) => id)
    for await (const chunk of socket) {
      text += chunk
      if (answered().length === 20) break
      if (answered().length === sent) socket.write(request(sent++))
    }
    socket.destroy()
    assert.deepEqual(
      answered(),
      Array.from({ length: 20 }, (_, id) => `r${id}`),
    )
    assert.deepEqual(warnings, [])
  })

  /** Sends bytes as they are, in pieces that arrive one by one, and reads the reply until it is whole. */
  async function raw(...pieces: string[]): Promise<{ status: number; body: string }> {
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    socket.setNoDelay(true)
    for (const piece of pieces) {
      socket.write(piece)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    let text = ''
    for await (const chunk of socket) {
      text += chunk
      const [head, body] = text.split('\r\n\r\n', 2)
      const length = Number(/content-length: (\d+)/i.exec(head ?? '')?.[1] ?? 0)
      if (body !== undefined && body.length >= length) break
    }
    socket.destroy()
    const [head = '', body = ''] = text.split('\r\n\r\n', 2)
    return { status: Number(head.split(' ')[1]), body }
  }

  describe('answers', () => {
    let client: Welcomed
    before(async () => {
      client = await connectWithKey(running, running.key)
    })
    after(() => close(client))

    it('a chat with a reply, and keeps the exchange as a session', async () => {
      const reply = await chat(client)
      assert.deepEqual(
        [reply.type, reply.content, reply.session_id, reply.poa_score],
        ['reply', 'Hello, Ada.', client.ready.session_id, 0],
      )
      assert.match(String(reply.tensor), /^COG:[\d.]+\/EMO:[\d.]+\/ENV:[\d.]+$/)
      const { messages } = (await (
        await ask(running, 'GET', `/api/sessions/${client.ready.session_id}/messages`)
      ).json()) as { messages: { id: string; role: string; content: string }[] }
      assert.deepEqual(
        messages.map(({ role, content }) => [role, content]),
        [
          ['user', 'Hello.'],
          ['assistant', 'Hello, Ada.'],
        ],
      )
      assert.equal(messages[1]?.id, reply.message_id)
    })

    for (const [what, frame, code, param] of [
      ['no JSON', '{"type":', 'invalid_json', null],
      ['no object', '"chat"', 'validation_failed', 'type'],
      ['no type', {}, 'validation_failed', 'type'],
      ['an unknown type', { type: 'wallet_drain' }, 'validation_failed', 'type'],
      ['a second auth', { type: 'auth', ticket: 'x' }, 'validation_failed', 'type'],
      ['a chat without content', { type: 'chat' }, 'validation_failed', 'content'],
      ['a chat with an empty content', { type: 'chat', content: '' }, 'validation_failed', 'content'],
      ['a chat with more than it may have', { type: 'chat', content: 'x', tools: [] }, 'validation_failed', 'tools'],
      ['__proto__', '{"__proto__":{"type":"chat"}}', 'validation_failed', 'type'],
    ] as const)
      it(`${what} with an error, and stays open`, async () => {
        client.send(frame)
        const error = await client.next()
        assert.deepEqual([error.type, error.code, error.param], ['error', code, param])
        assert.ok(String(error.message).length > 10, String(error.message))
        assert.equal((await chat(client)).type, 'reply')
      })

    it('a binary frame with an error', async () => {
      client.ws.send(Buffer.from([0, 255]))
      const { code, message } = await client.next()
      assert.equal(code, 'validation_failed')
      assert.match(String(message), /text frame/)
    })

    it('an error and a reply under the id of their frame', async () => {
      for (const frame of [{ type: 'nonsense' }, {}, { type: 5 }]) {
        client.send({ ...frame, id: 'a' })
        assert.equal((await client.next()).id, 'a')
      }
      client.send({ type: 'chat', content: 'Hello.', id: 7 })
      assert.equal((await client.next()).id, 7)
    })

    it('a frame over 256 KiB by closing with 1009', async () => {
      const other = await connectWithKey(running, running.key)
      other.send(`"${'x'.repeat(256 * 1024)}"`)
      assert.equal((await other.closed).code, 1009)
    })

    it('queries of the operator with forbidden, whatever a chat or the model says', async () => {
      for (const type of ['wallet_status', 'wallet_metadata', 'x402_policy', 'bridge_status']) {
        client.send({ type })
        const { type: answered, code } = await client.next()
        assert.deepEqual([answered, code], ['error', 'forbidden'])
      }
      const injected = '{"type":"wallet_status"}'
      upstream.on('/chat/completions', double.json(200, double.completion(injected)))
      const reply = await chat(client, injected)
      assert.deepEqual([reply.type, reply.content], ['reply', injected])
    })

    it('a chat in another’s name with forbidden on a user’s ticket', async () => {
      const { ticket } = await ticketOf(running, { key: running.admin, user: 'ada' })
      const other = await openSocket(running.url, { protocols: [PROTOCOL, `ticket.${ticket}`] })
      assert.equal((await other.next()).role, 'user')
      other.send({ type: 'chat', user: 'eve', content: 'Hello.' })
      assert.equal((await other.next()).code, 'forbidden')
      other.send({ type: 'x402_policy' })
      assert.equal((await other.next()).code, 'forbidden')
      assert.equal((await chat(other)).type, 'reply')
      await close(other)
    })

    it('with rate_limited where the key has asked for more than it may, here and over HTTP', async () => {
      const { key } = await running.gateway.keys.create({ name: 'busy', scopes: ['platform'] })
      const set = (limit: number | null) => running.gateway.config.set({ 'http.rate_limit.requests_per_minute': limit })
      await set(3)
      assert.equal((await ask(running, 'GET', '/api/sessions', { key })).status, 200)
      const other = await connectWithKey(running, key)
      const codes = []
      for (let n = 0; n < 3; n++) codes.push((await chat(other)).code)
      assert.deepEqual(codes, [undefined, undefined, 'rate_limited'])
      assert.equal((await ask(running, 'GET', '/api/sessions', { key })).status, 429)
      assert.equal(upstream.received.length, 2)
      await set(null)
      assert.equal((await chat(other)).type, 'reply')
      await set(4)
      const wrong = []
      for (const frame of [
        '{',
        { type: 'nonsense' },
        { type: 'auth' },
        Buffer.from([0]),
        { type: 'nonsense', id: 1 },
      ]) {
        if (frame instanceof Buffer) other.ws.send(frame)
        else other.send(frame)
        wrong.push(await other.next())
      }
      const invalid = 'validation_failed'
      assert.deepEqual(
        wrong.map(({ code }) => code),
        ['invalid_json', invalid, invalid, invalid, 'rate_limited'],
        'what is wrong counts, too',
      )
      assert.equal(wrong.at(-1)?.id, 1)
      await set(null)
      await close(other)
    })

    it('more than twenty unanswered chats with too_many_requests, and answers those twenty', async () => {
      const replies: (() => void)[] = []
      upstream.on('/chat/completions', async (response, request) => {
        await new Promise<void>((resolve) => replies.push(resolve))
        await answers(response, request)
      })
      const other = await connectWithKey(running, running.key)
      for (let id = 0; id < 25; id++) other.send({ type: 'chat', content: 'Hello.', id })
      for (let id = 20; id < 25; id++) {
        const error = await other.next()
        assert.deepEqual([error.code, error.id], ['too_many_requests', id])
      }
      const answered = []
      while (answered.length < 20) {
        await until(async () => replies.length > 0)
        replies.shift()?.()
        answered.push((await other.next()).id)
      }
      assert.deepEqual(
        answered,
        Array.from({ length: 20 }, (_, id) => id),
      )
      await close(other)
    })
  })

  describe('for an admin', () => {
    let client: SocketClient
    before(async () => {
      const { ticket } = await ticketOf(running, { key: running.admin, role: 'admin' })
      client = await openSocket(running.url, { protocols: [PROTOCOL, `ticket.${ticket}`] })
      assert.equal((await client.next()).role, 'admin')
    })
    after(() => close(client))
    const query = async (type: string) => {
      client.send({ type, id: 1 })
      return client.next()
    }

    it('answers wallet_status', async () => {
      const status = await query('wallet_status')
      assert.deepEqual(
        [status.type, status.id, status.settlement, status.attestation],
        ['wallet_status', 1, 'ledger', null],
      )
      assert.equal((status.ledger as { available_usd: number }).available_usd, 0)
      assert.ok(Array.isArray(status.balances), 'balances are a list')
    })

    it('answers wallet_metadata with an ERC-8004 registration', async () => {
      const file = await query('wallet_metadata')
      assert.equal(file.type, 'wallet_metadata')
      const { type, services } = file.registration as { type: string; services: { endpoint: string }[] }
      assert.match(type, /eip-8004#registration-v1$/)
      assert.ok(
        services.some(({ endpoint }) => endpoint.startsWith(running.url)),
        JSON.stringify(services),
      )
    })

    it('answers x402_policy', async () => {
      assert.deepEqual(await query('x402_policy'), {
        type: 'x402_policy',
        id: 1,
        enabled: false,
        max_amount_usd: 0.09,
        networks: [],
        assets: [],
        pay_to: null,
      })
    })

    it('answers bridge_status with the head of the ledger, which every transfer changes', async () => {
      const before = await query('bridge_status')
      assert.deepEqual([before.type, before.vault], ['bridge_status', { escrow_usd: 0, onchain: [], solvent: true }])
      const { ledger_head, checked_at } = before.attestation as { ledger_head: string; checked_at: string }
      assert.match(ledger_head, /^[0-9a-f]{64}$/)
      assert.equal(ledger_head, (await running.gateway.wallet.verify()).head)
      assert.ok(Date.parse(checked_at) <= Date.now(), checked_at)
    })
  })

  describe('when things go wrong', () => {
    it('reports an upstream that is killed in the middle of a chat, and keeps the session', async () => {
      const client = await connectWithKey(running, running.key)
      assert.equal((await chat(client, 'One.')).type, 'reply')
      upstream.on('/chat/completions', (response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.write('{"id":')
        setImmediate(() => response.socket?.destroy())
      })
      const error = await chat(client, 'Two.')
      assert.equal(error.type, 'error')
      assert.match(String(error.code), /^upstream_/)
      upstream.on('/chat/completions', answers)
      assert.equal((await chat(client, 'Three.')).type, 'reply')
      const { session } = (await (await ask(running, 'GET', `/api/sessions/${client.ready.session_id}`)).json()) as {
        session: { message_count: number }
      }
      assert.equal(session.message_count, 4)
      await close(client)
    })

    it('ends the call upstream when the client of a key without limits goes', async () => {
      const { key } = await running.gateway.keys.create({ name: 'free', scopes: ['platform'], billing: 'recorded' })
      const client = await connectWithKey(running, key)
      upstream.on('/chat/completions', double.hangs)
      client.send({ type: 'chat', content: 'Hello.' })
      await until(async () => upstream.received.length > 0)
      client.ws.terminate()
      await upstream.received[0]?.aborted
    })

    it('closes the sockets of a key that is revoked, those of its tickets, too', async () => {
      const { key, record } = await running.gateway.keys.create({ name: 'short', scopes: ['platform'] })
      const { ticket } = await ticketOf(running, { key })
      const clients = [
        await connectWithKey(running, key),
        await openSocket(running.url, { protocols: [PROTOCOL, `ticket.${ticket}`] }),
      ]
      await clients[1]?.next()
      await running.gateway.keys.revoke(record.id)
      for (const client of clients) assert.equal((await client.closed).code, 4401)
    })

    it('closes the sockets of a key that expires, and takes it again once its end is moved', async () => {
      const expires_at = new Date(Date.now() + 1_500).toISOString()
      const { key, record } = await running.gateway.keys.create({ name: 'brief', scopes: ['platform'], expires_at })
      const client = await connectWithKey(running, key)
      assert.equal((await client.closed).code, 4401)
      assert.ok(Date.now() >= Date.parse(expires_at), 'it was closed before its end')
      await running.gateway.keys.change(record.id, { expires_at: null })
      await close(await connectWithKey(running, key))
    })

    it('closes the sockets of a fixed key that was changed, and its tickets are no longer good', async () => {
      const fixed = 'a-fixed-key-of-the-operator'
      const other = 'another-key-of-the-operator'
      const set = (key: string, next: string | null) =>
        ask(running, 'POST', '/api/config', { key, body: { 'identity.api_key': next } })
      assert.equal((await set(running.admin, fixed)).status, 200)
      const client = await connectWithKey(running, fixed)
      const { ticket } = await ticketOf(running, { key: fixed, role: 'admin' })
      assert.equal((await set(fixed, other)).status, 200)
      assert.equal((await client.closed).code, 4401)
      const late = await openSocket(running.url, { protocols: [PROTOCOL, `ticket.${ticket}`] })
      assert.equal((await late.closed).code, 4401)
      const next = await connectWithKey(running, other)
      assert.equal(next.ready.role, 'admin')
      await close(next)
      assert.equal((await set(running.admin, null)).status, 200)
    })

    it('holds no more of a client that stops to read than a bound, and reads no more from it', async () => {
      const client = await connectWithKey(running, running.key)
      client.ws.pause()
      const flood = `{"type":"nonsense","id":"${'x'.repeat(100)}"}`
      const before = await messagesOf(client)
      for (let i = 0; i < 100_000; i++) client.send(flood)
      // Unread by the server, they wait here.
      let seen = -1
      await until(async () => {
        const now = await messagesOf(client)
        const stands = now === seen && now > before
        seen = now
        await new Promise((resolve) => setTimeout(resolve, 50))
        return stands
      })
      assert.ok(seen < 100_000, `${seen} frames were read`)
      client.ws.terminate()
    })
    const messagesOf = async (client: Welcomed) => {
      const { items } = (await (await ask(running, 'GET', '/api/connections?limit=1000')).json()) as {
        items: { id: string; messages: number }[]
      }
      return items.find(({ id }) => id === client.ready.connection_id)?.messages ?? 0
    }
  })

  describe('and its connections over HTTP', () => {
    const list = async (key: string) =>
      (await (await ask(running, 'GET', '/api/connections', { key })).json()) as {
        items: Record<string, unknown>[]
        total: number
        next_cursor: string | null
      }

    it('are listed to their own key and to admins, with their received frames', async () => {
      const { key } = await running.gateway.keys.create({ name: 'own', scopes: ['platform'] })
      const client = await connectWithKey(running, key)
      await chat(client)
      const { items, total } = await list(key)
      assert.equal(total, 1)
      const { key_id, remote, connected_at, last_active_at, ...shown } = items[0] ?? {}
      assert.deepEqual(shown, {
        id: client.ready.connection_id,
        user: 'own',
        role: 'user',
        session_id: client.ready.session_id,
        messages: 1,
      })
      assert.match(String(remote), /127\.0\.0\.1$/)
      assert.ok(String(connected_at) <= String(last_active_at), `${connected_at} ${last_active_at}`)
      assert.ok(!(await list(running.key)).items.some(({ id }) => id === shown.id), 'another key sees it')
      assert.ok(
        (await list(running.admin)).items.some(({ id }) => id === shown.id),
        'the admin does not see it',
      )
      await close(client)
      assert.equal((await list(key)).total, 0)
    })

    it('are closed by DELETE, but not another’s', async () => {
      const { key } = await running.gateway.keys.create({ name: 'victim', scopes: ['platform'] })
      const client = await connectWithKey(running, key)
      const path = `/api/connections/${client.ready.connection_id}`
      const foreign = await ask(running, 'DELETE', path)
      assert.deepEqual([foreign.status, (await errorOf(foreign)).code], [404, 'not_found'])
      assert.equal((await chat(client)).type, 'reply')
      const reply = await ask(running, 'DELETE', path, { key })
      assert.deepEqual(await reply.json(), { id: client.ready.connection_id, status: 'closed' })
      assert.equal((await client.closed).code, 4000)
      await until(async () => (await ask(running, 'DELETE', path, { key })).status === 404)
      const admins = await connectWithKey(running, key)
      assert.equal(
        (await ask(running, 'DELETE', `/api/connections/${admins.ready.connection_id}`, { key: running.admin })).status,
        200,
      )
      await admins.closed
    })

    it('are not opened by a ticket that was taken back', async () => {
      const { id, ticket } = await ticketOf(running)
      const reply = await ask(running, 'DELETE', `/api/connections/${id}`)
      assert.deepEqual(await reply.json(), { id, status: 'cancelled' })
      const client = await openSocket(running.url, { protocols: [PROTOCOL, `ticket.${ticket}`] })
      assert.equal((await client.closed).code, 4401)
    })

    it('need an admin’s key for an admin’s ticket, and a name', async () => {
      const admin = await ask(running, 'POST', '/api/connections', { body: { user: 'ada', role: 'admin' } })
      assert.deepEqual([admin.status, (await errorOf(admin)).code], [403, 'insufficient_scope'])
      const nameless = await ask(running, 'POST', '/api/connections', { body: {} })
      assert.deepEqual([nameless.status, (await errorOf(nameless)).param], [422, 'user'])
      assert.equal((await ask(running, 'DELETE', '/api/connections/nonsense')).status, 422)
    })

    it('share a session when they ask to', async () => {
      const one = await connectWithKey(running, running.key)
      const session = String(one.ready.session_id)
      const two = await connectWithKey(running, running.key, `/agent?session_id=${session}`)
      assert.equal(two.ready.session_id, session)
      await Promise.all([chat(one), chat(two), chat(one)])
      const shown = (await (await ask(running, 'GET', `/api/sessions/${session}`)).json()) as {
        session: { message_count: number }
      }
      assert.equal(shown.session.message_count, 6)
      const { key } = await running.gateway.keys.create({ name: 'foreign', scopes: ['platform'] })
      const foreign = await connectWithKey(running, key, `/agent?session_id=${session}`)
      assert.equal((await chat(foreign)).code, 'not_found')
      for (const client of [one, two, foreign]) await close(client)
    })
  })
})

describe('the agent socket of a service that stops', () => {
  it('lets an answer in progress finish, then closes with 1001', async () => {
    const upstream = await double.startUpstream()
    const running = await startPlatform(upstream.url, { withHttp: false })
    let answer = () => {}
    upstream.on('/chat/completions', async (response, request) => {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      await answers(response, request)
    })
    const [idle, busy, unknown] = await Promise.all([
      connectWithKey(running, running.key),
      connectWithKey(running, running.key),
      openSocket(running.url),
    ])
    busy.send({ type: 'chat', content: 'Hello.' })
    await until(async () => upstream.received.length > 0)
    const stopped = running.close()
    assert.equal((await idle.closed).code, 1001)
    assert.equal((await unknown.closed).code, 1001)
    assert.equal(busy.ws.readyState, busy.ws.OPEN)
    answer()
    assert.equal((await busy.next()).type, 'reply')
    assert.equal((await busy.closed).code, 1001)
    await stopped
    await upstream.close()
    await assert.rejects(once(connect(Number(new URL(running.url).port), '127.0.0.1'), 'connect'))
  })

  it('notifies clients that are not answered in time, then closes with 1001', async (t) => {
    const upstream = await double.startUpstream()
    const running = await startPlatform(upstream.url, { withHttp: false })
    upstream.on('/chat/completions', double.hangs)
    const client = await connectWithKey(running, running.key)
    client.send({ type: 'chat', content: 'Hello.', id: 'mine' })
    await until(async () => upstream.received.length > 0)
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const stopped = running.pause()
    t.mock.timers.tick(29_000)
    t.mock.timers.reset()
    const { type, code, id } = await client.next()
    assert.deepEqual([type, code, id], ['error', 'service_stopping', 'mine'])
    assert.equal((await client.closed).code, 1001)
    await stopped
    await upstream.received[0]?.aborted
    await running.gateway.calls.flush()
    const [record] = (await running.gateway.calls.history({ limit: 1 })).items
    assert.match(`${record?.status}: ${record?.error}`, /^error: Gazeway stopped before the answer was complete/)
    await running.close()
    await upstream.close()
  })
})
