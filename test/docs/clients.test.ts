import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { askClaude } from '../e2e/claude.ts'
import { type GatewayProcess, startGatewayProcess } from '../e2e/gateway-process.ts'
import { askGemini } from '../e2e/gemini.ts'
import { newPlace } from '../e2e/server.ts'
import { blocksOf, sectionOf, tableUnder, variablesOf } from './markdown.ts'

const run = promisify(execFile)
const page = readFileSync('docs/reference/clients.md', 'utf8')

describe('what docs/reference/clients.md has to paste', () => {
  let gateway: GatewayProcess
  before(async () => {
    gateway = await startGatewayProcess(newPlace(), { args: ['--upstream', 'sandbox'] })
  })
  const shown = (client: string, language: string) => {
    const [block] = blocksOf(sectionOf(page, client)).filter((one) => one.language === language)
    return block?.text.replaceAll('http://127.0.0.1:8811', gateway.url) ?? assert.fail(`${client} has nothing to paste`)
  }

  it('runs Claude Code', async () => {
    const said = shown('Claude Code', 'shell').replaceAll('"$GAZEWAY_KEY"', gateway.key)
    const { is_error, result } = await askClaude(variablesOf(said), newPlace(), 'Say hello.', [
      '--allowedTools',
      'Read',
    ])
    assert.equal(is_error, false)
    assert.match(result, /\[sandbox\]/)
  })

  it('runs Gemini CLI', async () => {
    const said = shown('Gemini CLI', 'shell').replaceAll('"$GAZEWAY_KEY"', gateway.key)
    const model = /gemini -m (\S+)/.exec(said)?.[1] ?? ''
    const { response } = await askGemini(variablesOf(said), shown('Gemini CLI', 'json'), model, 'Say hello.')
    assert.match(response, /\[sandbox\]/)
  })

  const programs: Array<[client: string, says: RegExp]> = [
    ['Vercel AI SDK', /^\[sandbox\]/],
    ['OpenAI Agents', /^\[sandbox\]/],
    ['The OpenAI SDK', /^256 \[sandbox\]/],
    ['@google/genai', /^\[sandbox\]/],
    ['The Anthropic SDK', /type: 'text',\s+text: '\[sandbox\]/],
  ]
  for (const [client, says] of programs)
    it(`runs: ${client}`, async () => {
      // What is shown is JavaScript, too.
      const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', shown(client, 'ts')], {
        env: { ...process.env, GAZEWAY_KEY: gateway.key },
      })
      assert.match(stdout, says)
    })

  it('is said to be checked by a test where one does', () => {
    const rows = tableUnder(`## Checked\n${page.split('\n## ')[0]}`, 'Checked')
    const tested = rows.filter(([, , how]) => how === 'by a test').map(([client]) => client)
    const clouds = ['Azure OpenAI', 'Amazon Bedrock', 'Vertex AI']
    const run = ['Claude Code', 'Gemini CLI', ...clouds, ...programs.map(([client]) => client.replace(/^The /, ''))]
    assert.deepEqual(tested.toSorted(), run.toSorted())
    assert.deepEqual(
      rows.filter(([, , how]) => how?.startsWith('by hand')),
      [],
    )
  })

  it('is said to be checked by sessions in the version whose sessions are shown', () => {
    const sessions = /<!-- sessions:start -->\n(.*)<!-- sessions:end -->/s.exec(page)?.[1] ?? ''
    const agents = tableUnder(`## Sessions\n${sessions}`, 'Sessions').map(([agent]) => agent)
    const rows = tableUnder(`## Checked\n${page.split('\n## ')[0]}`, 'Checked')
    const checked = rows.flatMap(([client, , how = '']) => {
      const [, version] = /^by sessions, ([\d.]+), \d{4}-\d\d-\d\d$/.exec(how) ?? []
      return version === undefined ? [] : [`${client} ${version}`]
    })
    assert.deepEqual(checked, ['Codex 0.171.0', 'opencode 1.18.33', 'qwen-code 0.24.4'])
    for (const agent of checked) assert.ok(agents.includes(agent), `no session of ${agent} is shown`)
  })
})
