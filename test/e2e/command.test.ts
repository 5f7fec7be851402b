import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { startFaultyNode } from '../chain/faulty-node.ts'
import * as double from '../doubles/upstream.ts'
import { CLI, finish, newPlace, run, watch } from './server.ts'

describe('the command line', () => {
  const place = newPlace()

  // With it no first key is made and told of.
  const FIXED_KEY = { GAZEWAY_API_KEY: 'a-fixed-key-of-the-operator', GAZEWAY_UPSTREAM: 'sandbox' }
  const mistakes: [args: string[], env: Record<string, string>, line: RegExp][] = [
    [['--nothing'], {}, /unknown option '--nothing'; must be one of .*--data.*--log-level.*--help/],
    [['--stor', 'x'], {}, /'--stor'.*--store/],
    [['nothing'], {}, /unknown command nothing; must be one of .*doctor/],
    [['doctor', 'nothing'], {}, /too many arguments for doctor; must be .*--data.*--help\. Quote a value/],
    [
      ['key', 'create', '--name', 'my', 'laptop'],
      {},
      /too many arguments for create; must be --name, --scope, .*Quote/,
    ],
    [['key', 'revoke', 'key_1', 'key_2'], {}, /too many arguments for revoke; must be <key>, /],
    [['key', 'revoke'], {}, /'key': key id or name, from `gazeway key list`\.$/m],
    [['store'], {}, /^gazeway: store needs a command; must be one of copy\.$/m],
    [['key'], {}, /^gazeway: key needs a command; must be one of create, list, edit, rotate, revoke\.$/m],
    [['key', 'nothing'], {}, /unknown command key nothing; must be one of create, list, edit, rotate, revoke\.$/m],
    [['key', 'create'], {}, /--name <name>' not specified: display name of the key/],
    [['store', 'copy'], {}, /--to <url>' not specified: target store/],
    [['--http', '--host', '999.1.1.1'], FIXED_KEY, /--host: 999\.1\.1\.1 is not an address .*ENOTFOUND.*127\.0\.0\.1/],
    [['--platform', '--host', '192.0.2.7'], FIXED_KEY, /--host: 192\.0\.2\.7 is not an address .*EADDRNOTAVAIL/],
    [['--data'], {}, /--data.*: folder/],
    [['--data', ''], {}, /--data: empty; must be a folder/],
    [['--log-level', 'loud'], {}, /--log-level: .*"debug"/],
    [['--upstream', 'nowhere'], {}, /--upstream: .*xai, openai, anthropic, .*, sandbox, or a base URL/],
    [['--store', 'nowhere'], {}, /--store: .*sqlite:PATH/],
    [[], { GAZEWAY_LOG_LEVEL: 'loud' }, /GAZEWAY_LOG_LEVEL: .*"debug"/],
    [[], { GAZEWAY_UPSTREAM: 'ftp://x' }, /GAZEWAY_UPSTREAM: .*base URL/],
    [[], { GAZEWAY_STORE: 'x' }, /GAZEWAY_STORE: .*sqlite:PATH/],
    ...['127.0.0.1:4318', 'nonsense', 'http://[bad', 'localhost:4318', 'grpc://localhost:4317', 'http:///'].map(
      (address): (typeof mistakes)[number] => [
        ['--http', '--port', '0'],
        { ...FIXED_KEY, OTEL_EXPORTER_OTLP_ENDPOINT: address },
        /OTEL_EXPORTER_OTLP_ENDPOINT: not a URL; must be http:\/\/HOST:4318/,
      ],
    ),
    [
      ['--platform', '--platform-port', '0'],
      { ...FIXED_KEY, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'localhost:4318/v1/traces' },
      /OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: not a URL; must be https?:/,
    ],
    [['doctor'], { GAZEWAY_UPSTREAM_API_KEY: 'a key with spaces' }, /GAZEWAY_UPSTREAM_API_KEY: .*without spaces/],
  ]
  for (const [args, env, line] of mistakes)
    it(`says in one line what is accepted instead of ${[...args, ...Object.keys(env)].join(' ') || 'nothing'}`, async () => {
      const { code, stdout, stderr } = await run(place, args, env)
      assert.match(stderr, /^gazeway: [^\n]+\n$/)
      assert.match(stderr, line)
      assert.deepEqual([code, stdout], [2, ''])
    })

  const address = 'postgres://gate:never-shown@127.0.0.1/gazeway'
  for (const args of [
    ['store', 'copy', '--to', address, 'extra'],
    ['store', 'copy', '--to', 'sqlite:x.db', address],
    ['store', address],
    ['key', 'revoke', 'key_1', address],
    ['doctor', address],
    [address],
    ['--stor', address],
    [`--stor=${address}`],
    [`--databas=${address}`, 'doctor'],
  ])
    it(`does not repeat the password in ${args.join(' ')}`, async () => {
      const { code, stderr } = await run(place, args, {})
      assert.match(stderr, /^gazeway: [^\n]+; must be [^\n]+\n$/)
      assert.doesNotMatch(stderr, /never-shown/)
      assert.equal(code, 2)
    })

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    assert.deepEqual(await run(place, ['--version']), { code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('prints help that teaches', async () => {
    const { code, stdout, stderr } = await run(place, ['--help'])
    assert.deepEqual([code, stderr], [0, ''])
    for (const taught of [
      '--data',
      '--store',
      '--upstream',
      '--log-level',
      '--version',
      '--help',
      'doctor',
      'Examples:',
    ])
      assert.ok(stdout.includes(taught), `mentions ${taught}`)
    assert.match(stdout, /mcpServers/, 'shows what to paste')
    assert.deepEqual((await run(place, ['doctor', '--help'])).code, 0)
  })

  for (const [what, text, named] of [
    ['an unknown field', '{ "upstream": { "provder": "xai" } }', /upstream\.provder.*must be one of provider, /],
    ['a value that is not accepted', '{ "log": { "level": "loud" } }', /log\.level.*"debug"/],
    ['a comment', '{\n  // mine\n}', /line 2, column 3.*valid JSON/],
    ['half a file', '{ "log": ', /line 1.*valid JSON/],
    ['no object', '[]', /must be an object/],
  ] as const)
    it(`does not start with ${what} in config.json, and leaves the file alone`, async () => {
      const { data, env, project } = newPlace()
      const file = join(data, 'config.json')
      mkdirSync(data)
      writeFileSync(file, text)
      for (const args of [[], ['doctor']]) {
        const { code, stdout, stderr } = await finish(spawn(process.execPath, [CLI, ...args], { cwd: project, env }))
        assert.match(stderr, /^gazeway: [^\n]+\n$/)
        assert.ok(stderr.includes(file), `${stderr} names the file`)
        assert.match(stderr, named)
        assert.deepEqual([code, stdout], [1, ''])
      }
      assert.equal(readFileSync(file, 'utf8'), text)
    })

  it('says which Node it needs instead of one that is too old, whatever it is asked to do', async () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8'))
    const first = engines.node.replace('>=', '')
    const pretend = (node: string) => {
      const change = `Object.defineProperty(process.versions, 'node', { value: '${node}' })`
      return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(change)}` }
    }
    for (const node of ['18.20.8', '20.9.0'])
      for (const args of [[], ['--http'], ['doctor'], ['key', 'list']]) {
        const { code, stdout, stderr } = await run(place, args, pretend(node))
        assert.match(stderr, new RegExp(`^gazeway: This is Node ${node}; Gazeway needs ${first} or later\\. [^\n]+\n$`))
        assert.deepEqual([code, stdout], [1, ''])
      }
    for (const node of [first, '100.0.0'])
      assert.equal((await run(place, ['doctor', '--upstream', 'sandbox'], pretend(node))).code, 0)
  })

  it('says so where the folder that it is started in is gone', async () => {
    const gone = join(newPlace().project, 'gone')
    mkdirSync(gone)
    const command = `rmdir "${gone}" && exec "${process.execPath}" "${CLI}" doctor`
    const { code, stderr } = await finish(spawn('sh', ['-c', command], { cwd: gone, env: place.env }))
    assert.equal(stderr, 'gazeway: The working directory no longer exists. Start Gazeway in another folder.\n')
    assert.equal(code, 1)
  })

  it('exits cleanly when the reader of its output closes early', async () => {
    for (const args of [['--help'], ['doctor']]) {
      const child = spawn(process.execPath, [CLI, ...args], { cwd: place.project, env: place.env })
      child.stdout.destroy()
      const { stderr } = await finish(child)
      assert.equal(stderr, '')
    }
  })

  const full = existsSync('/dev/full')
  it('ends with 1 where its output could not be written', { skip: !full && 'there is no /dev/full' }, async () => {
    const device = openSync('/dev/full', 'w')
    for (const args of [['--help'], ['doctor', '--upstream', 'sandbox'], ['key', 'create', '--name', 'lost']]) {
      const child = spawn(process.execPath, [CLI, ...args], {
        cwd: place.project,
        env: place.env,
        stdio: ['ignore', device, 'pipe'],
      })
      const [said, [code]] = await Promise.all([text(child.stderr ?? assert.fail()), once(child, 'exit')])
      assert.match(said, /^gazeway: The output could not be written \(ENOSPC\)\.$/m)
      assert.equal(code, 1, args.join(' '))
    }
    closeSync(device)
  })
})

describe('a start without a key', () => {
  for (const [name, args] of [
    ['stdio', []],
    ['--http', ['--http', '--host', 'nowhere.invalid']],
  ] as const)
    it(`says so on stderr: ${name}`, async () => {
      const { stdout, stderr } = await run(newPlace(), [...args])
      assert.match(stderr, /No key is set for the upstream xai\. Either set XAI_API_KEY .*--upstream sandbox/)
      assert.equal(stdout, '')
      const keyed = await run(newPlace(), [...args], { XAI_API_KEY: 'xai-0123456789abcdef' })
      assert.doesNotMatch(keyed.stderr, /No key/)
    })
})

describe('doctor', () => {
  const SECRET = 'xai-0123456789abcdef'
  const place = newPlace()
  let upstream: double.UpstreamDouble
  let silent: double.UpstreamDouble
  /** Under way from the beginning, because it takes the doctor's whole patience. */
  let unanswered: ReturnType<typeof doctor>
  before(async () => {
    upstream = await double.startUpstream()
    silent = await double.startUpstream()
    silent.on('/models', double.hangs)
    unanswered = doctor([], { GAZEWAY_UPSTREAM: silent.url }, newPlace())
  })
  after(async () => {
    await upstream.close()
    await silent.close()
  })
  const doctor = async (args: string[] = [], env: Record<string, string> = {}, at = place) => {
    const { code, stdout, stderr } = await run(at, ['doctor', ...args], env)
    assert.equal(stderr, '')
    return { code, lines: stdout.trimEnd().split('\n') }
  }

  it('finds all well with the sandbox', async () => {
    const { code, lines } = await doctor(['--upstream', 'sandbox'])
    assert.equal(code, 0)
    assert.deepEqual(
      lines.map((line) => line.split(/ {2,}/).slice(0, 2)),
      [
        ['ok', 'configuration'],
        ['ok', 'store'],
        ['ok', 'clock'],
        ['ok', 'ledger'],
        ['ok', 'upstream'],
        ['ok', 'audit trail'],
        ['ok', 'prices'],
        ['ok', 'chains'],
        ['ok', 'payments'],
        ['ok', 'embeddings'],
        ['ok', 'alerts'],
        ['ok', 'tracing'],
        ['ok', 'agent gateway'],
      ],
    )
    assert.ok(lines[0]?.includes(place.data), 'says where the data is')
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
    const { code, lines } = await doctor(['--upstream', 'sandbox', '--store', `sqlite:${file}`])
    assert.equal(code, 1)
    assert.match(lines[1] ?? '', /^FAIL {2}store .*It is damaged \(.*\)\. Stop every process .* -wal and -shm files/)
  })

  it('names receipts, days and attestations that the ledger and releases do not agree with, and what to do', async () => {
    const { file, database } = await storeOf('corrupt')
    database.exec(`
      insert into metered_calls (call_id, caller_id, model, status, at, deadline, held_micros, margin_micros,
        upstream_cost_micros, token, prompt_tokens, completion_tokens, total_tokens, usage_estimated, latency_ms, path, counted_on)
      values ('call_1', 'key_1', 'm', 'captured', '2026-11-21T08:00:00.000Z', '2026-11-21T08:00:00.000Z', 9, 4, 5, 't', 1, 1, 2, 0, 1,
        '/api/wallet/metered/call', '2026-11-21');
      insert into spending (owner, day, charged_micros, recorded_micros)
      values ('key_1', '2026-11-21', 8, 0), ('key_1', 'total', 8, 0);
      insert into attestation_uses (attestation_id, used_by, used_at)
      values ('att_1', 'release esc_1', '2026-11-21T08:00:00.000Z');`)
    database.close()
    const { code, lines } = await doctor(['--upstream', 'sandbox', '--store', `sqlite:${file}`])
    assert.equal(code, 1)
    const line = lines[3] ?? ''
    for (const fault of [
      'FAIL  ledger',
      'Receipt call_1: the ledger has no capture for it.',
      'Spending of key_1 on 2026-11-21: it is 8, its calls and escrows sum to 9 micro-dollars.',
      'att_1: it was used for "release esc_1", which did not happen with it.',
      'Restore a backup',
    ])
      assert.ok(line.includes(fault), `${line} says ${fault}`)
  })

  async function storeOf(name: string): Promise<{ file: string; database: DatabaseSyncInstance }> {
    const file = join(place.data, `${name}.db`)
    assert.equal((await doctor(['--upstream', 'sandbox', '--store', `sqlite:${file}`])).code, 0)
    return { file, database: new DatabaseSync(file) }
  }

  it('tells whether the collector of spans takes them', async () => {
    const address = upstream.url.replace('/v1', '')
    const tracing = async (endpoint: string) => {
      const { code, lines } = await doctor(['--upstream', 'sandbox'], { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
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
    const { code, lines } = await doctor(['--upstream', 'sandbox'], { GAZEWAY_UPSTREM: 'never-shown' })
    assert.equal(code, 0)
    assert.match(lines[1] ?? '', /^warn {2}environment {4}GAZEWAY_UPSTREM is not read; .* GAZEWAY_UPSTREAM\.$/)
    assert.ok(!lines.join().includes('never-shown'))
    const child = spawn(process.execPath, [CLI, '--upstream', 'sandbox'], {
      cwd: place.project,
      env: { ...place.env, GAZEWAY_UPSTREM: 'x' },
    })
    child.stdin.end()
    const { code: ended, stderr } = await finish(child)
    assert.deepEqual([ended, stderr.trimEnd().split('\n').length], [0, 1])
    assert.match(stderr, /"level":"warn".*GAZEWAY_UPSTREM is not read/)
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
      const { code, lines } = await doctor(['--upstream', 'sandbox'], env)
      assert.match(lines.at(-1) ?? '', found)
      assert.doesNotMatch(lines.at(-1) ?? '', /\.\./)
      assert.equal(code, lines.at(-1)?.startsWith('ok') ? 0 : 1)
    })

  /** Output of doctor for an upstream that lists these models. */
  const ofUpstream = async (ids: string[], settings: object = {}) => {
    upstream.on('/models', double.json(200, { data: ids.map((id) => ({ id })) }))
    mkdirSync(place.data, { recursive: true, mode: 0o700 })
    writeFileSync(join(place.data, 'config.json'), JSON.stringify({ upstream: settings }))
    const { code, lines } = await doctor([], { GAZEWAY_UPSTREAM: upstream.url, GAZEWAY_UPSTREAM_API_KEY: SECRET })
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
    const line = await ofUpstream(['phi'], { aliases, models: { primary: 'gone' } })
    assert.match(line, /^warn {2}upstream .*does not list gone, retired-3 \(llm-3-fast\): set upstream\.aliases/)
    assert.match(await ofUpstream([]), /^warn {2}upstream .*lists no models/)
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
      const { code, lines } = await doctor([], { GAZEWAY_UPSTREAM: upstream.url, GAZEWAY_UPSTREAM_API_KEY: SECRET })
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
      const { code, lines } = await doctor(['--upstream', 'sandbox', '--store', `sqlite:${file}`])
      assert.equal(code, 1)
      const line = lines.find((found) => found.startsWith('FAIL')) ?? ''
      assert.match(line, /^FAIL {2}store /)
      assert.match(line, advice)
      assert.ok(line.includes(file), 'names the file')
    })

  it('says what to do about a store that can only be read', async (t) => {
    await doctor(['--upstream', 'sandbox'])
    const readOnly = `${place.data}-read-only`
    mkdirSync(readOnly)
    const mount = (...args: string[]) => spawnSync('mount', [...args, readOnly]).status === 0
    if (!mount('--bind', place.data)) return t.skip('mounting is not permitted here')
    t.after(() => spawnSync('umount', ['-l', readOnly]))
    assert.ok(mount('-o', 'remount,bind,ro'))
    const { code, lines } = await doctor(['--upstream', 'sandbox', '--data', readOnly])
    assert.equal(code, 1)
    assert.match(lines[1] ?? '', /^FAIL {2}store .*is read-only; give this user write permission/)
  })

  it('says what payments lack, and asks their node', async (t) => {
    const { data, ...there } = newPlace()
    mkdirSync(data)
    const payments = async (mpp: object, secret = 'x'.repeat(32)) => {
      writeFileSync(join(data, 'config.json'), JSON.stringify({ mpp: { enabled: true, ...mpp } }))
      const env = { GAZEWAY_UPSTREAM: 'sandbox', GAZEWAY_MPP_SECRET_KEY: secret }
      const { code, stdout } = await run({ data, ...there }, ['doctor'], env)
      return `${code} ${stdout.split('\n').find((line) => / payments /.test(line))}`
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
    const { code, lines } = await doctor([], env)
    assert.equal(code, 1)
    assert.match(lines.find((line) => line.startsWith('FAIL')) ?? '', /wrong version number.*Check the address/)
  })

  it('says what to do about an upstream that never answers', async () => {
    const { code, lines } = await unanswered
    assert.equal(code, 1)
    assert.match(lines.find((line) => line.startsWith('FAIL')) ?? '', /No answer within 10 s: check the address/)
  })
})

describe('gazeway store copy', () => {
  it('copies no store that is not there, and makes none', async () => {
    const place = newPlace()
    const backup = join(place.project, 'backup.db')
    const { code, stdout, stderr } = await run(place, ['store', 'copy', '--to', `sqlite:${backup}`])
    assert.deepEqual([code, stdout], [1, ''])
    assert.equal(
      stderr,
      `gazeway: There is no store at ${join(place.data, 'gazeway.db')}. Name the source with --data or --store.\n`,
    )
    assert.deepEqual([existsSync(place.data), existsSync(backup)], [false, false])
  })

  it('takes ~/ for the home folder, which no shell puts in behind sqlite:', async () => {
    const place = newPlace()
    const env = { HOME: place.project }
    assert.equal((await run(place, ['key', 'list'], env)).code, 0)
    assert.equal((await run(place, ['store', 'copy', '--to', 'sqlite:~/backup.db'], env)).code, 0)
    assert.ok(existsSync(join(place.project, 'backup.db')))
  })
})

const terminal = spawnSync('script', ['--version']).status === 0
describe('a person in a terminal', { skip: !terminal && 'there is no script(1) to make a terminal with' }, () => {
  const start = (place: ReturnType<typeof newPlace>, command: string, env = {}) =>
    watch(
      spawn('script', ['-qec', command, '/dev/null'], {
        cwd: place.project,
        env: { ...place.env, SHELL: '/bin/sh', ...env },
      }),
    )

  it('is told what this is, where the data is and what to paste', async () => {
    const place = newPlace()
    // Standard output aside, so that what comes through the terminal is standard error.
    const { child, exit, stdout } = start(place, `exec "${process.execPath}" "${CLI}" --upstream sandbox >/dev/null`)
    await shown(stdout, /Ctrl\+C/)
    for (const told of [/gazeway \d+\.\d+\.\d+: MCP tool server/, /sandbox/, /--help/]) assert.match(stdout(), told)
    assert.ok(stdout().includes(place.data), 'where the data is')
    const pasted = /\{.*mcpServers.*\}/.exec(stdout())?.[0] ?? ''
    assert.deepEqual(JSON.parse(pasted).mcpServers.gazeway, {
      command: 'npx',
      args: ['-y', 'gazeway', '--data', place.data, '--upstream', 'sandbox'],
    })
    child.stdin.write('\x03')
    assert.equal((await exit).code, 0)
  })

  it('is told when there is no key, and how to go on', async () => {
    const place = newPlace()
    const { child, exit, stdout } = start(place, `exec "${process.execPath}" "${CLI}" --data here >/dev/null`)
    await shown(stdout, /Ctrl\+C/)
    assert.match(stdout(), /xai.*no API key.*XAI_API_KEY.*--upstream sandbox/)
    const { args, env } = JSON.parse(/\{.*mcpServers.*\}/.exec(stdout())?.[0] ?? '').mcpServers.gazeway
    assert.deepEqual(args, ['-y', 'gazeway', '--data', join(place.project, 'here')])
    assert.deepEqual(Object.keys(env), ['XAI_API_KEY'])
    child.stdin.write('\x04')
    assert.equal((await exit).code, 0)
  })

  it('is given an entry that starts the same server in another folder', async () => {
    const entryFor = async (flags: string, env = {}) => {
      const place = newPlace()
      const started = `exec "${process.execPath}" "${CLI}" --upstream sandbox ${flags} >/dev/null`
      const { child, exit, stdout } = start(place, started, { GAZEWAY_HOME: '', ...env })
      await shown(stdout, /Ctrl\+C/)
      const { args } = JSON.parse(/\{.*mcpServers.*\}/.exec(stdout())?.[0] ?? '').mcpServers.gazeway
      child.stdin.write('\x04')
      assert.equal((await exit).code, 0)
      return args.join(' ').replaceAll(place.project, 'PROJECT')
    }
    const store = 'sqlite:PROJECT/a.db'
    assert.equal(await entryFor('--store sqlite:a.db'), `-y gazeway --store ${store} --upstream sandbox`)
    assert.equal(
      await entryFor('--data d', { GAZEWAY_STORE: 'postgres://me:hunter22@db/x' }),
      '-y gazeway --data PROJECT/d --store postgres://me:***@db/x --upstream sandbox',
    )
  })

  it('is given an entry with a place for the key of an address', async () => {
    const place = newPlace()
    const started = `exec "${process.execPath}" "${CLI}" --upstream http://localhost:1/v1 >/dev/null`
    const { child, exit, stdout } = start(place, started, { GAZEWAY_UPSTREAM_API_KEY: 'a-key-of-my-own' })
    await shown(stdout, /Ctrl\+C/)
    const { env } = JSON.parse(/\{.*mcpServers.*\}/.exec(stdout())?.[0] ?? '').mcpServers.gazeway
    assert.deepEqual(env, { GAZEWAY_UPSTREAM_API_KEY: '…' })
    assert.ok(!stdout().includes('a-key-of-my-own'))
    child.stdin.write('\x04')
    assert.equal((await exit).code, 0)
  })
})

/** Waits until a terminal shows what is looked for. */
async function shown(screen: () => string, looked: RegExp): Promise<void> {
  while (!looked.test(screen())) await new Promise((resolve) => setImmediate(resolve))
}
