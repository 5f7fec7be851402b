import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

describe('keys and groups over HTTP', () => {
  let running: RunningPlatform
  before(async () => {
    running = await startPlatform('sandbox', { withHttp: false })
  })
  after(() => running.close())

  async function send(method: string, path: string, body: unknown = {}): Promise<Record<string, unknown>> {
    const reply = await ask(running, method, path, { key: running.admin, body })
    assert.ok(reply.ok, await reply.clone().text())
    return (await reply.json()) as Record<string, unknown>
  }
  const alerts = [{ at: 0.8 }]
  const budgets = [{ usd: 5, per: 'day' }]
  const none = 'alerts: none is sent; set both alerts.webhook_url and alerts.webhook_secret.'

  it('warn of alerts that nobody receives, in the replies that make and change them', async () => {
    const key = await send('POST', '/api/keys', { name: 'a', scopes: ['inference'], alerts, limits: { budgets } })
    const group = await send('POST', '/api/groups', { name: 'team', alerts, budgets })
    assert.deepEqual([key.warnings, group.warnings], [[none], [none]])
    for (const path of [`/api/keys/${key.id}`, `/api/groups/${group.id}`]) {
      assert.deepEqual((await send('PATCH', path, { name: 'renamed' })).warnings, [none], path)
      assert.deepEqual((await send('PATCH', path, { alerts: [] })).warnings, [], path)
    }
    const unspent = await send('POST', '/api/keys', { name: 'b', scopes: ['inference'], alerts })
    assert.deepEqual(unspent.warnings, [none, 'alerts: none is sent without a budget; set one beside them.'])
  })

  it('warn no more once alerts have a receiver, also in a process that runs', async () => {
    const key = await send('POST', '/api/keys', { name: 'c', scopes: ['inference'], alerts, limits: { budgets } })
    const group = await send('POST', '/api/groups', { name: 'crew', alerts, budgets })
    const webhook_secret = `whsec_${Buffer.alloc(24, 'k').toString('base64')}`
    await send('POST', '/api/config', { alerts: { webhook_url: 'https://hooks.example/alerts', webhook_secret } })
    for (const path of [`/api/keys/${key.id}`, `/api/groups/${group.id}`])
      assert.deepEqual((await send('PATCH', path, { name: 'heard' })).warnings, [], path)
    const made = await send('POST', '/api/keys', { name: 'd', scopes: ['inference'], alerts, limits: { budgets } })
    assert.deepEqual([key.warnings, made.warnings], [[none], []])
    await send('POST', '/api/config', { alerts: { webhook_url: null } })
    assert.deepEqual((await send('PATCH', `/api/keys/${key.id}`, { name: 'e' })).warnings, [none])
  })

  it('write the new secret of a key to admin.key where that holds it', async () => {
    const file = join(running.gateway.loaded.dataDir, 'admin.key')
    writeFileSync(file, `${running.admin}\n`)
    const other = await send('POST', `/api/keys/${running.keyId}/rotate`)
    assert.ok(other.key && readFileSync(file, 'utf8') === `${running.admin}\n`)
    const { items } = await running.gateway.keys.list({ limit: 10 })
    const admin = items.find(({ name }) => name === 'admin')
    const { key } = await send('POST', `/api/keys/${admin?.id}/rotate`)
    assert.equal(readFileSync(file, 'utf8'), `${key}\n`)
  })
})
