import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createKeys } from '../../src/identity/keys.ts'
import { openStore } from '../../src/store/open-store.ts'
import { addSpending } from '../../src/wallet/budget/spending.ts'
import { creditAccount } from '../../src/wallet/ledger/deposits.ts'
import { runHere } from './in-process.ts'
import { newPlace, type Place, run } from './server.ts'

/** Runs `gazeway key …` to its end. */
const key = (place: Place, ...args: string[]) => gazeway(place, 'key', ...args)
/** Runs `gazeway group …` to its end. */
const group = (place: Place, ...args: string[]) => gazeway(place, 'group', ...args)

const gazeway = (place: Place, ...args: string[]) => runHere(place, args)

/** Authenticates `token` as a server on this data folder would. */
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

/** The rows of a table, by the words of its head, with their details by their labels. */
function rowsOf(table: string): Record<string, string>[] {
  const [head = '', ...lines] = table.trimEnd().split('\n')
  const titles = head.split(/ {2,}/)
  const rows: { cells: string[]; details: string }[] = []
  for (const line of lines) {
    assert.ok(line.length <= 120, line)
    const last = rows.at(-1)
    if (!line.startsWith(' ')) rows.push({ cells: line.split(/ {2,}/), details: '' })
    else if (last) last.details += ` ${line.trim()}`
  }
  return rows.map(({ cells, details }) => ({
    ...Object.fromEntries(cells.map((cell, i) => [titles[i] ?? '', cell])),
    ...Object.fromEntries(details.split(';').flatMap((one) => (one ? [one.trim().split(': ', 2)] : []))),
  }))
}

const UNKNOWN = `key_${'0'.repeat(32)}`
const idOf = (token: string): string => `key_${token.slice(4, 36)}`

describe('gazeway key', () => {
  it('makes a key, prints it alone on stdout, and lists and revokes it', async () => {
    const place = newPlace()
    // In a process of its own: this is what is published.
    const command = (...args: string[]) => run(place, ['key', ...args])
    const wallet = `0x${'ab'.repeat(20)}`
    const flags = ['--scope', 'platform, inference', '--wallet', wallet, '--credit', '5.25', '--budget', '0.000001/day']
    const made = await command('create', '--name', 'my ide', ...flags)
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stdout, /^gzw_[0-9a-f]{32}_[\w-]{43}\n$/)
    const token = made.stdout.trim()
    const id = `key_${token.slice(4, 36)}`
    assert.equal(made.stderr, `Created the key my ide (${id}, inference, platform). The key is not shown again.\n`)
    assert.deepEqual([...(await bearer(place, token)).scopes], ['inference', 'platform'])

    const [row = {}, ...rest] = rowsOf((await command('list')).stdout)
    assert.deepEqual(rest, [])
    const { CREATED: created, 'LAST USED': used, ...shown } = row
    assert.deepEqual(shown, {
      ID: id,
      NAME: 'my ide',
      SCOPES: 'inference,platform',
      wallet,
      billing: 'metered',
      limits: 'credit 5.25, 0.000001 per day',
    })
    for (const at of [created, used]) assert.match(at ?? '', /^\d{4}-\d\d-\d\d$/)

    for (const _ of ['once', 'again']) {
      const revoked = await command('revoke', id)
      assert.deepEqual([revoked.code, revoked.stdout], [0, ''])
      assert.match(revoked.stderr, /Revoked the key my ide .*Running servers refuse it within 5 seconds\.\n$/)
    }
    await assert.rejects(bearer(place, token), { code: 'invalid_api_key' })
    assert.match(rowsOf((await command('list')).stdout)[0]?.revoked ?? '', /^\d{4}-\d\d-\d\dT\S+Z$/)
    for (const file of readdirSync(place.data))
      assert.ok(!readFileSync(join(place.data, file)).includes(token.slice(37)), file)
  })

  it('changes the limits of a key that are named, and no others', async () => {
    const place = newPlace()
    await group(place, 'create', '--name', 'team', '--budget', '20/day', '--budget', '300/month')
    const terms = ['--budget', '1/total', '--budget', '0.5/day', '--concurrent', '4', '--group', 'team']
    const limits = [
      '--requests-per-minute',
      '60',
      '--tokens-per-minute',
      '9000',
      '--models',
      'llm-*, sandbox',
      '--cache',
      'off',
    ]
    const made = await key(place, 'create', '--name', 'ann', ...terms, ...limits, '--expires', '90d')
    assert.equal(made.code, 0, made.stderr)
    const id = idOf(made.stdout)
    const [before = {}] = rowsOf((await key(place, 'list')).stdout)
    assert.equal(
      before.limits,
      '0.5 per day, 1 in total, 60 requests per minute, 9000 tokens per minute, 4 concurrent calls',
    )
    const { group: team, billing, models, cache } = before
    assert.deepEqual([team, billing, models, cache], ['team', 'recorded', 'llm-*, sandbox', 'off'])
    const days = (Date.parse(before.expires ?? '') - Date.now()) / 86_400_000
    assert.ok(days > 89.9 && days < 90, `${days} days`)

    const changes = ['--name', 'anna', '--budget', '7/week', '--concurrent', 'none', '--billing', 'cost']
    const edited = await key(place, 'edit', id, ...changes)
    assert.deepEqual([edited.code, edited.stderr], [0, 'Running servers apply the change within 5 seconds.\n'])
    const [after = {}] = rowsOf(edited.stdout)
    const now = { NAME: 'anna', billing: 'cost', limits: '7 per week, 60 requests per minute, 9000 tokens per minute' }
    assert.deepEqual(after, { ...before, ...now })
    const freed = ['--no-group', '--models', 'all', '--expires', 'never', '--budget', 'none', '--cache', 'auto']
    const [last = {}] = rowsOf((await key(place, 'edit', id, ...freed)).stdout)
    const { group: _, models: _models, expires: _expires, cache: _cache, ...kept }: Record<string, string> = after
    assert.deepEqual(last, { ...kept, limits: '60 requests per minute, 9000 tokens per minute' })
  })

  it('rotates a key, whose secret before works until the grace ends', async () => {
    const place = newPlace()
    const first = (await key(place, 'create', '--name', 'a')).stdout.trim()
    const rotated = await key(place, 'rotate', idOf(first))
    assert.equal(rotated.code, 0, rotated.stderr)
    assert.match(rotated.stdout, /^gzw_[0-9a-f]{32}_[\w-]{43}\n$/)
    const [, until = ''] = /The old secret works until (\S+)\.\n$/.exec(rotated.stderr) ?? []
    const hours = (Date.parse(until) - Date.now()) / 3_600_000
    assert.ok(hours > 23.9 && hours < 24, `${hours} hours`)
    const second = rotated.stdout.trim()
    for (const token of [first, second]) assert.equal((await bearer(place, token)).id, idOf(first))
    const third = await key(place, 'rotate', idOf(first), '--grace', '0')
    assert.match(third.stderr, /refuse the old secret within 5 seconds\.\n$/)
    for (const token of [first, second]) await assert.rejects(bearer(place, token), { code: 'invalid_api_key' })
    assert.equal((await bearer(place, third.stdout.trim())).id, idOf(first))
  })

  it('follows wallet.billing, and warns of a glob that matches nothing', async () => {
    const place = newPlace()
    mkdirSync(place.data, { recursive: true })
    writeFileSync(join(place.data, 'config.json'), JSON.stringify({ wallet: { billing: { other: 'cost' } } }))
    const { code, stderr } = await key(place, 'create', '--name', 'a', '--models', 'nothing-*,*')
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^Warning: models: "nothing-\*" matches no known model/)
    assert.equal(stderr.split('Warning').length, 2)
    assert.equal(rowsOf((await key(place, 'list')).stdout)[0]?.billing, 'cost')
  })

  it('shows what keys and groups have spent and owe, and forgives it', async () => {
    const place = newPlace()
    const groupId = (await group(place, 'create', '--name', 'team', '--budget', '1/day')).stdout.trim()
    const id = idOf((await key(place, 'create', '--name', 'ann', '--group', 'team')).stdout)
    const store = await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)
    const day = new Date().toISOString().slice(0, 10)
    const spent = { spender: { id, groupId }, day, micros: 1_250_000, beyondMicros: 500_000 }
    await store.write((trx) => addSpending(trx, 'charged', [spent]))
    await store.write((trx) => addSpending(trx, 'recorded', [{ ...spent, day: '2020-01-31', micros: 1 }]))
    await store.close()
    const shown = '1.25 today, 1.25 this week, 1.25 this month, 1.250001 in total'
    const tables = [await key(place, 'list'), await group(place, 'list')]
    for (const { stdout } of tables) assert.equal(rowsOf(stdout)[0]?.['spent USD'], shown)
    assert.deepEqual(
      tables.map(({ stdout }) => rowsOf(stdout)[0]?.['owed USD']),
      [undefined, '0.25'],
    )
    assert.match((await group(place, 'forgive', 'team')).stderr, /^Forgave 0\.25 USD/)
    assert.match((await key(place, 'forgive', 'ann')).stderr, /^Forgave 0 USD/)
    assert.equal(rowsOf((await group(place, 'list')).stdout)[0]?.['owed USD'], undefined)
  })

  it('does what docs/reference/keys.md shows', async () => {
    const place = newPlace()
    const page = readFileSync(new URL('../../docs/reference/keys.md', import.meta.url), 'utf8')
    const lines = [...page.matchAll(/^\$ gazeway (.*)$/gm)].map(([, line = '']) => line)
    assert.equal(lines.length, 5)
    let id = ''
    for (const line of lines) {
      const words = line.split(' ').map((word) => word.replaceAll("'", '').replace(/^key_[0-9a-f]{32}$/, id))
      const { code, stdout, stderr } = await gazeway(place, ...words)
      assert.equal(code, 0, `${line}: ${stderr}`)
      if (stdout.startsWith('gzw_')) id = idOf(stdout)
    }
    const [row = {}] = rowsOf((await key(place, 'list')).stdout)
    assert.deepEqual(
      [row.group, row.limits, row.models],
      ['team', '10 per day, 4 concurrent calls', 'gpt-*, llm-3-fast'],
    )
  })

  it('teaches by example', async () => {
    for (const command of ['create', 'edit', 'rotate'])
      assert.match(
        (await key(newPlace(), command, '--help')).stdout,
        new RegExp(`Examples:\\n {2}\\$ gazeway key ${command} `),
      )
    assert.match((await group(newPlace(), '--help')).stdout, /\$ gazeway group create --name team --budget 20\/day/)
  })

  it('shows the balance that stays with a revoked key without a wallet', async () => {
    const place = newPlace()
    await key(place, 'create', '--name', 'rich')
    const [id = ''] = /key_[0-9a-f]{32}/.exec((await key(place, 'list')).stdout) ?? []
    const store = await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)
    await creditAccount(store, { account: id, micros: 1_500_000, reference: 'rich' }, new Date())
    await store.close()
    assert.match(
      (await key(place, 'revoke', id)).stderr,
      /: 1\.5 USD available, 0 USD reserved for calls, 0 USD in escrow/,
    )
  })

  it('lists who is about to run dry', async () => {
    const place = newPlace()
    await group(place, 'create', '--name', 'team', '--budget', '4/total')
    const flags = ['--name', 'ann', '--group', 'team', '--budget', '2/total', '--billing', 'cost', '--credit', '7']
    const id = idOf((await key(place, 'create', ...flags)).stdout)
    const store = await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)
    const [{ group_id: groupId } = assert.fail('no key')] = await store.db
      .selectFrom('keys')
      .select('group_id')
      .execute()
    const day = new Date().toISOString().slice(0, 10)
    await store.write((trx) => addSpending(trx, 'charged', [{ spender: { id, groupId }, day, micros: 2_000_000 }]))
    await store.close()
    const ann = {
      'BALANCE USD': '7',
      budget: '2 in total',
      'spent USD': '2',
      'left USD': '0',
      'TIME LEFT': '0 (budget)',
    }
    const team = { 'BALANCE USD': '-', budget: '4 in total', 'spent USD': '2', 'left USD': '2', 'TIME LEFT': '-' }
    assert.deepEqual(rowsOf((await key(place, 'list', '--burn')).stdout), [
      { ID: id, NAME: 'ann', 'LAST 24 H USD': '0', ...ann },
      { ID: groupId, NAME: 'team', 'LAST 24 H USD': '0', ...team },
    ])
  })

  it('takes the parts of budgets at which an alert is sent', async () => {
    const place = newPlace()
    await group(place, 'create', '--name', 'team', '--budget', '4/total', '--alert', '90%')
    const id = idOf((await key(place, 'create', '--name', 'ann', '--alert', '100%', '--alert', '7%')).stdout)
    const alertsOf = ({ stdout }: { stdout: string }) => rowsOf(stdout)[0]?.alerts
    assert.equal(alertsOf(await key(place, 'list')), '7%, 100%')
    assert.equal(alertsOf(await key(place, 'edit', id, '--alert', 'none')), undefined)
    assert.equal(alertsOf(await group(place, 'list')), '90%')
    assert.equal(alertsOf(await group(place, 'edit', 'team', '--alert', '50%')), '50%')
  })

  it('says so when there is no key', async () => {
    const place = newPlace()
    await (await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)).close()
    const { code, stdout, stderr } = await key(place, 'list')
    assert.deepEqual([code, stdout], [0, ''])
    assert.match(stderr, /No keys yet.*gazeway key create/)
  })

  it('names a data folder without a store, and creates none', async () => {
    const place = newPlace()
    for (const words of [
      ['key', 'list'],
      ['key', 'list', '--burn'],
      ['key', 'revoke', 'ann'],
      ['group', 'list'],
      ['group', 'delete', 'team'],
      ['memory', 'export'],
    ]) {
      const { code, stdout, stderr } = await gazeway(place, ...words)
      assert.deepEqual([code, stdout], [1, ''], words.join(' '))
      assert.ok(stderr.includes(`There is no store at ${join(place.data, 'gazeway.db')}. Name the data folder`), stderr)
    }
    assert.ok(!existsSync(place.data))
  })

  it('fits names, models and limits of any length within 120 columns, and prints all of them as JSON', async () => {
    const place = newPlace()
    const models = Array.from({ length: 12 }, (_, i) => `provider/some-model-${i}-*`)
    const name = 'n'.repeat(100)
    const scope = ['--scope', 'inference,platform,admin', '--models', `${models.join(',')},${'x'.repeat(180)}`]
    await key(place, 'create', '--name', name, ...scope, '--budget', '5/day', '--tokens-per-minute', '900000')
    await group(place, 'create', '--name', name, '--budget', '5/day', '--budget', '9/week', '--budget', '20/month')
    const { stdout } = await key(place, 'list')
    for (const table of [stdout, (await key(place, 'list', '--burn')).stdout, (await group(place, 'list')).stdout])
      for (const line of table.split('\n')) assert.ok(line.length <= 120, line)
    const [shown] = rowsOf(stdout)
    assert.ok(shown?.NAME?.endsWith('n…') && shown.models?.startsWith(models.join(', ')), stdout)
    for (const words of [
      ['key', 'list'],
      ['key', 'list', '--burn'],
      ['group', 'list'],
    ]) {
      const { items, total, next_cursor } = JSON.parse((await gazeway(place, ...words, '--json')).stdout)
      assert.deepEqual([items[0].name, items.length, next_cursor], [name, total, null], words.join(' '))
    }
  })

  it('rewrites admin.key where the rotated key is the one in it', async () => {
    const place = newPlace()
    const first = (await key(place, 'create', '--name', 'root', '--scope', 'admin')).stdout.trim()
    const other = (await key(place, 'create', '--name', 'other')).stdout.trim()
    const file = join(place.data, 'admin.key')
    writeFileSync(file, `${first}\n`)
    assert.doesNotMatch((await key(place, 'rotate', idOf(other))).stderr, /admin\.key/)
    assert.equal(readFileSync(file, 'utf8'), `${first}\n`)
    const { stdout, stderr } = await key(place, 'rotate', idOf(first))
    assert.ok(stderr.endsWith(`Wrote the new key to ${file}.\n`), stderr)
    assert.equal(readFileSync(file, 'utf8'), stdout)
    assert.equal(statSync(file).mode & 0o777, 0o600)
  })

  it('warns of alerts that nobody receives', async () => {
    const place = newPlace()
    const alert = ['--alert', '80%', '--budget', '5/day']
    const warned = /^Warning: alerts: none is sent; set both alerts\.webhook_url and alerts\.webhook_secret\.$/m
    assert.match((await key(place, 'create', '--name', 'a', ...alert)).stderr, warned)
    assert.match((await key(place, 'edit', 'a', '--alert', '90%')).stderr, warned)
    assert.match((await group(place, 'create', '--name', 'team', ...alert)).stderr, warned)
    assert.match((await group(place, 'edit', 'team', '--alert', '90%')).stderr, warned)
    const found = (await gazeway(place, 'doctor', '--upstream', 'sandbox')).stdout
    assert.match(found, /^warn +alerts +a and 1 more have alerts that are not sent: set both alerts\.webhook_url/m)
    const secret = `whsec_${Buffer.alloc(32).toString('base64')}`
    const config = { alerts: { webhook_url: 'http://127.0.0.1:9/', webhook_secret: secret } }
    writeFileSync(join(place.data, 'config.json'), JSON.stringify(config))
    assert.doesNotMatch((await key(place, 'create', '--name', 'b', ...alert)).stderr, /Warning/)
    assert.match((await key(place, 'create', '--name', 'c', '--alert', '80%')).stderr, /none is sent without a budget/)
  })

  it('refuses a bad value with exit code 2 and a line that says what is accepted', async () => {
    const place = newPlace()
    const cases: [args: string[], line: RegExp][] = [
      [['create'], /required option '--name <name>'/],
      [['create', '--name', ''], /--name: .*must be text of 1 to 100 characters/],
      [
        ['create', '--name', 'a', '--scope', 'inference platform'],
        /--scope: .*platform, admin, or several of them with commas/,
      ],
      [['create', '--name', 'a', '--scope', ''], /--scope: /],
      [['create', '--name', 'a', '--wallet', '0x12'], /--wallet: .*must be an address of 0x and 40/],
      [['create', '--name', 'a', '--credit', '1.1234567'], /--credit: .*at most 6 decimals/],
      [['create', '--name', 'a', '--credit', '-1'], /--credit/],
      [
        ['create', '--name', 'a', '--budget', '5'],
        /--budget: .*must be none, or USD\/PERIOD .*day, week, month, total/,
      ],
      [['create', '--name', 'a', '--budget', '1e3/day'], /--budget: .*up to 1000000/],
      [['create', '--name', 'a', '--budget', '1000000.000001/day'], /--budget: /],
      [['create', '--name', 'a', '--budget', '0/day'], /--budget: .*above 0/],
      [['create', '--name', 'a', '--budget', '1/day', '--budget', '2/day'], /--budget: .*each period once/],
      [['create', '--name', 'a', '--alert', '0.8'], /--alert: .*must be none, or from 1% to 100%/],
      [['create', '--name', 'a', '--alert', '0%'], /--alert: /],
      [['create', '--name', 'a', '--billing', 'free'], /--billing: .*"recorded", "cost", "metered"/],
      [['create', '--name', 'a', '--models', 'a b'], /--models: .*must be a model id without spaces/],
      [['create', '--name', 'a', '--expires', '90'], /--expires: .*must be never, .*90d, or a future time/],
      [['create', '--name', 'a', '--expires', '2020-01-31T00:00:00Z'], /--expires: .*a future time/],
      [
        ['create', '--name', 'a', '--requests-per-minute', '0'],
        /--requests-per-minute: .*none, or a whole number from 1/,
      ],
      [['create', '--name', 'a', '--tokens-per-minute', '1.5'], /--tokens-per-minute: /],
      [['create', '--name', 'a', '--concurrent', 'many'], /--concurrent: /],
      [['edit', UNKNOWN], /Nothing to change; `gazeway key edit --help`/],
      [['edit', 'gzw_x', '--name', 'a'], /KEY: .*must be the id or the name of a key/],
      [['rotate', UNKNOWN, '--grace', '31d'], /--grace: .*must be a whole number and s, m, h or d.*at most 30d/],
      [['rotate', UNKNOWN, '--grace', '24'], /--grace: /],
      [['revoke', 'gzw_x'], /KEY: .*must be the id or the name of a key/],
      [['revoke'], /missing required argument 'key'/],
      [['remove'], /must be one of create, list, edit, rotate, forgive, revoke/],
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
    const place = newPlace()
    await (await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)).close()
    const { code, stderr } = await key(place, 'revoke', UNKNOWN)
    assert.deepEqual([code, stderr], [1, 'gazeway: There is no key with this id.\n'])
    const named = await key(place, 'rotate', 'nobody')
    assert.deepEqual([named.code, named.stdout], [1, ''])
    assert.match(named.stderr, /There is no key with this name or id; `gazeway key list` shows all keys\.\n$/)
  })

  it('changes, rotates and revokes a key by its name, where no other has it', async () => {
    const place = newPlace()
    const first = (await key(place, 'create', '--name', 'my ide')).stdout.trim()
    const edited = await key(place, 'edit', 'my ide', '--concurrent', '4')
    assert.match(edited.stdout, /4 concurrent calls/)
    const rotated = await key(place, 'rotate', 'my ide', '--grace', '0')
    assert.equal((await bearer(place, rotated.stdout.trim())).id, idOf(first))
    assert.ok(rotated.stderr.includes(`(${idOf(first)})`), rotated.stderr)

    const second = (await key(place, 'create', '--name', 'my ide')).stdout.trim()
    const both = await key(place, 'revoke', 'my ide')
    assert.deepEqual([both.code, both.stdout], [1, ''])
    assert.ok(both.stderr.includes(`2 keys have this name. Name one by its id: ${idOf(second)}, ${idOf(first)}.`))
    assert.equal((await key(place, 'revoke', idOf(second))).code, 0)
    // A revoked key has given its name up.
    assert.match((await key(place, 'revoke', 'my ide')).stderr, new RegExp(`Revoked the key my ide .${idOf(first)}`))
    assert.equal((await key(place, 'rotate', 'my ide')).code, 1)
  })
})

describe('gazeway group', () => {
  it('makes, lists, changes and deletes groups by name or id', async () => {
    const place = newPlace()
    await (await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)).close()
    assert.match((await group(place, 'list')).stderr, /No groups yet.*gazeway group create/)
    const made = await group(place, 'create', '--name', 'team', '--budget', '300/month', '--budget', '20/day')
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stdout, /^grp_[0-9a-f]{32}\n$/)
    const id = made.stdout.trim()
    const { stdout: token } = await key(place, 'create', '--name', 'a', '--group', id)
    const [row = {}] = rowsOf((await group(place, 'list')).stdout)
    const { CREATED: _, ...shown } = row
    const budgets = '20 per day, 300 per month'
    assert.deepEqual(shown, { ID: id, NAME: 'team', KEYS: '1', budgets })

    const renamed = await group(place, 'edit', 'team', '--name', 'research')
    assert.deepEqual(rowsOf(renamed.stdout), [{ ...row, NAME: 'research' }])
    const freed = await group(place, 'edit', id, '--budget', 'none')
    const { budgets: _budgets, ...unlimited } = row
    assert.deepEqual(rowsOf(freed.stdout), [{ ...unlimited, NAME: 'research' }])

    const refused = await group(place, 'delete', 'research')
    assert.deepEqual([refused.code, refused.stdout], [1, ''])
    assert.match(
      refused.stderr,
      /^gazeway: 1 key is in this group\. Revoke it, or take it out first: .*--no-group\.\n$/,
    )
    await key(place, 'edit', idOf(token), '--no-group')
    assert.equal((await group(place, 'delete', 'research')).stderr, 'Deleted the group research.\n')
    const gone = await group(place, 'edit', 'research', '--name', 'x')
    assert.deepEqual([gone.code, gone.stderr.split(';')[0]], [1, 'gazeway: The group does not exist'])
  })

  it('refuses a bad value with exit code 2 and a line that says what is accepted', async () => {
    const place = newPlace()
    await group(place, 'create', '--name', 'team')
    const cases: [args: string[], code: number, line: RegExp][] = [
      [['group', 'create'], 2, /required option '--name <name>'/],
      [['group', 'create', '--name', ''], 2, /--name: .*must be text of 1 to 100 characters/],
      [['group', 'create', '--name', 'a', '--budget', '5/hour'], 2, /--budget: .*such as 5\/day/],
      [['group', 'create', '--name', 'team'], 1, /There is a group "team" already/],
      [['group', 'edit', 'team'], 2, /Nothing to change. Give --name, --budget/],
      [['group', 'remove'], 2, /must be one of create, list, edit, forgive, delete/],
      [
        ['key', 'create', '--name', 'a', '--group', 'nowhere'],
        2,
        /--group: there is no such group\. .*gazeway group list/,
      ],
    ]
    for (const [args, code, line] of cases) {
      const run = await gazeway(place, ...args)
      assert.deepEqual([run.code, run.stdout], [code, ''], args.join(' '))
      assert.match(run.stderr, line)
      assert.equal(run.stderr.trimEnd().split('\n').length, 1, run.stderr)
    }
  })
})
