import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { createKeys } from '../../src/identity/keys.ts'
import { openStore } from '../../src/store/open-store.ts'
import { creditAccount } from '../../src/wallet/deposits.ts'
import { CLI, newPlace, type Place } from './server.ts'

/** Runs `gazeway key …` to its end. */
async function key(place: Place, ...args: string[]) {
  const child = spawn(process.execPath, [CLI, 'key', ...args], {
    cwd: place.project,
    env: place.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code: Number(code), stdout, stderr }
}

/** Who a server on the place's data would take the bearer of `token` for. */
async function bearer(place: Place, token: string) {
  const store = await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)
  const onError = (error: unknown) => assert.ifError(error)
  const keys = createKeys({ store, now: () => new Date(), fixedKey: null, onError })
  try {
    return await keys.authenticate(token)
  } finally {
    await keys.close()
    await store.close()
  }
}

describe('gazeway key', () => {
  it('makes a key, prints it alone on stdout, and lists and revokes it', async () => {
    const place = newPlace()
    const wallet = `0x${'ab'.repeat(20)}`
    const flags = [
      '--scope',
      'platform, inference',
      '--wallet',
      wallet,
      '--credit-limit',
      '5.25',
      '--daily-limit',
      '0.000001',
    ]
    const made = await key(place, 'create', '--name', 'my ide', ...flags)
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stdout, /^gzw_[0-9a-f]{32}_[\w-]{43}\n$/)
    const token = made.stdout.trim()
    const id = `key_${token.slice(4, 36)}`
    assert.equal(made.stderr, `This is the key of my ide (${id}, inference, platform). It is not shown again.\n`)
    assert.deepEqual([...(await bearer(place, token)).scopes], ['inference', 'platform'])

    const { stdout: table } = await key(place, 'list')
    const [head = '', row = '', ...rest] = table.trimEnd().split('\n')
    assert.deepEqual(rest, [])
    assert.match(
      head,
      /^ID {2,}NAME {2,}SCOPES {2,}WALLET {2,}CREDIT USD {2,}DAILY USD {2,}CREATED {2,}LAST USED {2,}REVOKED$/,
    )
    const cells = row.split(/ {2,}/)
    assert.deepEqual(cells.slice(0, 6), [id, 'my ide', 'inference,platform', wallet, '5.25', '0.000001'])
    assert.match(cells[7] ?? '', /^\d{4}-\d\d-\d\dT.*Z$/)
    assert.equal(cells[8], '-')

    for (const _ of ['once', 'again']) {
      const revoked = await key(place, 'revoke', id)
      assert.deepEqual([revoked.code, revoked.stdout], [0, ''])
      assert.match(revoked.stderr, /is revoked\. Servers that are running refuse it within 5 seconds\.\n$/)
    }
    await assert.rejects(bearer(place, token), { code: 'invalid_api_key' })
    assert.match((await key(place, 'list')).stdout, /Z {2}\d{4}-\d\d-\d\dT\S+Z\n$/)
    for (const file of readdirSync(place.data))
      assert.ok(!readFileSync(join(place.data, file)).includes(token.slice(37)), file)
  })

  it('tells what is left with a key without a wallet as it is revoked', async () => {
    const place = newPlace()
    await key(place, 'create', '--name', 'rich')
    const [id = ''] = /key_[0-9a-f]{32}/.exec((await key(place, 'list')).stdout) ?? []
    const store = await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)
    await creditAccount(store, { account: id, micros: 1_500_000, reference: 'rich' }, new Date())
    await store.close()
    assert.match((await key(place, 'revoke', id)).stderr, /still has 1\.5 USD, 0 set aside for calls and 0 in escrow/)
  })

  it('says so when there is no key', async () => {
    const { code, stdout, stderr } = await key(newPlace(), 'list')
    assert.deepEqual([code, stdout], [0, ''])
    assert.match(stderr, /no keys yet.*gazeway key create/)
  })

  it('refuses a bad value with exit code 2 and a line that says what is accepted', async () => {
    const place = newPlace()
    const cases: [args: string[], line: RegExp][] = [
      [['create'], /required option '--name <name>'/],
      [['create', '--name', ''], /--name: .*accepted: text of 1 to 100 characters/],
      [['create', '--name', 'a', '--scope', 'inference,root'], /--scope: .*accepted: one of "inference"/],
      [['create', '--name', 'a', '--scope', ''], /--scope: /],
      [['create', '--name', 'a', '--wallet', '0x12'], /--wallet: .*accepted: an address of 0x and 40/],
      [['create', '--name', 'a', '--credit-limit', '1.1234567'], /--credit-limit: .*at most 6 decimals/],
      [['create', '--name', 'a', '--credit-limit', '-1'], /--credit-limit/],
      [['create', '--name', 'a', '--daily-limit', '1e3'], /--daily-limit: .*from 0 to 1000000/],
      [['create', '--name', 'a', '--daily-limit', '1000000.000001'], /--daily-limit: /],
      [['revoke', 'x'], /ID: .*accepted: the id of a key/],
      [['revoke'], /missing required argument 'id'/],
      [['remove'], /accepted: create, list, revoke/],
    ]
    const runs = await Promise.all(cases.map(async ([args, line]) => ({ args, line, ...(await key(place, ...args)) })))
    for (const { args, line, code, stdout, stderr } of runs) {
      assert.deepEqual([code, stdout], [2, ''], args.join(' '))
      assert.match(stderr, line)
      assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
    }
    assert.ok(!existsSync(place.data), 'nothing was written')
  })

  it('does not repeat a key that was sent in place of its id', async () => {
    const place = newPlace()
    const { stdout } = await key(place, 'create', '--name', 'a')
    const { code, stderr } = await key(place, 'revoke', stdout.trim())
    assert.equal(code, 2)
    assert.ok(!stderr.includes(stdout.trim()))
    assert.match(stderr, /not the key itself/)
  })

  it('ends with 1 for a key that is not there', async () => {
    const { code, stderr } = await key(newPlace(), 'revoke', `key_${'0'.repeat(32)}`)
    assert.deepEqual([code, stderr], [1, 'gazeway: There is no key with this id.\n'])
  })
})
