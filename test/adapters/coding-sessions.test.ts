import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

const REPOSITORY = 'github.com/ann/shop'
const SHA = 'a1'.repeat(20)
const SECRET = `ghp_${'A1b2'.repeat(9)}`

describe('sessions of coding agents over HTTP', () => {
  let platform: RunningPlatform
  let key: string
  let keyId: string

  before(async () => {
    platform = await startPlatform('sandbox')
    const made = await platform.gateway.keys.create({ name: 'agent', scopes: ['inference'] })
    key = made.key
    keyId = made.record.id
  })
  after(() => platform.close())

  const post = async (base: string, session: string, body: unknown, bearer = key) => {
    const reply = await fetch(`${base}/api/coding-sessions/${session}/facts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return {
      status: reply.status,
      body: (await reply.json()) as Record<string, unknown> & { error?: { param: string } },
    }
  }
  const factsOf = (session: string) =>
    platform.gateway.store.db.selectFrom('session_facts').selectAll().where('session_id', '=', session).execute()

  it('take facts on both ports, of each key apart, and keep no token of a remote', async () => {
    const facts = { repository: `https://${SECRET}@github.com/ann/shop.git`, branch: 'main', commit: SHA.toUpperCase() }
    const known = { session_id: 's1', repository: REPOSITORY, branch: 'main', commit: SHA, dirty: null }
    assert.deepEqual(await post(platform.gatewayUrl, 's1', facts), { status: 200, body: known })
    assert.deepEqual(await post(platform.url, 's1', { dirty: true }), { status: 200, body: { ...known, dirty: true } })
    const { body } = await post(platform.url, 's1', { branch: 'other' }, platform.key)
    assert.deepEqual(body, { session_id: 's1', repository: null, branch: 'other', commit: null, dirty: null })
    assert.deepEqual((await factsOf('s1')).map(({ caller_id }) => caller_id).sort(), [keyId, platform.keyId].sort())
    assert.ok(!JSON.stringify([await factsOf('s1'), platform.logged]).includes(SECRET))
  })

  it('refuse facts that are none, and keys without a scope for them', async () => {
    for (const [param, body] of Object.entries({
      repository: { repository: '/home/ann/shop' },
      branch: { branch: 'a\nb' },
      commit: { commit: 'main' },
      'commits.0.at': { commits: [{ sha: SHA, at: 'yesterday' }] },
      paths: { paths: [] },
    })) {
      const { status, body: reply } = await post(platform.gatewayUrl, 's2', body)
      assert.deepEqual([status, reply.error?.param], [422, param])
    }
    assert.equal((await post(platform.url, 'x'.repeat(129), {})).status, 422)
    assert.equal((await post(platform.gatewayUrl, 's2', {}, platform.key)).status, 403)
    // The rest of the platform stays closed to keys of inference.
    assert.equal((await ask(platform, 'GET', '/api/tasks', { key })).status, 403)
    assert.deepEqual(await factsOf('s2'), [])
  })

  it("note the workspace in Codex's turn metadata, by header and on the socket's way", async () => {
    const workspace = {
      associated_remote_urls: { origin: `https://ann:${SECRET}@github.com/ann/shop.git` },
      latest_git_commit_hash: SHA,
      has_changes: true,
    }
    const metadata = JSON.stringify({ session_id: 'codex', turn_id: 't1', workspaces: { '/home/ann/shop': workspace } })
    const call = async (headers: Record<string, string>, body: object) => {
      const reply = await fetch(`${platform.gatewayUrl}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'gazeway-sandbox', input: 'Hello', ...body }),
      })
      assert.equal(reply.status, 200, await reply.text())
    }
    await call({ 'x-codex-turn-metadata': metadata, 'user-agent': 'codex_cli_rs/0.171.0' }, {})
    await call({ 'session-id': 'codex-2' }, { client_metadata: { 'x-codex-turn-metadata': metadata } })
    await call({ 'session-id': 'codex-3', 'x-codex-turn-metadata': `{"workspaces":{"x":${'9'.repeat(5000)}}}` }, {})
    await platform.gateway.calls.flush()
    for (const session of ['codex', 'codex-2']) {
      const [found, ...more] = (await factsOf(session)).map(({ repository, commit_sha, dirty, path }) => [
        repository,
        commit_sha,
        dirty,
        path,
      ])
      assert.deepEqual([found, more], [[REPOSITORY, SHA, 1, null], []])
    }
    assert.deepEqual(await factsOf('codex-3'), [])
  })

  it('are listed and read on both ports, its own by each key, all by an admin, and as CSV', async () => {
    const call = (bearer: string, session = 'shared') =>
      fetch(`${platform.gatewayUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${bearer}`, 'content-type': 'application/json', 'x-gazeway-session': session },
          'x-gazeway-tags': 'team-a, nightly',
        },
        body: JSON.stringify({ model: 'gazeway-sandbox', messages: [{ role: 'user', content: 'Hello' }] }),
      }).then((reply) => reply.text())
    const { key: other } = await platform.gateway.keys.create({ name: 'other', scopes: ['inference'] })
    await call(key)
    await call(key)
    await call(other)
    // An id may be any word.
    await call(other, 'costs')
    await post(platform.gatewayUrl, 'costs', { repository: REPOSITORY }, other)
    await platform.gateway.calls.flush()
    const { groups } = await platform.gateway.calls.stats({ group_by: 'tag', caller_id: keyId })
    const tagged = groups.filter(({ key: tag }) => tag !== '').map(({ key: tag, calls }) => [tag, calls])
    assert.deepEqual(tagged, [
      ['nightly', 2],
      ['team-a', 2],
    ])
    const get = async (base: string, path: string, bearer: string, accept = 'application/json') => {
      const reply = await fetch(`${base}${path.startsWith('/api/') ? '' : '/api/coding-sessions'}${path}`, {
        headers: { authorization: `Bearer ${bearer}`, accept },
      })
      const text = await reply.text()
      return { status: reply.status, text, body: accept === 'text/csv' ? null : JSON.parse(text) }
    }
    for (const base of [platform.url, platform.gatewayUrl]) {
      const { body } = await get(base, '/shared', key)
      assert.deepEqual([body.id, body.key, body.calls, body.by_model.length], ['shared', keyId, 2, 1])
      assert.equal((await get(base, '/shared', other)).body.calls, 1)
      assert.equal((await get(base, '/costs', other)).body.id, 'costs')
      const { lines } = (await get(base, '/api/coding-session-costs', other)).body
      assert.deepEqual(
        lines.map((line: { key: string; calls: number }) => [line.key, line.calls]),
        [['costs', 1]],
      )
      const listed = (await get(base, '', key)).body.items
      assert.deepEqual([...new Set(listed.map((item: { key: string }) => item.key))], [keyId])
      assert.equal((await get(base, '/unknown', key)).status, 404)
      assert.equal((await get(base, `?key=${platform.keyId}`, key)).status, 403)
      assert.equal((await get(base, '/shared', platform.admin)).status, 409)
      assert.equal((await get(base, `/shared?key=${keyId}`, platform.admin)).body.calls, 2)
    }
    const all = (await get(platform.url, '?sort=cost', platform.admin)).body.items
    assert.equal(all.filter(({ id }: { id: string }) => id === 'shared').length, 2)
    const csv = await get(platform.url, '?limit=1', key, 'text/csv')
    assert.match(csv.text, /^session,key,client,.*,cost_usd\r\n(?:.+\r\n)*shared,key_/)
    assert.equal((await get(platform.url, '?group=grp_'.padEnd(43, '0'), key)).status, 403)
  })
})
