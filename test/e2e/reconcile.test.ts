import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { startBilling } from '../doubles/billing.ts'
import { newPlace, run } from './server.ts'

const SECRET = 'sk-admin-of-the-organization'

it('gazeway reconcile reads a bill with the key of its environment, and never shows that', async (t) => {
  const now = new Date()
  const month = now.toISOString().slice(0, 7)
  const day = now.toISOString().slice(0, 10)
  const double = await startBilling({
    now,
    keys: [{ id: 'key_1', name: 'laptop', hint: 'sk-proj-***other' }],
    rows: [{ day, key: 'key_1', model: 'gpt-5', usd: '1.25' }],
  })
  t.after(() => double.close())
  const place = newPlace()
  mkdirSync(place.data)
  const upstreams = { bill: { provider: 'openai', base_url: double.url, api_keys: ['sk-proj-key-of-gazeway'] } }
  writeFileSync(join(place.data, 'config.json'), JSON.stringify({ upstream: { provider: 'sandbox' }, upstreams }))
  const ask = (...args: string[]) =>
    run({ ...place, env: { ...place.env, GAZEWAY_UPSTREAM_BILL_ADMIN_KEY: SECRET } }, args)
  assert.match((await ask('reconcile')).stderr, /There is no store/)
  await ask('key', 'create', '--name', 'ann')

  const table = await ask('reconcile', '--upstream', 'bill')
  assert.equal(table.code, 0, table.stderr)
  assert.match(table.stdout, new RegExp(`^${day} +openai +- +gpt-5 +0 +0 +0 +1\\.25 +-$`, 'm'))
  assert.match(table.stdout, /^openai +key_1 +laptop +no +1\.25$/m)
  assert.match(
    table.stdout,
    new RegExp(`^RECONCILED ${month} .*\nbill +0 +0 +0 +1\\.25 +0 +OpenAI /v1/organization/costs$`, 'm'),
  )
  const json = JSON.parse((await ask('reconcile', '--json', '--month', month)).stdout)
  assert.deepEqual([json.month, json.totals.elsewhere_usd, json.accounts.length], [month, 1.25, 1])
  assert.match(
    (await ask('doctor', '--upstream', 'sandbox')).stdout,
    /^ok +bills +openai: GAZEWAY_UPSTREAM_BILL_ADMIN_KEY$/m,
  )

  const faults = [
    await ask('reconcile', '--month', '2999-01'),
    await ask('reconcile', '--upstream', 'nobody'),
    await ask('reconcile', '--json', '--csv'),
  ]
  assert.deepEqual(
    faults.map(({ code, stderr }) => `${code} ${stderr.slice(0, 60)}`.trim()),
    [
      '2 gazeway: --month: must be a UTC month that has begun, such a',
      '2 gazeway: --upstream: no upstream is named nobody; there are',
      '2 gazeway: --json: name either --json or --csv.',
    ],
  )
  for (const { stdout, stderr } of [table, ...faults]) assert.ok(!`${stdout}${stderr}`.includes(SECRET))
  assert.match((await ask('reconcile', '--help')).stdout, /OPENROUTER_MANAGEMENT_KEY .*\n.*\n[\s\S]*Examples:/)
})
