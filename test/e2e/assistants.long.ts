import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { CLI, finish, newPlace, type Place, run } from './server.ts'

/** A real assistant that lists the servers of its file. */
interface Listing {
  name: string
  /** The words that start it. */
  command: string[]
  /** Its file as a person has it before. */
  file: [name: string, content: string]
  /** Output that confirms the server. */
  says: RegExp
  /** Preparations that it needs before it starts servers. */
  prepare?: (place: Place) => void
}

const inPackage = (name: string, path: string) =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), path)

const CLAUDE_CODE: Listing = {
  name: 'claude-code',
  command: [process.execPath, inPackage('@anthropic-ai/claude-code', 'cli-wrapper.cjs'), 'mcp', 'list'],
  file: ['.claude.json', '{\n    "theme": "dark",\n    "mcpServers": {}\n}'],
  says: /^gazeway: .*Connected$/m,
}

const GEMINI_CLI: Listing = {
  name: 'gemini-cli',
  command: [process.execPath, inPackage('@google/gemini-cli', 'bundle/gemini.js'), 'mcp', 'list'],
  file: ['.gemini/settings.json', '{\r\n\t// mine\r\n\t"ui": { "hideTips": true } // as always\r\n}\r\n'],
  says: /gazeway: .*Connected/,
  prepare: ({ home, project }) =>
    writeFileSync(join(home, '.gemini/trustedFolders.json'), JSON.stringify({ [project]: 'TRUST_FOLDER' })),
}

const CODEX: Omit<Listing, 'command'> = {
  name: 'codex',
  file: ['.codex/config.toml', 'model = "m" # as always\n\n# the first\n[mcp_servers.memory]\ncommand = "memory"'],
  says: /^gazeway .*XAI_API_KEY=.*enabled/m,
}

const OPENCODE: Omit<Listing, 'command'> = {
  name: 'opencode',
  file: [
    '.config/opencode/opencode.json',
    '{\n  "$schema": "https://opencode.ai/config.json", // theirs\n  "mcp": {},\n}\n',
  ],
  says: /gazeway.*connected/,
}

/** Codex and opencode take 420 and 190 MB: they are tested where these variables name their commands. */
const { GAZEWAY_TEST_CODEX: codex, GAZEWAY_TEST_OPENCODE: opencode } = process.env
const LISTINGS: Listing[] = [
  CLAUDE_CODE,
  GEMINI_CLI,
  ...(codex ? [{ ...CODEX, command: [codex, 'mcp', 'list'] }] : []),
  ...(opencode ? [{ ...OPENCODE, command: [opencode, 'mcp', 'list'] }] : []),
]

for (const { name, command, file, says, prepare } of LISTINGS)
  describe(`${name}, the real one`, () => {
    const place = newPlace()
    const path = join(place.home, file[0])
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, file[1])
    prepare?.(place)

    async function listed(): Promise<string> {
      const [words = '', ...args] = command
      const env = {
        ...place.env,
        XAI_API_KEY: 'xai-test',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        NO_COLOR: '1',
      }
      const { stdout, stderr } = await finish(spawn(words, args, { cwd: place.project, env }))
      return stdout + stderr
    }
    const gazeway = async (verb: 'setup' | 'remove') => {
      const { code, stderr } = await run(place, [verb, name, '--yes'], { XAI_API_KEY: 'xai-test' })
      assert.equal(code, 0, stderr)
    }

    it('lists the server after setup, and after remove its file is byte for byte what it was', async () => {
      await gazeway('setup')
      // Some write down at the first server that they start who starts it: this is then what the file is without it.
      assert.match(await listed(), says)
      await gazeway('remove')
      const before = readFileSync(path)
      await gazeway('setup')
      assert.match(await listed(), says)
      await gazeway('remove')
      assert.deepEqual(readFileSync(path), before)
      assert.doesNotMatch(await listed(), /gazeway/)
    })

    it('leaves nothing of a file that only setup made', async () => {
      const fresh = newPlace()
      for (const verb of ['setup', 'remove']) await run(fresh, [verb, name, '--yes'])
      assert.ok(!existsSync(join(fresh.home, file[0])), `${file[0]} is gone`)
    })
  })

it('connects Claude Code and the others with one command, and disconnects them with another', async () => {
  const place = newPlace()
  for (const { file, prepare } of LISTINGS) {
    mkdirSync(dirname(join(place.home, file[0])), { recursive: true })
    writeFileSync(join(place.home, file[0]), file[1])
    prepare?.(place)
  }
  const contents = () => LISTINGS.map(({ file }) => readFileSync(join(place.home, file[0]), 'utf8'))
  assert.equal((await run(place, ['setup'], { PATH: dirname(process.execPath) }, 'y\n')).code, 0)
  for (const content of contents()) assert.ok(content.includes(CLI), content)
  assert.equal((await run(place, ['remove'], { PATH: dirname(process.execPath) }, 'y\n')).code, 0)
  assert.deepEqual(
    contents(),
    LISTINGS.map(({ file }) => file[1]),
  )
})
