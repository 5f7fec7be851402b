import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { parse } from 'smol-toml'
import { connectOffer } from '../../adapters/command/connect-offer.ts'
import { CODING_AGENTS } from '../../src/coding-agents/coding-agents.ts'
import { blocksOf } from '../docs/markdown.ts'
import { until } from '../doubles/until.ts'
import { runHere } from './in-process.ts'
import { CLI, newPlace, type Place, putStore, run } from './server.ts'

/** Files of each agent as a person has them, and what they say once it is connected. */
const FILES: Record<string, Record<string, [before: string | null, says: RegExp]>> = {
  'claude-code': {
    '.claude/settings.json': ['{\n    "theme": "dark"\n}', /"apiKeyHelper": "cat '.*claude-code\.key'"/],
  },
  codex: { '.codex/config.toml': ['model = "own" # as always\n\n[tools]\nx = 1', /^model_provider = "gazeway"$/m] },
  opencode: {
    '.config/opencode/opencode.jsonc': ['{\n  // mine\n  "theme": "x",\n}\n', /"apiKey": "\{file:.*opencode\.key\}"/],
  },
  'qwen-code': { '.qwen/settings.json': ['\uFEFF{\r\n\t"$version": 4\r\n}\r\n', /"GAZEWAY_QWEN_KEY": "gzw_/] },
  'gemini-cli': {
    '.gemini/settings.json': [null, /"selectedType": "gemini-api-key"/],
    '.gemini/.env': ['# mine\nGEMINI_API_KEY=own', /^GEMINI_API_KEY="gzw_/m],
  },
}

/** A gateway that tells its models, what it was asked with, and what happens while it answers. */
const asked: (string | undefined)[] = []
let meanwhile = () => {}
const gateway = createServer((request, response) => {
  asked.push(request.headers.authorization)
  meanwhile()
  const data = [
    { id: 'llm-4.20-0309-reasoning', context_length: 64_000, top_provider: { max_completion_tokens: 4000 } },
  ]
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data }))
})
let url: string
let place: Place

before(async () => {
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(gateway.address() as { port: number }).port}`
})
after(() => gateway.close())
beforeEach(() => {
  meanwhile = () => {}
  place = newPlace()
  putStore(place)
})

const gazeway = (args: string[], env: Record<string, string> = {}) =>
  runHere(place, args, { XDG_CONFIG_HOME: '', ...env })
const inHome = (name: string) => join(place.home, name)
const read = (name: string) => readFileSync(inHome(name), 'utf8')

function write(name: string, content: string): void {
  mkdirSync(dirname(inHome(name)), { recursive: true })
  writeFileSync(inHome(name), content)
}

/** Keys in force that are not the admin's. */
async function keys(): Promise<
  {
    id: string
    name: string
    limits: { budgets?: { usd: number; per: string }[]; session_usd?: number }
    models: string[] | null
    expires_at: string | null
    last_used_at: string | null
  }[]
> {
  const { stdout } = await gazeway(['key', 'list', '--json'])
  const { items } = JSON.parse(stdout) as { items: { name: string; revoked_at: string | null; scopes: string[] }[] }
  return items.filter(({ revoked_at, scopes }) => revoked_at === null && !scopes.includes('admin')) as never
}

describe('gazeway connect and disconnect', () => {
  for (const { name, label } of CODING_AGENTS)
    it(`connect ${label}, and leave its files byte for byte what they were`, async () => {
      const files = Object.entries(FILES[name] ?? {})
      for (const [path, [content]] of files) if (content !== null) write(path, content)
      const connected = await gazeway(['connect', name, '--yes', '--url', url, '--budget', '20/week', '--session', '2'])
      assert.equal(connected.code, 0, connected.stderr)
      for (const [path, [content, says]] of files) {
        assert.match(read(path), says)
        if (content !== null) assert.equal(read(`${path}.before-connect`), content)
      }
      const [key, ...others] = await keys()
      assert.deepEqual([key?.name, others], [label, []])
      assert.deepEqual(
        key?.limits.budgets?.map(({ usd, per }) => [usd, per]),
        [[20, 'week']],
      )
      assert.doesNotMatch(connected.stdout, /gzw_/, 'the diff shows no key')
      assert.equal(asked.at(-1), `Bearer ${readFileSync(join(place.data, 'connect', `${name}.key`), 'utf8')}`)

      const written = files.map(([path]) => read(path))
      const again = await gazeway(['connect', name, '--yes', '--url', url])
      assert.match(again.stdout, /is already connected/)
      assert.deepEqual([files.map(([path]) => read(path)), (await keys()).length], [written, 1])

      const undone = await gazeway(['disconnect', name, '--yes'])
      assert.equal(undone.code, 0, undone.stderr)
      for (const [path, [content]] of files) {
        if (content === null) assert.ok(!existsSync(inHome(path)))
        else assert.equal(read(path), content)
        assert.ok(!existsSync(inHome(`${path}.before-connect`)))
      }
      assert.deepEqual([await keys(), readdirSync(join(place.data, 'connect'))], [[], []])
    })

  it('write the limits of the models that the gateway tells', async () => {
    await gazeway(['connect', 'opencode', '--yes', '--url', url])
    const { provider } = JSON.parse(read('.config/opencode/opencode.json'))
    assert.deepEqual(provider.gazeway.models['llm-4.20-0309-reasoning'].limit, { context: 64_000, output: 4000 })
    await gazeway(['connect', 'claude-code', '--yes', '--url', url])
    assert.equal(JSON.parse(read('.claude/settings.json')).env.CLAUDE_CODE_MAX_CONTEXT_TOKENS, '64000')
  })

  it('replace the settings of an earlier connection, and go back to before the first', async () => {
    const before = 'model = "own"\n'
    write('.codex/config.toml', before)
    await gazeway(['connect', 'codex', '--yes', '--url', url, '--model', 'first'])
    const { stdout } = await gazeway([
      'connect',
      'codex',
      '--yes',
      '--url',
      url,
      '--model',
      'second',
      '--models',
      'sec*',
    ])
    assert.match(stdout, /now uses/)
    assert.equal(parse(read('.codex/config.toml')).model, 'second')
    assert.deepEqual(
      (await keys()).map(({ models }) => models),
      [['sec*']],
    )
    await gazeway(['disconnect', '--yes'])
    assert.equal(read('.codex/config.toml'), before)
  })

  it('note that they have used a key before they end, as a command after them may run for hours', async () => {
    const uses = async () => (await keys()).map(({ last_used_at }) => last_used_at !== null)
    await gazeway(['connect', 'codex', '--yes', '--url', url])
    assert.deepEqual(await uses(), [false])
    await gazeway(['connect', 'codex', '--yes', '--url', url])
    assert.deepEqual(await uses(), [true])
  })

  it('replace a key that was rotated, and revoke one that is no longer used', async () => {
    await gazeway(['connect', 'codex', '--yes', '--url', url])
    const [first] = await keys()
    await gazeway(['key', 'rotate', first?.id ?? '', '--grace', '0'])
    await gazeway(['connect', 'codex', '--yes', '--url', url])
    const [second, ...others] = await keys()
    assert.notEqual(second?.id, first?.id)
    assert.deepEqual(others, [])
    await gazeway(['connect', 'codex', '--yes', '--url', url, '--key', 'gzw_given'])
    assert.deepEqual(await keys(), [])
  })

  it('show no key of the person, and let no one else read a file with a key in it', async () => {
    const secrets = ['AIza-own', "p'wd-own", 'token-own', 'quoted"-own']
    const [gemini, password, token, quoted] = secrets
    write(
      '.gemini/.env',
      `export GEMINI_API_KEY=${gemini}\nPASSWORD="${password}"\nA_TOKEN: ${token}\nB_SECRET='${quoted}'\n`,
    )
    chmodSync(inHome('.gemini/.env'), 0o644)
    const connected = await gazeway(['connect', 'gemini-cli', '--yes', '--url', url])
    const modes = ['.gemini/.env', '.gemini/.env.before-connect'].map((name) => statSync(inHome(name)).mode & 0o777)
    assert.deepEqual([connected.code, modes], [0, [0o600, 0o600]], connected.stderr)
    const undone = await gazeway(['disconnect', 'gemini-cli', '--yes'])
    for (const { stdout } of [connected, undone]) {
      assert.match(stdout, /GEMINI_API_KEY=/)
      assert.doesNotMatch(stdout, /own/)
    }
  })

  it('write into the file of opencode that counts', async () => {
    for (const name of ['opencode.json', 'opencode.jsonc']) write(`.config/opencode/${name}`, '{ "model": "a/b" }')
    const env = { OPENCODE_CONFIG: '/elsewhere' }
    const { stderr } = await gazeway(['connect', 'opencode', '--yes', '--url', url], env)
    assert.match(stderr, /OPENCODE_CONFIG of this shell takes precedence/)
    assert.deepEqual(
      ['opencode.json', 'opencode.jsonc'].map((name) => read(`.config/opencode/${name}`).includes('gazeway')),
      [false, true],
    )
  })

  it('remove only what they wrote from a file that was edited since, and say so', async () => {
    write('.claude/settings.json', '{\n  "theme": "dark"\n}\n')
    await gazeway(['connect', 'claude-code', '--yes', '--url', url])
    const edited = read('.claude/settings.json')
      .replace('"dark"', '"light"')
      .replace(/("ANTHROPIC_MODEL": )"[^"]*"/, '$1"mine"')
    write('.claude/settings.json', edited)
    const { stdout } = await gazeway(['disconnect', 'claude-code', '--yes', '--keep-key'])
    assert.match(stdout, /was edited since: only what connect wrote is removed/)
    assert.match(stdout, /Left, because they have other values now: env\.ANTHROPIC_MODEL/)
    assert.equal(
      read('.claude/settings.json'),
      '{\n  "theme": "light",\n  "env": {\n    "ANTHROPIC_MODEL": "mine"\n  }\n}\n',
    )
    assert.equal((await keys()).length, 1)
  })

  it('write nothing and leave no key behind where a file cannot be changed', async () => {
    write('.codex/config.toml', '[model_providers.gazeway]\nname = "a"\n[model_providers.gazeway]\nname = "b"\n')
    const twice = await gazeway(['connect', 'codex', '--yes', '--url', url])
    assert.deepEqual([twice.code, await keys()], [1, []])
    assert.match(twice.stderr, /not valid TOML.*nothing was changed/)

    write('.gemini/.env', 'A=1\n')
    chmodSync(inHome('.gemini/.env'), 0o444)
    const readOnly = await gazeway(['connect', 'gemini-cli', '--yes', '--url', url])
    assert.deepEqual([readOnly.code, await keys()], [1, []])
    assert.match(readOnly.stderr, /read-only/)
    assert.ok(!existsSync(inHome('.gemini/settings.json')), 'the file before it was taken back')
    assert.deepEqual(readdirSync(join(place.data, 'connect')), [])
  })

  it('write over nothing that another program saved meanwhile, and into no folder that cannot be', async () => {
    write('.codex/config.toml', 'a = 1\n')
    meanwhile = () => write('.codex/config.toml', 'a = 2\n')
    const changed = await gazeway(['connect', 'codex', '--yes', '--url', url])
    assert.deepEqual([changed.code, read('.codex/config.toml'), await keys()], [1, 'a = 2\n', []])
    assert.match(changed.stderr, /was changed by another program meanwhile/)
    assert.deepEqual(readdirSync(inHome('.codex')), ['config.toml'], 'no backup of nothing')

    write('.claude', 'a file in place of the folder')
    const nowhere = await gazeway(['connect', 'claude-code', '--yes', '--url', url])
    assert.deepEqual([nowhere.code, read('.claude'), await keys()], [1, 'a file in place of the folder', []])
    assert.match(nowhere.stderr, /settings\.json: not written/)
  })

  it('leave no key in force, and no file, where the answer is no', async () => {
    const { code, stdout } = await run(place, ['connect', 'codex', '--url', url], {}, 'n\n')
    assert.deepEqual([code, /Nothing was changed\.\n$/.test(stdout)], [0, true], stdout)
    assert.deepEqual([await keys(), existsSync(inHome('.codex'))], [[], false])
  })

  it('change nothing of a connection, not even its key, where the answer is no', async () => {
    await gazeway(['connect', 'codex', '--yes', '--url', url, '--budget', '20/week'])
    // A key that is checked was used.
    const terms = async () => (await keys()).map(({ last_used_at: _, ...key }) => key)
    const before = [await terms(), read('.codex/config.toml')]
    const words = ['connect', 'codex', '--url', url, '--budget', '99/week', '--model', 'other']
    assert.match((await run(place, words, {}, 'n\n')).stdout, /Nothing was changed\.\n$/)
    assert.deepEqual([await terms(), read('.codex/config.toml')], before)
    await gazeway(['connect', 'opencode', '--yes', '--url', url])
    const unanswered = await run(place, ['disconnect'], {}, 'n\n')
    assert.match(unanswered.stderr, /No answer, so nothing was changed/)
    assert.equal((await keys()).length, 2)
    await run(place, ['disconnect'], {}, 'y\ny\n')
    assert.deepEqual([await keys(), readdirSync(join(place.data, 'connect'))], [[], []])
  })

  it('end a key by itself that no answer follows, and lift that with the answer', async () => {
    const ends: unknown[] = []
    const child = spawn(process.execPath, [CLI, 'connect', 'codex', '--url', url], {
      env: place.env,
      cwd: place.project,
    })
    const closed = once(child, 'close')
    let said = ''
    child.stdout.on('data', (chunk) => {
      said += chunk
      if (said.endsWith('[y/N] ')) child.kill('SIGKILL')
    })
    await closed
    for (const { expires_at } of await keys()) ends.push(expires_at === null)
    await gazeway(['connect', 'codex', '--yes', '--url', url])
    for (const { expires_at } of await keys()) ends.push(expires_at === null)
    assert.deepEqual(ends.sort(), [false, false, true])
  })

  it('choose a model that a key from before allows', async () => {
    await gazeway(['connect', 'codex', '--yes', '--url', url, '--models', 'gpt-5'])
    await gazeway(['connect', 'codex', '--yes', '--url', url])
    assert.equal(parse(read('.codex/config.toml')).model, 'gpt-5')
  })

  it('leave a connection alone that another process has made meanwhile', async () => {
    const record = join(place.data, 'connect', 'codex.json')
    meanwhile = () => {
      mkdirSync(dirname(record), { recursive: true })
      const other = { agent: 'codex', project: null, url, key_id: null, files: [] }
      writeFileSync(record, JSON.stringify(other))
    }
    const late = await gazeway(['connect', 'codex', '--yes', '--url', url])
    assert.match(late.stderr, /was connected or disconnected by another process meanwhile/)
    assert.deepEqual([existsSync(record), existsSync(inHome('.codex')), await keys()], [true, false, []])
  })

  it('show with --print what they would write, and write nothing', async () => {
    const { code, stdout } = await gazeway(['connect', 'codex', '--print', '--url', url])
    assert.deepEqual([code, existsSync(inHome('.codex')), await keys()], [0, false, []])
    assert.match(stdout, /^\+model_provider = "gazeway"$/m)
  })

  it('use a key that is given, also for a gateway elsewhere, and revoke none', async () => {
    const env = { GAZEWAY_KEY: 'gzw_of_elsewhere' }
    const none = await gazeway(['connect', 'codex', '--yes', '--url', 'https://gateway.example.org'])
    assert.equal(none.code, 2)
    assert.match(none.stderr, /--key names GAZEWAY_KEY, which is not set/)
    const given = await gazeway(['connect', 'codex', '--yes', '--url', `${url}/v1/`, '--key', 'env'], env)
    assert.equal(given.code, 0, given.stderr)
    assert.match(read('.codex/config.toml'), new RegExp(`base_url = "${url}/v1"`))
    const file = join(place.data, 'connect', 'codex.key')
    assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).mode & 0o777], ['gzw_of_elsewhere', 0o600])
    assert.match((await gazeway(['disconnect', '--yes'])).stdout, /^Codex is disconnected\.$/m)
    assert.deepEqual(await keys(), [])
  })

  it('connect one project alone, in files that only the person has', async () => {
    const file = join(place.project, '.claude/settings.local.json')
    const { code, stderr } = await gazeway(['connect', 'claude-code', '--project', '--yes', '--url', url])
    assert.deepEqual([code, existsSync(file), existsSync(inHome('.claude'))], [0, true, false], stderr)
    const elsewhere = await gazeway(['disconnect', '--yes'])
    assert.match(elsewhere.stdout, /Nothing to undo/)
    await gazeway(['disconnect', 'claude-code', '--project', '--yes'])
    assert.ok(!existsSync(dirname(file)))
    const refused = await gazeway(['connect', 'codex', '--project', '--yes'])
    assert.deepEqual([refused.code, /Codex ignores providers/.test(refused.stderr)], [2, true])
  })

  it('refuse words and flags that mean nothing', async () => {
    const REFUSED: [string[], RegExp][] = [
      [['connect', 'nobody'], /unknown agent nobody; must be one of claude-code, codex/],
      [['disconnect', 'nobody'], /unknown agent nobody/],
      [['connect', 'codex', 'opencode'], /One agent at a time/],
      [['connect', 'codex', '--url', 'ftp://x'], /--url: invalid value/],
      [['connect', 'codex', '--url', 'https://a:b@x'], /--url: invalid value/],
      [['connect', 'codex', '--budget', '5/fortnight'], /--budget/],
      [['connect', 'codex', '--key', 'k', '--budget', '5/day'], /--budget is for a key that connect makes/],
      [['connect', 'codex', '--models', 'gpt-*'], /--models does not allow/],
      [['connect', 'codex', '--', 'sh'], /COMMAND must be codex/],
    ]
    for (const [args, says] of REFUSED) {
      const { code, stderr } = await gazeway([...args, ...(args.includes('--') ? [] : ['--yes'])])
      assert.equal(code, 2, `${args.join(' ')}: ${stderr}`)
      assert.match(stderr, says)
    }
    assert.deepEqual([await keys(), readdirSync(place.home)], [[], []])
  })
})

it('connects and disconnects as its page shows, and offers it at a first start that someone reads', async () => {
  const blocks = blocksOf(readFileSync('docs/reference/connect.md', 'utf8')).filter(
    ({ language }) => language === 'shell',
  )
  const lines = blocks.flatMap(({ text }) => text.trim().split('\n'))
  assert.ok(lines.length > 3)
  for (const line of lines) {
    const [program, ...args] = line.split(/\s+#/)[0]?.trim().split(' ') ?? []
    assert.equal(program, 'gazeway')
    const { code, stderr } = await gazeway([...args, '--yes', ...(args[0] === 'connect' ? ['--url', url] : [])])
    assert.equal(code, 0, `${line}: ${stderr}`)
  }
  assert.deepEqual(await keys(), [])
  assert.deepEqual(
    [connectOffer(null, true), connectOffer('gzw_k', false), connectOffer('gzw_k', undefined)],
    [null, null, null],
  )
  assert.match(connectOffer('gzw_k', true) ?? '', /gazeway connect claude-code/)
})

describe('gazeway connect AGENT -- COMMAND', () => {
  const node = (code: string) => ['--', process.execPath, '-e', code]

  it('runs a command with the environment alone, and ends its key and itself as the command does', async () => {
    const out = join(place.temporary, 'env.json')
    const script = `require('fs').writeFileSync(${JSON.stringify(out)}, JSON.stringify(process.env)); process.exit(7)`
    const { code, stderr } = await gazeway([
      'connect',
      'claude-code',
      '--url',
      url,
      '--budget',
      '2/day',
      ...node(script),
    ])
    assert.equal(code, 7, stderr)
    const env = JSON.parse(readFileSync(out, 'utf8'))
    assert.deepEqual([env.ANTHROPIC_BASE_URL, env.ANTHROPIC_AUTH_TOKEN.slice(0, 4)], [url, 'gzw_'])
    assert.deepEqual([readdirSync(place.home), await keys()], [[], []])
    const missing = await gazeway(['connect', 'claude-code', '--url', url, '--', '/nowhere/claude'])
    assert.deepEqual([missing.code, /was not started \(ENOENT\)/.test(missing.stderr)], [127, true])
  })

  it('passes signals on', async () => {
    const ready = join(place.temporary, 'ready')
    const script = `process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000); require('fs').writeFileSync(${JSON.stringify(ready)}, '')`
    const running = gazeway(['connect', 'gemini-cli', '--url', url, '--key', 'k', ...node(script)])
    await until(() => existsSync(ready))
    process.emit('SIGTERM', 'SIGTERM')
    assert.equal((await running).code, 9)
  })

  /** Runs a command on a terminal of its own, and presses Ctrl+C once it is ready. @returns the exit code */
  async function interrupted(script: string): Promise<number | null> {
    const ready = join(place.temporary, 'ready')
    const isReady = `require('fs').writeFileSync(${JSON.stringify(ready)}, '')`
    const file = join(place.temporary, 'command.cjs')
    writeFileSync(file, `${script}; setTimeout(() => process.exit(3), 20000); ${isReady}`)
    const words = [process.execPath, CLI, 'connect', 'claude-code', '--url', url, '--', process.execPath, file]
    const line = `exec ${words.map((word) => `'${word}'`).join(' ')}`
    const terminal = spawn('script', ['-qec', line, '/dev/null'], { cwd: place.project, env: place.env })
    const output: string[] = []
    for (const stream of [terminal.stdout, terminal.stderr]) stream.on('data', (chunk) => output.push(String(chunk)))
    await until(() => existsSync(ready) || terminal.exitCode !== null)
    terminal.stdin.write('\x03')
    if (terminal.exitCode === null) await once(terminal, 'exit')
    assert.ok(existsSync(ready), output.join(''))
    return terminal.exitCode
  }

  it('ends with its command at Ctrl+C, and revokes the key', { skip: process.platform !== 'linux' }, async () => {
    assert.equal(await interrupted(''), 130)
    assert.deepEqual([readdirSync(place.home), await keys()], [[], []])
  })

  it('sends a command one Ctrl+C, not two', { skip: process.platform !== 'linux' }, async () => {
    const script =
      "let times = 0; process.on('SIGINT', () => setTimeout(() => process.exit(40 + times), 500) && times++)"
    assert.equal(await interrupted(script), 41)
  })

  it('starts nothing where the signal comes first, and revokes the key', async () => {
    const out = join(place.temporary, 'out')
    meanwhile = () => void process.emit('SIGINT', 'SIGINT')
    const started = await gazeway([
      'connect',
      'claude-code',
      '--url',
      url,
      ...node(`require('fs').writeFileSync(${JSON.stringify(out)}, '')`),
    ])
    assert.deepEqual([started.code, existsSync(out), await keys()], [130, false, []])
  })
})
