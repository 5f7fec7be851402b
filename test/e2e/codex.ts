import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf } from '../docs/markdown.ts'
import type { GatewayProcess } from './gateway-process.ts'
import type { Place } from './server.ts'

/** The command of Codex, whose package is too large to be installed for every run. Empty without one. */
export const { GAZEWAY_TEST_CODEX: CODEX = '' } = process.env
const PATIENCE_MS = 120_000

/** Writes the configuration of the documentation for Codex. @param changed changes it */
export function configureCodex({ url }: GatewayProcess, { home }: Place, changed = (block: string) => block): void {
  mkdirSync(join(home, '.codex'), { recursive: true })
  const settings = documented('wire_api').replace('http://127.0.0.1:8811', url)
  writeFileSync(join(home, '.codex/config.toml'), changed(settings))
}

/** Block of the documentation with a text. */
export function documented(part: string): string {
  const blocks = blocksOf(readFileSync('docs/reference/clients.md', 'utf8'))
  return blocks.find(({ text }) => text.includes(part))?.text ?? ''
}

/** Lets Codex work on a prompt. @returns its last words */
export const askCodex = (gateway: GatewayProcess, place: Place, prompt: string): Promise<string> =>
  runCodex(gateway, place, ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt])

/** Runs Codex. @returns what it says on stdout */
export function runCodex({ key }: GatewayProcess, { project: cwd, home }: Place, words: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: home, GAZEWAY_KEY: key }
  const child = spawn(CODEX, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: PATIENCE_MS })
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
