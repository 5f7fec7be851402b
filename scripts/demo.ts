import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { STOP_SIGNALS } from '../adapters/command/stop-signals.ts'
import { showHttp } from './demo/http.ts'
import { showPlatform } from './demo/platform.ts'
import { asArgument, printStep } from './demo/print.ts'
import { openStdio } from './demo/stdio.ts'
import { story } from './demo/story.ts'
import type { Surface } from './demo/surface.ts'

/**
 * Calls each of the twelve tools of the built server once, on this repository and without a key, and prints the answers.
 * With --http it shows the gateway's endpoints and its fallback instead, with --platform a metered call on the platform,
 * with --escrow a task whose reward is paid out on a chain of this machine.
 */

const FLAGS = {
  '--http': 'the gateway over HTTP, and how it falls back',
  '--platform': 'a metered call on the platform, its receipt and its usage',
  '--escrow': 'a task whose reward is paid out on a chain of this machine',
  '--help': 'this text',
}

const project = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '')
const command = join(project, 'dist', 'cli.js')
const flags = process.argv.slice(2)
if (flags.length > 1 || flags.some((flag) => !Object.hasOwn(FLAGS, flag))) {
  const accepted = Object.keys(FLAGS).join(', ')
  console.error(`demo: unknown option ${flags.join(' ')}; must be one of ${accepted}, or none.`)
  process.exit(2)
}
if (flags[0] === '--help') {
  console.log('Shows the twelve tools, or with a flag:\n')
  for (const [flag, what] of Object.entries(FLAGS)) console.log(`  ${flag.padEnd(10)}  ${what}`)
  process.exit()
}
if (!existsSync(command)) {
  console.error('dist/cli.js is missing: run npm run build first, or npm run demo, which does both.')
  process.exit(1)
}

const dataDir = mkdtempSync(join(tmpdir(), 'gazeway-demo-'))
// At the exit, because one that comes early unwinds nothing: at Ctrl+C, or once nobody reads on (`| head`).
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))
for (const signal of STOP_SIGNALS) process.once(signal, () => process.exit(128 + constants.signals[signal]))
process.stdout.once('error', () => process.exit())

if (flags[0] === '--http') await showHttp({ command, dataDir })
else if (flags[0] === '--platform') await showPlatform({ command, dataDir })
else if (flags[0] === '--escrow') {
  // Only this story needs what speaks to a chain.
  const { showEscrow } = await import('./demo/escrow.ts')
  await showEscrow({ command, dataDir })
} else await showTools()

/** Goes through the tools as a coding assistant would, and says how to have them in one. */
async function showTools(): Promise<void> {
  const began = performance.now()
  const surface = await openStdio({ command, dataDir, project })
  console.log(`\n${surface.about}.\nProject: ${project}\n`)
  const answered = await tell(surface)
  await surface.close()

  const missing = surface.tools.filter((tool) => !answered.has(tool))
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`${answered.size} of ${surface.tools.length} tools answered in ${seconds} s.`)
  for (const tool of missing) console.log(`NOT ANSWERED: ${tool}`)
  if (missing.length > 0) process.exitCode = 1
  console.log(`The reading was made up, and the data folder is removed again. The sandbox only quotes what it is given; with a key a
real model answers. To have Gazeway in your assistant (docs/reference/assistants.md has the entries of others than Claude Code):

  claude mcp add gazeway -- node ${asArgument(command)}
`)
}

/** Goes through the story, prints it, and returns the tools that answered. */
async function tell(surface: Surface): Promise<Set<string>> {
  const answered = new Set<string>()
  for (const [i, step] of story(project, new Date()).entries()) {
    const asked = performance.now()
    const answer = await surface.call(step.tool, step.input)
    printStep(i + 1, step, answer, performance.now() - asked)
    if (!answer.failed) answered.add(step.tool)
  }
  return answered
}
