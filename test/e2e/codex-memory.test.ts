import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, renameSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { before, it } from 'node:test'
import { chunks, json, sse } from '../doubles/upstream.ts'
import { askClaude, fromReadme, toolCall } from './claude.ts'
import { askCodex, CODEX, configureCodex } from './codex.ts'
import { onDouble } from './gateway-process.ts'
import { CLI, newPlace, writeProject } from './server.ts'

const KEY = 'deploy/production'

if (CODEX !== '')
  onDouble('Codex with the tool server', (gateway, upstream) => {
    const place = newPlace()
    before(() => {
      configureCodex(gateway(), place)
      const args = JSON.stringify([CLI, '--upstream', 'sandbox'])
      appendFileSync(
        join(place.home, '.codex/config.toml'),
        `\n[mcp_servers.gazeway]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\nenv = { GAZEWAY_HOME = ${JSON.stringify(place.data)} }\n`,
      )
      upstream().on('/responses', json(404, { error: { message: 'no such route' } }))
    })

    /** Has Codex call a tool of the server in a folder. @returns what it got */
    async function session(project: string, tool: string, input: object): Promise<string> {
      let result = ''
      upstream().on('/chat/completions', (response, request) => {
        const { messages, tools = [] } = request.body as {
          messages: { role: string; content: unknown }[]
          tools?: { function: { name: string } }[]
        }
        const name = tools.map(({ function: { name } }) => name).find((name) => name.endsWith(tool))
        const results = messages.filter(({ role }) => role === 'tool')
        if (results.length > 0) result = JSON.stringify(results)
        return sse(name !== undefined && results.length === 0 ? toolCall(name, input) : chunks(['Done.']))(
          response,
          request,
        )
      })
      assert.equal(await askCodex(gateway(), { ...place, project }, 'Go on.'), 'Done.')
      return result
    }

    /** Starts Claude Code with the plugin and the same memories. @returns what it sends at the start of a session in a folder. */
    async function beginOfClaude(project: string): Promise<string> {
      const sent: string[] = []
      upstream().on('/chat/completions', (response, request) => {
        sent.push(JSON.stringify((request.body as { messages: unknown[] }).messages))
        return sse(chunks(['Done.']))(response, request)
      })
      const variables = { ...fromReadme(gateway()), GAZEWAY_HOME: place.data }
      const turn = await askClaude(variables, { ...place, project }, 'Go on.', ['--plugin-dir', resolve('plugin')])
      assert.equal(turn.is_error, false)
      return sent.join('\n')
    }

    it('keeps two projects apart, in a worktree and a moved folder too, and Claude Code begins with its facts', async () => {
      const [shop = '', bank = '', worktree = '', moved = ''] = ['shop', 'bank', 'worktree', 'moved'].map((name) =>
        join(place.home, name),
      )
      for (const [folder, value] of [
        [shop, 'is blue'],
        [bank, 'is green'],
      ] as const) {
        writeProject(folder, { 'README.md': `# ${value}\n` })
        assert.match(await session(folder, 'gateway_memory_store', { key: KEY, value }), /created\\*":true/)
      }
      const git = (...args: string[]) => execFileSync('git', ['-C', shop, ...args], { stdio: 'ignore' })
      const recalled = (folder: string) => session(folder, 'gateway_memory_recall', { key: KEY })
      git('worktree', 'add', worktree)
      assert.match(await recalled(worktree), /is blue/)
      git('worktree', 'remove', '--force', worktree)
      renameSync(shop, moved)
      assert.match(await recalled(moved), /is blue/)
      assert.match(await recalled(bank), /is green/)
      assert.match(await beginOfClaude(moved), /deploy\/production: is blue(?!.*is green)/)
    })
  })
