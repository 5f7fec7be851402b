import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { runDoctor } from '../../adapters/command/doctor.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { ConfigFlags } from '../../src/config/environment.ts'
import { createLog } from '../../src/config/log.ts'
import { startFaultyNode } from '../chain/faulty-node.ts'
import * as double from '../doubles/upstream.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-doctor-'))
after(() => rmSync(folder, { recursive: true }))
let places = 0

/** A folder to start in, and one for data that is not there yet. */
function newPlace(): { project: string; data: string } {
  const project = join(folder, `${places++}`)
  mkdirSync(join(project, 'src'), { recursive: true })
  writeFileSync(join(project, 'README.md'), '# Parcels\n\nTracks parcels.\n')
  return { project, data: join(project, 'data') }
}

describe('doctor', () => {
  const SECRET = 'xai-0123456789abcdef'
  const SANDBOX = { upstream: 'sandbox' }
  const place = newPlace()
  let upstream: double.UpstreamDouble
  let silent: double.UpstreamDouble
  /** Under way from the beginning, because it takes the doctor's whole patience. */
  let unanswered: ReturnType<typeof doctor>
  before(async () => {
    upstream = await double.startUpstream()
    silent = await double.startUpstream()
    silent.on('/models', double.hangs)
    unanswered = doctor({}, { GAZEWAY_UPSTREAM: silent.url }, newPlace())
  })
  after(async () => {
    await upstream.close()
    await silent.close()
  })
  async function doctor(
    flags: ConfigFlags = {},
    env: Record<string, string> = {},
    { data, project } = place,
    options: Parameters<typeof runDoctor>[3] = {},
  ) {
    const loaded = await loadConfig({ env: { GAZEWAY_HOME: data, ...env }, flags, cwd: project })
    const lines: string[] = []
    const log = createLog({ level: 'silent', secrets: () => loaded.secrets })
    const healthy = await runDoctor(loaded, log, (line) => lines.push(line), options)
    return { code: healthy ? 0 : 1, lines }
  }

  it('finds all well with the sandbox', async () => {
    const { code, lines } = await doctor(SANDBOX)
    assert.equal(code, 0)
    assert.deepEqual(
      lines.map((line) => line.split(/ {2,}/).slice(0, 2)),
      [
        ['ok', 'configuration'],
        ['ok', 'store'],
        ['ok', 'clock'],
        ['ok', 'ledger'],
        ['ok', 'upstream'],
        ['ok', 'presumed'],
        ['ok', 'audit trail'],
        ['ok', 'prices'],
        ['ok', 'facts'],
        ['ok', 'bills'],
        ['ok', 'chains'],
        ['ok', 'payments'],
        ['ok', 'embeddings'],
        ['ok', 'alerts'],
        ['ok', 'tracing'],
        ['ok', 'agent gateway'],
      ],
    )
    assert.ok(lines[0]?.includes(place.data), 'says where the data is')
    assert.match(lines[6] ?? '', /calls: \d+; those since \S+ match their receipts$/)
  })

  it('lists the models without a price that keys with budgets or charges may not use', async () => {
    const own = newPlace()
    mkdirSync(own.data, { recursive: true })
    const at = { base_url: upstream.url, api_keys: ['k'] }
    const router = { provider: 'openrouter', ...at, aliases: { mine: 'maker/invented' } }
    const upstreams = { router, bare: { provider: upstream.url, api_keys: ['k'] } }
    writeFileSync(join(own.data, 'config.json'), JSON.stringify({ upstreams }))
    const { lines } = await doctor(SANDBOX, {}, own)
    const found = lines.find((line) => line.includes(' prices '))
    assert.match(found ?? '', /no price at router, refused to keys with budgets or charges: mine/)
    assert.match(found ?? '', /at bare keys with budgets or charges may use the models of pricing\.models alone/)
  })

  it('finds damage in parts of a store that were not read yet', async () => {
    const { file, database } = await storeOf('damaged')
    const { rootpage } = database.prepare("select rootpage from sqlite_master where name = 'session_texts'").get() as {
      rootpage: number
    }
    const { page_size } = database.prepare('pragma page_size').get() as { page_size: number }
    database.close()
    const damaged = openSync(file, 'r+')
    writeSync(damaged, Buffer.alloc(page_size, 0xff), 0, page_size, (rootpage - 1) * page_size)
    closeSync(damaged)
    const { code, lines } = await doctor({ ...SANDBOX, store: `sqlite:${file}` })
    assert.equal(code, 1)
    assert.match(lines[1] ?? '', /^FAIL {2}store .*It is damaged \(.*\)\. Stop every process .* -wal and -shm files/)
  })

  it('names receipts, days and attestations that the ledger and releases do not agree with, and what to do', async () => {
    const { file, database } = await storeOf('corrupt')
    database.exec(`
      insert into metered_calls (call_id, caller_id, model, at, margin_micros,
        upstream_cost_micros, token, prompt_tokens, completion_tokens, total_tokens, usage_estimated, latency_ms, path, counted_on)
      values ('call_1', 'key_1', 'm', '2026-11-21T08:00:00.000Z', 4, 5, 't', 1, 1, 2, 0, 1,
        '/api/wallet/metered/call', '2026-11-21');
      insert into spending (owner, day, charged_micros, recorded_micros)
      values ('key_1', '2026-11-21', 8, 0), ('key_1', 'total', 8, 0);
      insert into attestation_uses (attestation_id, used_by, used_at)
      values ('att_1', 'release esc_1', '2026-11-21T08:00:00.000Z');`)
    database.close()
    const { code, lines } = await doctor({ ...SANDBOX, store: `sqlite:${file}` })
    assert.equal(code, 1)
    const line = lines[3] ?? ''
    for (const fault of [
      'FAIL  ledger',
      'Receipt call_1: no transfer in the ledger took its money.',
      'Spending of key_1 on 2026-11-21: it is 8, its calls and escrows sum to 9 micro-dollars.',
      'att_1: it was used for "release esc_1", which did not happen with it.',
      'Restore a backup',
    ])
      assert.ok(line.includes(fault), `${line} says ${fault}`)
  })

  it('says which calls of a long week it has not compared with their receipts, and compares them with --recover', async () => {
    const { file, database } = await storeOf('busy')
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()
    database.exec(`
      insert into calls (call_id, at, surface, path, upstream, stream, status, latency_ms, latency_bucket, usage_estimated,
          upstream_cost_micros)
        with recursive counted (n) as (select 1 union all select n + 1 from counted where n <= 20000)
        select 'call_' || n, '${ago(7200)}', 'http', '/v1/responses', 'x', 0, 'ok', 1, 0, 0, 0 from counted;
      insert into metered_calls (call_id, caller_id, model, at, margin_micros,
        upstream_cost_micros, token, prompt_tokens, completion_tokens, total_tokens, usage_estimated, latency_ms, path, counted_on)
      values ('lost', 'key_1', 'm', '${ago(86_400)}', 4, 5, 't', 1, 1, 2, 0, 1, '/v1/responses', '${ago(86_400).slice(0, 10)}')`)
    database.close()
    const trail = async (options = {}) => {
      const { lines } = await doctor({ ...SANDBOX, store: `sqlite:${file}` }, {}, place, options)
      return lines.find((line) => line.includes('  audit trail  ')) ?? ''
    }
    assert.match(
      await trail(),
      /^ok .* match their receipts; calls from \S+ until then were not compared, `gazeway doctor --/,
    )
    assert.match(await trail({ recover: true }), /^warn .* without a call record: 1, [^;]*; [^;]*before the charge$/)
  })

  async function storeOf(name: string): Promise<{ file: string; database: DatabaseSyncInstance }> {
    const file = join(place.data, `${name}.db`)
    assert.equal((await doctor({ ...SANDBOX, store: `sqlite:${file}` })).code, 0)
    return { file, database: new DatabaseSync(file) }
  }

  it('tells whether the collector of spans takes them', async () => {
    const address = upstream.url.replace('/v1', '')
    const tracing = async (endpoint: string) => {
      const { code, lines } = await doctor(SANDBOX, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
      return [code, lines.at(-2)]
    }
    const advice = 'Check OTEL_EXPORTER_OTLP_ENDPOINT, the collector’s HTTP port.'
    const failed = `${address}/v1/traces answered 404: this is not an OTLP collector. ${advice}`
    assert.deepEqual(await tracing(address), [1, `FAIL  tracing        ${failed}`])
    upstream.on('/traces', double.json(200, { partialSuccess: {} }))
    assert.deepEqual(await tracing(address), [0, `ok    tracing        spans go to ${address}/v1/traces`])
    assert.deepEqual(await tracing('http://127.0.0.1:1'), [
      1,
      `FAIL  tracing        http://127.0.0.1:1/v1/traces: no collector answers at this address. ${advice}`,
    ])
    assert.match(String(await tracing('collector:4318')), /^1,FAIL {2}tracing .*OTEL_EXPORTER_OTLP_ENDPOINT: not a URL/)
  })

  it('warns of a variable that is misspelt, with all well', async () => {
    const { code, lines } = await doctor(SANDBOX, { GAZEWAY_UPSTREM: 'never-shown' })
    assert.equal(code, 0)
    assert.match(lines[1] ?? '', /^warn {2}environment {4}GAZEWAY_UPSTREM is not read; .* GAZEWAY_UPSTREAM\.$/)
    assert.ok(!lines.join().includes('never-shown'))
  })

  const MODELS: double.Behaviour = double.json(200, { data: [] })
  for (const [what, models, found] of [
    ['only infers', MODELS, /^ok {4}agent gateway {2}portable: /],
    ['refuses the key', double.json(401, {}), /^FAIL {2}agent gateway .*check GAZEWAY_AGENT_GATEWAY_KEY\.$/],
    [
      'infers nothing',
      double.fails(404),
      /^FAIL {2}agent gateway .*404 on \/v1\/models.* Check GAZEWAY_AGENT_GATEWAY_URL/,
    ],
  ] as const)
    it(`looks at an agent gateway that ${what}`, async () => {
      upstream.on('/models', models)
      const env = { GAZEWAY_AGENT_GATEWAY_URL: `${upstream.url}/`, GAZEWAY_AGENT_GATEWAY_KEY: SECRET }
      const { code, lines } = await doctor(SANDBOX, env)
      assert.match(lines.at(-1) ?? '', found)
      assert.doesNotMatch(lines.at(-1) ?? '', /\.\./)
      assert.equal(code, lines.at(-1)?.startsWith('ok') ? 0 : 1)
    })

  /** Output of doctor for an upstream that lists these models. */
  const ofUpstream = async (ids: string[], settings: object = {}) => {
    upstream.on('/models', double.json(200, { data: ids.map((id) => ({ id })) }))
    mkdirSync(place.data, { recursive: true, mode: 0o700 })
    writeFileSync(join(place.data, 'config.json'), JSON.stringify({ upstream: settings }))
    const { code, lines } = await doctor({}, { GAZEWAY_UPSTREAM: upstream.url, GAZEWAY_UPSTREAM_API_KEY: SECRET })
    rmSync(join(place.data, 'config.json'))
    assert.equal(code, 0)
    return lines.find((line) => /^\w+ +upstream /.test(line)) ?? ''
  }

  it('finds all well with an upstream that lists its models, and says which answers where none is configured', async () => {
    const line = await ofUpstream(['embed-1', 'qwen3', 'phi'], { models: { primary: 'phi' } })
    assert.match(line, /^ok {4}upstream .*models: 3; without a configured model chat, fallback: qwen3$/)
    assert.equal(upstream.received.at(-1)?.headers.authorization, `Bearer ${SECRET}`)
  })

  it('warns of aliases and roles whose models the upstream does not list', async () => {
    const aliases = { 'llm-3-fast': 'retired-3', quick: 'phi', 'llm-4.20-0309-reasoning': 'phi' }
    const line = await ofUpstream(['embed-1', 'phi'], { aliases, models: { primary: 'gone' } })
    assert.match(
      line,
      /^warn {2}upstream .*does not list gone, retired-3 \(llm-3-fast\): set upstream\.aliases.*such as phi\.$/,
    )
    assert.match(await ofUpstream([]), /^warn {2}upstream .*lists no models/)
  })

  it('warns of a model of a role at the upstream that its calls go to, and at no other', async (t) => {
    const [named, other] = await Promise.all([double.startUpstream(), double.startUpstream()])
    t.after(() => Promise.all([named.close(), other.close()]))
    const apart = newPlace()
    mkdirSync(apart.data)
    for (const [at, id] of [
      [upstream, 'phi'],
      [named, 'qwen3'],
      [other, 'voxtral'],
    ] as const)
      at.on('/models', double.json(200, { data: [{ id }] }))
    const ofUpstreams = async (models: object) => {
      const config = {
        upstream: { aliases: { quick: 'phi', routed: 'gone' }, models },
        upstreams: { local: { base_url: named.url }, voice: { base_url: other.url } },
        routes: [{ model: 'routed', to: ['local/qwen3'] }],
      }
      writeFileSync(join(apart.data, 'config.json'), JSON.stringify(config))
      const env = { GAZEWAY_UPSTREAM: upstream.url, GAZEWAY_UPSTREAM_API_KEY: SECRET }
      const { lines } = await doctor({}, env, apart)
      return lines.filter((line) => /^\w+ +upstream /.test(line)).map((line) => line.replace(/ {2,}/, ' '))
    }
    const listed = await ofUpstreams({ chat: 'quick', primary: 'phi', fallback: 'local/qwen3' })
    assert.deepEqual(
      listed.map((line) => line.slice(0, 4)),
      ['ok u', 'ok u', 'ok u'],
      listed.join('\n'),
    )
    const [first, second, third] = await ofUpstreams({ chat: 'quick', primary: 'phi', fallback: 'local/gone' })
    assert.match(first ?? '', /^ok /)
    assert.match(
      second ?? '',
      /^warn upstream local .*does not list gone: set upstreams\.local\.aliases, upstream\.models/,
    )
    assert.match(third ?? '', /^ok /)
  })

  it('names both ways out when there is no key', async () => {
    const { code, lines } = await doctor()
    assert.equal(code, 1)
    assert.match(
      lines.find((line) => /^\w+ +upstream /.test(line)) ?? '',
      /^FAIL {2}upstream .*XAI_API_KEY.*--upstream sandbox/,
    )
  })

  const page: double.Behaviour = (response) => void response.end('<html>Welcome</html>')
  const illnesses: [what: string, behaviour: double.Behaviour, advice: RegExp][] = [
    [
      'refuses the key',
      double.json(401, { error: { message: `Bad key ${SECRET}` } }),
      /401.*check its key \(GAZEWAY_UPSTREAM_API_KEY\)/,
    ],
    ['limits requests', double.json(429, {}), /429: it limits requests. Retry later/],
    ['knows no models', double.fails(404), /404.*check its address/],
    ['sends elsewhere', double.json(302, {}, { location: 'http://elsewhere/' }), /302.*check its address/],
    ['is a web page', page, /check its address/],
    ['is ill itself', double.fails(500), /500.*Retry later/],
    ['drops the connection', double.drops, /could not be reached.*Check the address/],
  ]
  for (const [what, behaviour, advice] of illnesses)
    it(`says what to do about an upstream that ${what}, and no secret`, async () => {
      upstream.on('/models', behaviour)
      const { code, lines } = await doctor({}, { GAZEWAY_UPSTREAM: upstream.url, GAZEWAY_UPSTREAM_API_KEY: SECRET })
      assert.equal(code, 1)
      assert.match(lines.find((line) => /^\w+ +upstream /.test(line)) ?? '', /^FAIL {2}upstream /)
      assert.match(lines.find((line) => line.startsWith('FAIL')) ?? '', advice)
      assert.ok(!lines.join().includes(SECRET), 'tells no secret')
    })

  for (const [what, path, advice] of [
    ['lies below a file', 'README.md/store.db', /cannot be opened. Check that its folder exists and is writable/],
    ['is a folder', 'src', /cannot be opened/],
    ['is another kind of file', 'README.md', /not a SQLite database.*--store/],
  ] as const)
    it(`says what to do about a store that ${what}`, async () => {
      const file = join(place.project, path)
      const { code, lines } = await doctor({ ...SANDBOX, store: `sqlite:${file}` })
      assert.equal(code, 1)
      const line = lines.find((found) => found.startsWith('FAIL')) ?? ''
      assert.match(line, /^FAIL {2}store /)
      assert.match(line, advice)
      assert.ok(line.includes(file), 'names the file')
    })

  it('says what to do about a store that can only be read', async (t) => {
    await doctor(SANDBOX)
    const readOnly = `${place.data}-read-only`
    mkdirSync(readOnly)
    const mount = (...args: string[]) => spawnSync('mount', [...args, readOnly]).status === 0
    if (!mount('--bind', place.data)) return t.skip('mounting is not permitted here')
    t.after(() => spawnSync('umount', ['-l', readOnly]))
    assert.ok(mount('-o', 'remount,bind,ro'))
    const { code, lines } = await doctor({ ...SANDBOX, data: readOnly })
    assert.equal(code, 1)
    assert.match(lines[1] ?? '', /^FAIL {2}store .*is read-only; give this user write permission/)
  })

  it('says what payments lack, and asks their node', async (t) => {
    const apart = newPlace()
    mkdirSync(apart.data)
    const payments = async (mpp: object, secret = 'x'.repeat(32)) => {
      writeFileSync(join(apart.data, 'config.json'), JSON.stringify({ mpp: { enabled: true, ...mpp } }))
      const env = { GAZEWAY_UPSTREAM: 'sandbox', GAZEWAY_MPP_SECRET_KEY: secret }
      const { code, lines } = await doctor({}, env, apart)
      return `${code} ${lines.find((line) => / payments /.test(line))}`
    }
    const node = await startFaultyNode('')
    t.after(() => node.stop())
    const tempo = { methods: ['tempo'], recipient: `0x${'1'.repeat(40)}`, tempo: { rpc_url: node.url } }
    assert.match(await payments({}, ''), /^1 FAIL {2}payments .*mpp\.secret_key: missing.*GAZEWAY_MPP_SECRET_KEY/)
    node.lie = () => ({ result: '0x1' })
    assert.match(await payments(tempo), /^1 FAIL {2}payments .*mpp\.tempo\.rpc_url: .*on chain 1, not 42431/)
    node.lie = () => ({ result: '0xa5bf' })
    assert.match(await payments(tempo), /^0 ok {4}payments .*tempo \(chain 42431\)/)
    node.stop()
    assert.match(await payments(tempo), /^1 FAIL {2}payments .*mpp\.tempo\.rpc_url: The node cannot be reached/)
  })

  it('says in one line what TLS says in more', async () => {
    const env = { GAZEWAY_UPSTREAM: upstream.url.replace('http:', 'https:'), GAZEWAY_UPSTREAM_API_KEY: SECRET }
    const { code, lines } = await doctor({}, env)
    assert.equal(code, 1)
    assert.match(
      lines.find((line) => line.startsWith('FAIL')) ?? '',
      /\(ERR_SSL_WRONG_VERSION_NUMBER\)\. Check the address/,
    )
  })

  it('says what to do about an upstream that never answers', async () => {
    const { code, lines } = await unanswered
    assert.equal(code, 1)
    assert.match(lines.find((line) => line.startsWith('FAIL')) ?? '', /No answer within 10 s: check the address/)
  })
})
