import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { chooseModels } from '../../src/coding-agents/choose-models.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { makeAgentKey, revokeAgentKey } from './connect-key.ts'
import { listedModels } from './connect-models.ts'
import { agentNamed, type TargetFlags, targetOf } from './connect-target.ts'
import { modelsIn } from './key-flags.ts'
import { STOP_SIGNALS } from './stop-signals.ts'
import { warn } from './warn.ts'

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
 * end. The process exits as the command does.
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
  const made =
    given === null ? await makeAgentKey(loaded, log, flags, { label: `${agent.label} once`, expires: EXPIRES }) : null
  const key = given ?? made?.key ?? ''
  try {
    const { models: listed } = await listedModels(url, key)
    if (listed === null) warn([`No gateway tells its models at ${url}. Start it with: gazeway --http`])
    const run = agent.run({ ...endpoint, key, ...chooseModels(agent, wishes, listed) }, command)
    process.exitCode = await exitOf(run.command, run.env)
  } finally {
    if (made !== null) await revokeAgentKey(loaded, log, made.id)
  }
}

/** Runs a command on this terminal, and passes signals on to it. @returns its exit code, as a shell has it */
function exitOf([program = '', ...words]: readonly string[], env: Record<string, string>): Promise<number> {
  const child = spawn(program, words, {
    env: { ...process.env, ...env },
    stdio: 'inherit',
    // Commands from npm are scripts there.
    shell: process.platform === 'win32',
  })
  function pass(signal: NodeJS.Signals): void {
    // A terminal sends Ctrl+C to the command as well, which may take a second one as an order to quit.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  for (const signal of STOP_SIGNALS) process.on(signal, pass)
  return new Promise<number>((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`gazeway: ${program} was not started (${(error as NodeJS.ErrnoException).code}).\n`)
      resolve(NOT_FOUND)
    })
    child.once('close', (code, signal) => resolve(code ?? SIGNALLED + (signal ? constants.signals[signal] : 0)))
  }).finally(() => {
    for (const signal of STOP_SIGNALS) process.off(signal, pass)
  })
}
