import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { chooseModels } from '../../src/coding-agents/choose-models.ts'
import type { AgentRun } from '../../src/coding-agents/coding-agent.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { type AgentKey, makeAgentKey, revokeAgentKey } from './connect-key.ts'
import { listedModels } from './connect-models.ts'
import { agentNamed, type TargetFlags, targetOf } from './connect-target.ts'
import { modelsIn } from './key-flags.ts'
import { STOP_SIGNALS } from './stop-signals.ts'
import { warn } from './warn.ts'
import { type SpawnedCommand, windowsCommand } from './windows-command.ts'

/** End of a key for one run, in case this process is killed before it can revoke it. */
const EXPIRES = '7d'
/** Exit code of a shell for a command that was not found. */
const NOT_FOUND = 127
/** Exit code of a shell for a command that a signal ended, less the number of the signal. */
const SIGNALLED = 128

/** Flags of `gazeway connect` that are of use to one run. */
export interface RunFlags extends TargetFlags {
  model?: string
  smallModel?: string
}

/**
 * Runs a command that uses the gateway by its environment alone. Writes no file, and revokes the key that it made at the
 * end, Ctrl+C included. The process exits as the command does.
 *
 * @throws GazewayError `config_invalid` for an agent or a flag that is not accepted
 */
export async function runConnected(
  loaded: LoadedConfig,
  log: Log,
  name: string,
  flags: RunFlags,
  command: readonly string[],
): Promise<void> {
  const agent = agentNamed(name)
  const { url, key: given } = targetOf(loaded, flags)
  const { model, smallModel, models } = flags
  const wishes = { model, smallModel, allowed: models === undefined ? null : modelsIn(models) }
  const endpoint = { url, keyFile: '', ...chooseModels(agent, wishes, null) }
  // Refused before a key is made.
  agent.run({ ...endpoint, key: given ?? '' }, command)
  const signals = passSignals()
  let made: AgentKey | null = null
  try {
    if (given === null)
      made = await makeAgentKey(loaded, log, flags, { label: `${agent.label} once`, expires: EXPIRES })
    const key = given ?? made?.key ?? ''
    const { models: listed } = await listedModels(url, key)
    if (listed === null) warn([`No gateway tells its models at ${url}. Start it with: gazeway --http`])
    const run = agent.run({ ...endpoint, key, ...chooseModels(agent, wishes, listed) }, command)
    process.exitCode = await exitOf(run, signals)
  } finally {
    signals.stop()
    if (made !== null) await revokeAgentKey(loaded, log, made.id)
  }
}

/** Stop signals of this process, for the command that it runs. */
interface PassedSignals {
  /** The signal that came before the command. Null for none. */
  early(): NodeJS.Signals | null
  /** Passes signals on to the command from here on. */
  to(child: ChildProcess): void
  /** Leaves signals to others. */
  stop(): void
}

function passSignals(): PassedSignals {
  let child: ChildProcess | null = null
  let early: NodeJS.Signals | null = null
  function pass(signal: NodeJS.Signals): void {
    if (child === null) early ??= signal
    // A terminal sends Ctrl+C to the command as well, which may take a second one as an order to quit.
    else if (signal !== 'SIGINT' || !isInTerminal()) child.kill(signal)
  }
  for (const signal of STOP_SIGNALS) process.on(signal, pass)
  return {
    early: () => early,
    to(started) {
      child = started
    },
    stop() {
      for (const signal of STOP_SIGNALS) process.off(signal, pass)
    },
  }
}

/** Tells whether a terminal may send signals: input or output may be a pipe there. */
const isInTerminal = (): boolean => [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)

/** Runs a command on this terminal, unless a signal came first. @returns its exit code, as a shell has it */
async function exitOf({ command, env }: AgentRun, signals: PassedSignals): Promise<number> {
  const early = signals.early()
  if (early !== null) return codeOf(early)
  const { program, words, shell } =
    process.platform === 'win32' ? windowsCommand(command, process.env, existsSync) : asItIs(command)
  const child = spawn(program, words, { env: { ...process.env, ...env }, stdio: 'inherit', shell })
  signals.to(child)
  return new Promise((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`gazeway: ${command[0]} was not started (${(error as NodeJS.ErrnoException).code}).\n`)
      resolve(NOT_FOUND)
    })
    child.once('close', (code, signal) => resolve(code ?? (signal === null ? SIGNALLED : codeOf(signal))))
  })
}

const asItIs = ([program = '', ...words]: readonly string[]): SpawnedCommand => ({ program, words, shell: false })

const codeOf = (signal: NodeJS.Signals): number => SIGNALLED + constants.signals[signal]
