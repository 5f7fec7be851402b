import { existsSync } from 'node:fs'
import type { CodingAgent } from '../../src/coding-agents/coding-agent.ts'
import { CODING_AGENTS } from '../../src/coding-agents/coding-agents.ts'
import {
  type Connection,
  connectionFiles,
  forgetConnection,
  readConnection,
} from '../../src/coding-agents/connection.ts'
import { backupOf, type PlannedUndo, planUndo } from '../../src/coding-agents/plan-connection.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { ask } from './ask-on-terminal.ts'
import { revokeAgentKey } from './connect-key.ts'
import { agentNamed } from './connect-target.ts'
import { shownChange } from './shown-change.ts'

/** Flags of `gazeway disconnect`. */
export interface DisconnectFlags {
  project?: true
  keepKey?: true
  print?: true
  yes?: true
}

/**
 * Undoes connections: shows the changes to the agents' files, asks, writes, and revokes the keys that were made for them.
 *
 * @param names agents; none for all that are connected
 * @throws GazewayError `config_invalid` for an unknown agent or a file that is not accepted
 */
export async function disconnect(
  loaded: LoadedConfig,
  log: Log,
  names: readonly string[],
  flags: DisconnectFlags,
): Promise<void> {
  const project = flags.project ? process.cwd() : null
  const chosen = names.length > 0 ? [...new Set(names)].map(agentNamed) : CODING_AGENTS
  let isAny = false
  for (const agent of chosen) {
    const connection = readConnection(connectionFiles(loaded.dataDir, agent.name, project))
    if (connection === null) continue
    isAny = true
    await undo(loaded, log, agent, connection, flags)
  }
  if (!isAny) say(`Nothing to undo: the data folder ${loaded.dataDir} has no such connection.`)
}

async function undo(
  loaded: LoadedConfig,
  log: Log,
  agent: CodingAgent,
  { project, key_id, files }: Connection,
  flags: DisconnectFlags,
): Promise<void> {
  const planned = files.map((file) => planUndo(file, project ?? undefined))
  const changes = planned.flatMap(({ change }) => change ?? [])
  for (const change of changes) process.stdout.write(`${agent.label}\n${shownChange(change)}\n`)
  for (const one of planned) describeEdits(one)
  if (flags.print) return
  const revoked = flags.keepKey ? null : key_id
  const question = questionOf(changes.length, revoked)
  if (question !== null && !flags.yes && !(await ask(question))) return say('Nothing was changed.')
  for (const { change } of planned) await change?.make()
  for (const { path, after } of changes) say(`${agent.label}: ${path} ${after === null ? 'removed' : 'written'}`)
  if (revoked !== null) await revoke(loaded, log, revoked)
  forgetConnection(connectionFiles(loaded.dataDir, agent.name, project))
  say(`${agent.label} is disconnected.`)
}

/** Question before anything is changed. Null when nothing is. */
function questionOf(changes: number, revoked: string | null): string | null {
  const files = changes === 1 ? 'this file' : `these ${changes} files`
  if (revoked === null) return changes === 0 ? null : `Change ${files}?`
  return changes === 0 ? `Revoke its key ${revoked}?` : `Change ${files}, and revoke its key ${revoked}?`
}

function describeEdits({ path, isEdited, staying }: PlannedUndo): void {
  if (!isEdited) return
  say(`${path} was edited since: only what connect wrote is removed.`)
  if (staying.length > 0) say(`  Left, because they have other values now: ${staying.join(', ')}.`)
  if (existsSync(backupOf(path))) say(`  The file from before stays: ${backupOf(path)}`)
}

async function revoke(loaded: LoadedConfig, log: Log, id: string): Promise<void> {
  try {
    const name = await revokeAgentKey(loaded, log, id)
    if (name !== null) say(`Revoked the key ${name} (${id}). Running servers refuse it within 5 seconds.`)
  } catch (error) {
    if (!(error instanceof GazewayError)) throw error
    process.stderr.write(`gazeway: The key ${id} was not revoked: ${error.message}\n`)
    process.exitCode = 1
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)
