import { Command, CommanderError } from 'commander'
import { type LoadedConfig, loadConfig } from '../../src/config/config.ts'
import type { ConfigFlags } from '../../src/config/environment.ts'
import { createLog, type Log } from '../../src/config/log.ts'
import { exposedFiles } from '../../src/config/private-files.ts'
import { TOOL_GROUPS } from '../../src/config/sections/mcp-section.ts'
import { unknownVariables } from '../../src/config/unknown-variables.ts'
import { FIRST_NODE, VERSION } from '../../src/config/version.ts'
import { GazewayError, isOutOfFiles } from '../../src/errors.ts'
import { missingKeys } from '../../src/inference/upstreams/upstream-configs.ts'
import { OUT_OF_FILES } from '../../src/lazily.ts'
import { PRESET_NAMES } from '../../src/providers/providers.ts'
import { addConnectCommands } from './connect-program.ts'
import { addCostCommand } from './cost-program.ts'
import { addForgetCommand } from './forget-program.ts'
import { addHookCommands } from './hook-program.ts'
import { addKeyCommands } from './key-program.ts'
import { addMemoryCommands } from './memory-program.ts'
import { addPriceCommands } from './prices-program.ts'
import { addProjectCommands } from './project-program.ts'
import { addReconcileCommand } from './reconcile-program.ts'
import { addReviewCommands } from './review-program.ts'
import { addSessionCommands } from './session-program.ts'
import { addSetupCommands } from './setup-program.ts'
import { addStatementCommand } from './statement-program.ts'
import { addStoreCommands } from './store-program.ts'
import { addTaskCommand } from './task-program.ts'

const EXAMPLES = `
Without a command, gazeway is an MCP tool server on stdin and stdout, started by a coding assistant.

Examples:
  $ gazeway --upstream sandbox       try Gazeway without an API key
  $ XAI_API_KEY=… gazeway            use the models of xAI
  $ gazeway --http                   serve an OpenAI-compatible gateway on http://127.0.0.1:8811/v1
  $ gazeway --http --platform        also serve the agent platform on http://127.0.0.1:8812 (/docs)
  $ gazeway --tools memory,context   offer only these groups of tools
  $ gazeway doctor                   check the configuration, the store and the upstreams
  $ gazeway prices                   list the prices in force and their sources
  $ gazeway setup                    configure the coding assistants on this machine

An entry for an assistant's MCP configuration:
  { "mcpServers": { "gazeway": { "command": "gazeway", "env": { "XAI_API_KEY": "…" } } } }`

const GROUPS = Object.keys(TOOL_GROUPS).join(', ')

/** The command `gazeway`, with all its commands. */
export const program = new Command('gazeway')
  .description('A second model, a shared memory and a gaze-aware work context for every coding assistant.')
  .version(VERSION, '--version', 'print the version')
  .helpOption('-h, --help', 'print this help')
  .option('--http', 'serve the gateway, an OpenAI-compatible API, on 127.0.0.1:8811')
  .option('--platform', 'serve the agent platform on 127.0.0.1:8812; may be combined with --http')
  .option('--host <host>', 'address to listen on (default: 127.0.0.1)')
  .option('--port <port>', 'port of the gateway (default: 8811)')
  .option('--platform-port <port>', 'port of the platform (default: 8812)')
  .option('--data <dir>', 'folder of the store and config.json (default: the data folder of the operating system)')
  .option('--store <url>', 'store to use: sqlite:PATH or postgres://HOST/DATABASE')
  .option('--upstream <name|url>', `model provider: ${PRESET_NAMES.join(', ')}, or a base URL`)
  .option('--remote <url>', 'use memories, audit trail and reviews of another Gazeway; its key: GAZEWAY_REMOTE_KEY')
  .option('--tools <names>', `tools to offer, by name or group, comma-separated; groups: ${GROUPS}`)
  .option('--exclude-tools <names>', 'tools not to offer, by name or group, comma-separated')
  .option('--read-only', 'offer only tools that neither write nor spend')
  .option('--log-level <level>', 'log level: debug, info, warn, error or silent')
  .addHelpText('after', EXAMPLES)
  .exitOverride()
  // Errors are printed once, by `fail`.
  .configureOutput({ writeErr: () => {} })
  .allowExcessArguments(false)
  .hook('preAction', requireNode)
  .action(async () => {
    const { loaded, log } = await start()
    const unknown = unknownVariables(loaded.request.env, Object.keys(loaded.config.upstreams))
    if (unknown !== null) log.warn(unknown)
    const exposed = exposedFiles(loaded.dataDir)
    if (exposed !== null) log.warn(exposed)
    const { http = false, platform = false } = program.opts<{ http?: boolean; platform?: boolean }>()
    if (http || platform) {
      if (loaded.config.remote.url !== null)
        throw new GazewayError('config_invalid', '--remote is for the tools on stdio: omit --http and --platform.', {
          param: '--remote',
        })
      const { runServices } = await import('./services.ts')
      await runServices({ http, platform }, loaded, log)
      return
    }
    const { serveStdio } = await import('../stdio/stdio.ts')
    const banner = process.stdin.isTTY ? await import('../stdio/banner.ts') : undefined
    await serveStdio(loaded, log, () => {
      // With PostgreSQL, the key may be in the configuration of the store, which is not read yet.
      const missing = loaded.storeUrl.startsWith('sqlite:') ? missingKeys(loaded.config) : []
      if (banner) banner.printBanner(loaded)
      else for (const key of missing) log.warn(key)
    })
  })

program
  .command('doctor')
  .description('check the configuration, the store and the upstreams; exits with 1 if a check fails')
  .option(
    '--recover',
    'first count what processes that died on this data folder had not written, and compare a whole week with its receipts',
  )
  .option('--forget-facts', 'first forget what models are known to refuse')
  .action(async ({ recover = false, forgetFacts = false }: { recover?: boolean; forgetFacts?: boolean }) => {
    const { loaded, log } = await start()
    const { runDoctor } = await import('./doctor.ts')
    const print = (line: string) => void process.stdout.write(`${line}\n`)
    const options = { command: process.argv[1] ?? null, recover, forgetFacts }
    if (!(await runDoctor(loaded, log, print, options))) process.exitCode = 1
  })

addPriceCommands(program, start)
addSetupCommands(program)
addConnectCommands(program, start)
addKeyCommands(program, start)
addHookCommands(program, start)
addMemoryCommands(program, start)
addProjectCommands(program, start)
addSessionCommands(program, start)
addReviewCommands(program, start)
addStatementCommand(program, start)
addStoreCommands(program, start)
addForgetCommand(program, start)
addCostCommand(program, start)
addReconcileCommand(program, start)
addTaskCommand(program, start)

program
  .command('help')
  .description('print the help of a command')
  .argument('[command...]', 'command, such as key create; none: all of gazeway')
  .action((words: string[]) => named(words).outputHelp())

/** Runs a command line to its end; an error is printed and sets the exit code. */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    fail(error)
  }
}

/**
 * Loads the configuration from flags, environment and file, and creates the log.
 *
 * @param without flags that the command reads in a way of its own
 */
async function start(without: { upstream?: undefined } = {}): Promise<{ loaded: LoadedConfig; log: Log }> {
  const loaded = await loadConfig({ env: process.env, flags: { ...program.opts<ConfigFlags>(), ...without } })
  const log = createLog({ level: loaded.config.log.level, secrets: () => loaded.secrets })
  return { loaded, log }
}

/** Runs before modules are loaded that an older Node cannot parse. */
function requireNode(): void {
  const { node } = process.versions
  if (rank(node) >= rank(FIRST_NODE)) return
  throw new GazewayError(
    'config_invalid',
    `This is Node ${node}; Gazeway needs ${FIRST_NODE} or later. Install one from https://nodejs.org, and start Gazeway again.`,
  )
}

/** Converts a version to a number that can be compared. */
const rank = (version: string): number =>
  version.split(/[.-]/, 3).reduce((sum, part) => sum * 1000 + Number.parseInt(part, 10), 0)

/** Prints an error and sets the exit code: 2 for a mistake in a flag or variable, 1 for any other error. */
function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return
    process.stderr.write(`gazeway: ${faultOf(error)}\n`)
    process.exitCode = 2
    return
  }
  const known = error instanceof GazewayError
  if (!known && isOutOfFiles(error)) {
    process.stderr.write(`gazeway: ${OUT_OF_FILES}\n`)
    process.exitCode = 1
    return
  }
  process.stderr.write(`gazeway: ${known ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = known && /^(--|[A-Z_]+$)/.test(error.param ?? '') ? 2 : 1
}

/**
 * Describes a command line fault and the accepted values in one line. Omits given values, which may be secrets.
 */
function faultOf({ code, message }: CommanderError): string {
  const fault = message.replace(/^error: /, '').replace(/\s+/g, ' ')
  const command = reached(program.args)
  const words = command.registeredArguments
  const options = command === program ? program.options : [...command.options, ...program.options]
  const names = [...words.map((word) => `<${word.name()}>`), ...options.map((option) => option.long), '--help'].join(
    ', ',
  )
  if (code === 'commander.help') return `${command.name()} needs a command; must be one of ${namesIn(command)}.`
  if (code === 'commander.unknownOption') return `${fault.replace(/=.*'/, "'")}; must be one of ${names}.`
  if (code === 'commander.unknownCommand' || code === 'commander.excessArguments') {
    if (command.commands.length === 0)
      return `too many arguments for ${command.name()}; must be ${names}. Quote a value that has spaces.`
    return `unknown command${unknownWord(command)}; must be one of ${namesIn(command)}${command === program ? ', or none' : ''}.`
  }
  const option = [...options, ...words].find((one) => fault.includes('flags' in one ? one.flags : `'${one.name()}'`))
  return option?.description ? `${fault}: ${option.description}.` : fault
}

/** The command words up to the first unknown one, for the message. Empty when that one does not look like a command. */
function unknownWord(command: Command): string {
  const path = command === program ? [] : [command.name()]
  const word = program.args[path.length] ?? ''
  return /^[a-z][\w-]{0,31}$/i.test(word) ? ` ${[...path, word].join(' ')}` : ''
}

const namesIn = ({ commands }: Command): string => commands.map((one) => one.name()).join(', ')

/** Finds a command. @throws GazewayError `validation_failed` for a word that names none */
function named(words: readonly string[]): Command {
  return words.reduce<Command>((command, word) => {
    const next = command.commands.find((one) => one.name() === word)
    if (next !== undefined) return next
    const accepted = command.commands.length === 0 ? 'it has no commands' : `must be one of ${namesIn(command)}`
    throw new GazewayError('validation_failed', `${command.name()} has no such command; ${accepted}.`, {
      param: '--help',
    })
  }, program)
}

/** Finds the command that the words of the command line name. */
function reached(words: readonly string[], from: Command = program): Command {
  const next = from.commands.find((command) => command.name() === words[0])
  return next === undefined ? from : reached(words.slice(1), next)
}
