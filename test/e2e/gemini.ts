import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** A whole session takes a few seconds. */
const PATIENCE_MS = 60_000
const PROGRAM = join('node_modules', '@google', 'gemini-cli', 'bundle', 'gemini.js')

/** Output of Gemini CLI at the end of its work. */
export interface Worked {
  response: string
  stats: { tools: { totalSuccess: number; totalFail: number } }
}

/**
 * Lets Gemini CLI work on a prompt by itself, in a folder and a home of its own.
 *
 * @param variables over its search path and home
 * @param settings its settings file
 * @param files of the folder, by name
 */
export async function askGemini(
  variables: Record<string, string | undefined>,
  settings: string,
  model: string,
  prompt: string,
  files: Readonly<Record<string, string>> = {},
): Promise<Worked> {
  const place = mkdtempSync(join(tmpdir(), 'gazeway-gemini-'))
  mkdirSync(join(place, '.gemini'))
  writeFileSync(join(place, '.gemini', 'settings.json'), settings)
  const folder = join(place, 'work')
  mkdirSync(folder)
  for (const [name, words] of Object.entries(files)) writeFileSync(join(folder, name), words)
  const args = ['-m', model, '--yolo', '--skip-trust', '-o', 'json', '-p', prompt]
  const env = { PATH: process.env.PATH, HOME: place, GEMINI_CLI_NO_RELAUNCH: 'true', ...variables }
  const child = spawn(process.execPath, [join(process.cwd(), PROGRAM), ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
  })
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const begin = out.indexOf('{')
  if (begin < 0) throw new Error(`Gemini CLI said nothing: ${errors.slice(0, 2000)}`)
  return JSON.parse(out.slice(begin))
}
