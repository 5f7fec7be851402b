import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import { runHere } from './in-process.ts'
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
    [['store'], {}, /^gazeway: store needs a command; must be one of copy, backup, restore, archive, migrate\.$/m],
    [
      ['key'],
      {},
      /^gazeway: key needs a command; must be one of create, list, edit, rotate, forgive, revoke, release\.$/m,
    ],
    [
      ['key', 'nothing'],
      {},
      /unknown command key nothing; must be one of create, list, edit, rotate, forgive, revoke, release\.$/m,
    ],
    [['help', 'nothing'], {}, /gazeway has no such command; must be one of doctor, .*key/],
    [
      ['help', 'key', 'nothing'],
      {},
      /key has no such command; must be one of create, list, edit, rotate, forgive, revoke, release\.$/m,
    ],
    [['--tools', 'foo'], {}, /^gazeway: --tools: .*must be one of the groups model, .* gateway_memory_store/],
    [
      ['--exclude-tools', 'memory,foo'],
      {},
      /^gazeway: --exclude-tools: invalid value; must be one of the groups model/,
    ],
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
      const { code, stdout, stderr } = await runHere(place, args, env)
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
      const { code, stderr } = await runHere(place, args)
      assert.match(stderr, /^gazeway: [^\n]+; must be [^\n]+\n$/)
      assert.doesNotMatch(stderr, /never-shown/)
      assert.equal(code, 2)
    })

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    assert.deepEqual(await run(place, ['--version']), { code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('prints help that teaches, and one line for a mistake', async () => {
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
    assert.deepEqual((await runHere(place, ['doctor', '--help'])).code, 0)
    const mistaken = await runHere(place, ['doctor', '--nothing'])
    assert.deepEqual([mistaken.code, mistaken.stdout], [2, ''])
    assert.match(mistaken.stderr, /^gazeway: unknown option '--nothing'; must be one of [^\n]+\n$/)
  })

  it('prints the help of a command', async () => {
    for (const words of [[], ['key'], ['key', 'create'], ['group', 'edit'], ['store', 'copy'], ['doctor'], ['setup']]) {
      const { code, stdout } = await runHere(place, ['help', ...words])
      assert.match(stdout, new RegExp(`^Usage: ${['gazeway', ...words].join(' ')} `))
      assert.deepEqual([code, stdout], [0, (await runHere(place, [...words, '--help'])).stdout])
    }
  })

  for (const [what, text, named] of [
    ['an unknown field', '{ "upstream": { "provder": "xai" } }', /upstream\.provder.*must be one of provider, /],
    ['a value that is not accepted', '{ "log": { "level": "loud" } }', /log\.level.*"debug"/],
    ['a comment', '{\n  // mine\n}', /line 2, column 3.*valid JSON/],
    ['half a file', '{ "log": ', /line 1.*valid JSON/],
    ['no object', '[]', /must be an object/],
  ] as const)
    it(`does not start with ${what} in config.json, and leaves the file alone`, async () => {
      const broken = newPlace()
      const file = join(broken.data, 'config.json')
      mkdirSync(broken.data)
      writeFileSync(file, text)
      for (const args of [[], ['doctor']]) {
        const { code, stdout, stderr } = await runHere(broken, args)
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
    const old: [node: string, args: string[]][] = [
      ['18.20.8', []],
      ['18.20.8', ['--http']],
      ['20.9.0', ['doctor']],
      ['20.9.0', ['key', 'list']],
    ]
    for (const [node, args] of old) {
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

describe('gazeway doctor', () => {
  it('ends with 0 where all is well, and with 1 where a check fails, printed on stdout', async () => {
    const well = await runHere(newPlace(), ['doctor', '--upstream', 'sandbox'])
    assert.deepEqual([well.code, well.stderr], [0, ''])
    assert.match(well.stdout, /^ok {4}configuration .*\nok {4}store /)
    const ill = await runHere(newPlace(), ['doctor'])
    assert.deepEqual([ill.code, ill.stderr], [1, ''])
    assert.match(ill.stdout, /^FAIL {2}upstream .*XAI_API_KEY/m)
  })

  it('warns of a variable that is misspelt, as a start does', async () => {
    const place = newPlace()
    const { code, stdout } = await runHere(place, ['doctor', '--upstream', 'sandbox'], { GAZEWAY_UPSTREM: 'x' })
    assert.equal(code, 0)
    assert.match(stdout, /^warn {2}environment {4}GAZEWAY_UPSTREM is not read/m)
    const started = await run(place, ['--upstream', 'sandbox'], { GAZEWAY_UPSTREM: 'x' })
    assert.deepEqual([started.code, started.stderr.trimEnd().split('\n').length], [0, 1])
    assert.match(started.stderr, /"level":"warn".*GAZEWAY_UPSTREM is not read/)
  })
})

describe('gazeway store copy', () => {
  it('copies no store that is not there, and makes none', async () => {
    const place = newPlace()
    const backup = join(place.project, 'backup.db')
    const { code, stdout, stderr } = await runHere(place, ['store', 'copy', '--to', `sqlite:${backup}`])
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
    assert.equal((await runHere(place, ['key', 'create', '--name', 'ann'], env)).code, 0)
    assert.equal((await runHere(place, ['store', 'copy', '--to', 'sqlite:~/backup.db'], env)).code, 0)
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

  it('reads what this is, where the data is and what to paste', async () => {
    const place = newPlace()
    // Standard output aside, so that what comes through the terminal is standard error.
    const { child, exit, stdout } = start(place, `exec "${process.execPath}" "${CLI}" --upstream sandbox >/dev/null`)
    await shown(stdout, /Ctrl\+C/)
    for (const told of [/gazeway \d+\.\d+\.\d+: MCP tool server/, /sandbox/, /--help/]) assert.match(stdout(), told)
    assert.ok(stdout().includes(place.data), 'where the data is')
    const pasted = /\{.*mcpServers.*\}/.exec(stdout())?.[0] ?? ''
    assert.deepEqual(JSON.parse(pasted).mcpServers.gazeway, {
      command: process.execPath,
      args: [CLI, '--data', place.data, '--upstream', 'sandbox'],
    })
    child.stdin.write('\x03')
    assert.equal((await exit).code, 0)
  })

  it('reads that there is no key, and how to go on', async () => {
    const place = newPlace()
    const { child, exit, stdout } = start(place, `exec "${process.execPath}" "${CLI}" --data here >/dev/null`)
    await shown(stdout, /Ctrl\+C/)
    assert.match(stdout(), /xai.*no API key.*XAI_API_KEY.*--upstream sandbox/)
    const { args, env } = JSON.parse(/\{.*mcpServers.*\}/.exec(stdout())?.[0] ?? '').mcpServers.gazeway
    assert.deepEqual(args, [CLI, '--data', join(place.project, 'here')])
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
      return args.slice(1).join(' ').replaceAll(place.project, 'PROJECT')
    }
    const store = 'sqlite:PROJECT/a.db'
    assert.equal(await entryFor('--store sqlite:a.db'), `--store ${store} --upstream sandbox`)
    assert.equal(
      await entryFor('--data d', { GAZEWAY_STORE: 'postgres://me:hunter22@db/x' }),
      '--data PROJECT/d --store postgres://me:***@db/x --upstream sandbox',
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
  await until(() => looked.test(screen()), { what: screen })
}
