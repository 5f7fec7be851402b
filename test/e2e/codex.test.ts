import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, it } from 'node:test'
import { blocksOf } from '../docs/markdown.ts'
import { DELIVERED, deepSeekLike, geminiLike, openRouterLike } from '../doubles/thinking.ts'
import { json } from '../doubles/upstream.ts'
import { type GatewayProcess, onDouble } from './gateway-process.ts'
import { newPlace, type Place } from './server.ts'

/** The command of Codex, whose package is too large to be installed for every run. */
const { GAZEWAY_TEST_CODEX: codex = '' } = process.env
const PATIENCE_MS = 60_000

/** Lets Codex work on a prompt with the configuration of the documentation. @returns its last words */
function askCodex({ url, key }: GatewayProcess, { project: cwd, home }: Place, prompt: string): Promise<string> {
  const [block] = blocksOf(readFileSync('docs/reference/clients.md', 'utf8')).filter(({ text }) =>
    text.includes('wire_api'),
  )
  mkdirSync(join(home, '.codex'), { recursive: true })
  writeFileSync(join(home, '.codex/config.toml'), (block?.text ?? '').replace('http://127.0.0.1:8811', url))
  const words = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt]
  const env = { PATH: process.env.PATH, HOME: home, GAZEWAY_KEY: key }
  const child = spawn(codex, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: PATIENCE_MS })
  const said: string[] = []
  const faults: string[] = []
  child.stdout.on('data', (chunk) => said.push(String(chunk)))
  child.stderr.on('data', (chunk) => faults.push(String(chunk)))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(said.join('').trim())
      else reject(new Error(`Codex ended with ${code}: ${faults.join('').slice(-2000)}`))
    })
  })
}

if (codex !== '')
  onDouble('Codex, with a model that wants its reasoning back', (gateway, upstream) => {
    const place = newPlace()
    const file = join(place.project, 'parcels.txt')
    before(() => writeFileSync(file, 'Parcel 9 is in Riga.'))
    const called = { name: 'exec_command', arguments: JSON.stringify({ cmd: `cat ${file}` }) }

    const models = { DeepSeek: deepSeekLike, OpenRouter: openRouterLike, 'Gemini 3': geminiLike }
    for (const [name, like] of Object.entries(models))
      it(`reads a file, and goes on with what it thought before, as ${name} demands`, async () => {
        const { path, behaviour } = like(called)
        upstream().on(path, behaviour)
        upstream().on('/responses', json(404, { error: { message: 'no such route' } }))
        assert.equal(await askCodex(gateway(), place, 'Where is parcel 9? Read parcels.txt.'), DELIVERED)
        const results = upstream().received.filter(({ text }) => text.includes('Parcel 9 is in Riga.'))
        assert.ok(results.length > 0, 'the result of the tool arrived')
      })
  })
