#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { type LoadedConfig, loadConfig } from '../src/config/config.ts'
import type { ConfigFlags } from '../src/config/environment.ts'
import { GazewayError } from '../src/errors.ts'
import { createLog, type Log } from '../src/log.ts'
import { VERSION } from '../src/version.ts'

const EXAMPLES = `
Without a command gazeway is an MCP tool server on stdin and stdout; a coding assistant starts it.

Examples:
  $ gazeway --upstream sandbox       try everything without a key
  $ XAI_API_KEY=… gazeway            the real thing
  $ gazeway doctor                   check the configuration, the store and the upstream

An entry for an assistant's MCP configuration:
  { "mcpServers": { "gazeway": { "command": "npx", "args": ["-y", "gazeway"], "env": { "XAI_API_KEY": "…" } } } }`

const program = new Command('gazeway')
  .description('A second model, a shared memory and a gaze-aware work context for every coding assistant.')
  .version(VERSION, '--version', 'print the version')
  .helpOption('-h, --help', 'print this help')
  .option('--data <dir>', 'folder for the store and config.json (default: the platform’s data folder)')
  .option('--store <url>', 'where records are kept: sqlite:PATH')
  .option('--upstream <name|url>', 'provider of models: xai, openai, openrouter, ollama, sandbox, or a base URL')
  .option('--log-level <level>', 'debug, info, warn, error or silent')
  .addHelpText('after', EXAMPLES)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'gazeway: ')) })
  .allowExcessArguments(false)
  .action(async () => {
    const { loaded, log } = await start()
    const { serveStdio } = await import('./stdio.ts')
    if (process.stdin.isTTY) (await import('./stdio/banner.ts')).printBanner(loaded)
    await serveStdio(loaded, log)
  })

program
  .command('doctor')
  .description('check configuration, store and upstream; exit 1 with what to do if one fails')
  .action(async () => {
    const { loaded, log } = await start()
    const { runDoctor } = await import('./doctor.ts')
    process.exitCode = (await runDoctor(loaded, log)) ? 0 : 1
  })

/** The configuration from flags, environment and file, and the log that it asks for. */
async function start(): Promise<{ loaded: LoadedConfig; log: Log }> {
  const loaded = await loadConfig({ env: process.env, flags: program.opts<ConfigFlags>() })
  const log = createLog({ level: loaded.config.log.level, secrets: () => loaded.secrets })
  return { loaded, log }
}

/** A mistake in a flag or variable ends with 2, everything else that prevents the start with 1. */
function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2
    return
  }
  const known = error instanceof GazewayError
  process.stderr.write(`gazeway: ${known ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = known && /^(--|[A-Z_]+$)/.test(error.param ?? '') ? 2 : 1
}

try {
  await program.parseAsync()
} catch (error) {
  fail(error)
}
// Whatever still listens (a provider's kept-alive connection, a timer) must not keep an ended server alive.
process.exit()
