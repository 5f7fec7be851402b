import { rmSync } from 'node:fs'
import type { Machine, Scope } from '../../src/assistants/assistant.ts'
import { type ConfigFile, readConfigFile } from '../../src/assistants/config-file.ts'
import { isSame } from '../../src/assistants/json-format.ts'
import { chooseModels } from '../../src/coding-agents/choose-models.ts'
import type { AgentModel, CodingAgent, Endpoint } from '../../src/coding-agents/coding-agent.ts'
import {
  type Connection,
  type ConnectionFiles,
  connectionFiles,
  forgetConnection,
  keepConnection,
  readConnection,
  readKey,
} from '../../src/coding-agents/connection.ts'
import { type PlannedFile, planFile, planUndo, revert } from '../../src/coding-agents/plan-connection.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { ask } from './ask-on-terminal.ts'
import { type AgentKey, makeAgentKey, modelsOfKey, revokeAgentKey, settleAgentKey } from './connect-key.ts'
import { listedModels } from './connect-models.ts'
import { agentNamed, type Target, type TargetFlags, targetOf } from './connect-target.ts'
import { modelsIn } from './key-flags.ts'
import { shownChange } from './shown-change.ts'
import { thisMachine } from './this-machine.ts'
import { warn } from './warn.ts'

/** Flags of `gazeway connect`. */
export interface ConnectFlags extends TargetFlags {
  model?: string
  smallModel?: string
  project?: true
  print?: true
  yes?: true
}

/** Stands for a key that is not made yet. */
const NO_KEY = 'gzw_the_key_that_is_made'
/** End of a new key, in case this process is killed before it is answered. An answer lifts it. */
const UNANSWERED = '1h'

/** An agent in its place, and the gateway to connect it to. */
interface Task {
  agent: CodingAgent
  scope: Scope
  machine: Machine
  target: Target
  flags: ConnectFlags
  files: ConnectionFiles
  earlier: Connection | null
  /** The key of the connection before, with the models that it allows. Null when another is needed. */
  kept: (AgentKey & { models: readonly string[] | null }) | null
  /** Files as they were read first, so that later changes by others are noticed. */
  seen: Map<string, ConfigFile>
}

/** The key of a connection. */
interface ChosenKey {
  key: string
  /** Null for a key that was given. */
  id: string | null
  isNew: boolean
}

/**
 * Has an agent use the gateway: makes a key, shows the changes to the agent's files, asks, and writes. A second time
 * replaces the settings of the first.
 *
 * @throws GazewayError `config_invalid` for an agent, a flag or a file that is not accepted; nothing is written then
 */
export async function connect(loaded: LoadedConfig, log: Log, name: string, flags: ConnectFlags): Promise<void> {
  const task = await taskOf(loaded, log, name, flags)
  const { agent, target, earlier } = task
  const known = target.key ?? task.kept?.key ?? null
  // Invalid files are refused before a key is made.
  const preview = plan(task, endpointOf(task, known ?? NO_KEY, null))
  if (flags.print) {
    show(agent, known === null ? preview : plan(task, endpointOf(task, known, await modelsFor(task, known))))
    return
  }
  const chosen = await keyFor(loaded, log, task)
  let isWritten = false
  try {
    const listed = await modelsFor(task, chosen.key)
    const planned = plan(task, endpointOf(task, chosen.key, listed))
    const changes = planned.flatMap(({ change }) => change ?? [])
    if (changes.length > 0) {
      show(agent, planned)
      if (!flags.yes && !(await ask(`Change ${changes.length === 1 ? 'this file' : `these ${changes.length} files`}?`)))
        return say('Nothing was changed.')
    }
    if (chosen.id !== null) await settleAgentKey(loaded, log, { ...chosen, id: chosen.id }, flags)
    await write(task, chosen, planned)
    isWritten = true
    await revokeReplaced(loaded, log, earlier, chosen)
    report(task, chosen, planned, earlier !== null && changes.length === 0)
  } finally {
    if (!isWritten && chosen.isNew && chosen.id !== null) await revokeAgentKey(loaded, log, chosen.id)
  }
}

async function taskOf(loaded: LoadedConfig, log: Log, name: string, flags: ConnectFlags): Promise<Task> {
  const agent = agentNamed(name)
  const target = targetOf(loaded, flags)
  const scope = flags.project ? 'project' : 'user'
  if (scope === 'project' && agent.notInProject !== null)
    throw new GazewayError('config_invalid', `--project: ${agent.notInProject}. Omit it.`, { param: '--project' })
  const machine = thisMachine(scope, '--project')
  const files = connectionFiles(loaded.dataDir, agent.name, scope === 'project' ? machine.project : null)
  const earlier = readConnection(files)
  const kept = target.key === null ? await keptKey(loaded, log, earlier, readKey(files)) : null
  return { agent, scope, machine, target, flags, files, earlier, kept, seen: new Map() }
}

async function keptKey(
  loaded: LoadedConfig,
  log: Log,
  earlier: Connection | null,
  key: string | null,
): Promise<Task['kept']> {
  const id = earlier?.key_id ?? null
  if (id === null || key === null) return null
  const models = await modelsOfKey(loaded, log, { id, key })
  return models === undefined ? null : { id, key, models }
}

/** Uses the key that was given, or the one of the connection before; otherwise makes one. */
async function keyFor(loaded: LoadedConfig, log: Log, { agent, target, flags, kept }: Task): Promise<ChosenKey> {
  if (target.key !== null) return { key: target.key, id: null, isNew: false }
  if (kept !== null) return { key: kept.key, id: kept.id, isNew: false }
  return { ...(await makeAgentKey(loaded, log, flags, { label: agent.label, expires: UNANSWERED })), isNew: true }
}

/** Revokes the key of the connection before, where another has taken its place. */
async function revokeReplaced(
  loaded: LoadedConfig,
  log: Log,
  earlier: Connection | null,
  chosen: ChosenKey,
): Promise<void> {
  const id = earlier?.key_id ?? null
  if (id === null || id === chosen.id) return
  const name = await revokeAgentKey(loaded, log, id)
  if (name !== null) say(`Revoked the key ${name} (${id}), which another takes the place of.`)
}

/** Models of the gateway; says when it does not tell them. */
async function modelsFor({ target: { url } }: Task, key: string): Promise<AgentModel[] | null> {
  const { models, status } = await listedModels(url, key)
  if (models !== null) return models
  const fault =
    status === 401
      ? `The gateway at ${url} refuses the key: does it run with another --data or --store?`
      : `No gateway tells its models at ${url}. Start it with: gazeway --http`
  warn([`${fault} Connect again afterwards to have the limits of the models written.`])
  return null
}

function endpointOf(
  { agent, target: { url }, flags, files, kept }: Task,
  key: string,
  listed: AgentModel[] | null,
): Endpoint {
  const { model, smallModel, models } = flags
  const allowed = models === undefined ? kept?.models : modelsIn(models)
  return { url, key, keyFile: files.key, ...chooseModels(agent, { model, smallModel, allowed }, listed) }
}

/** Plans the changes of all files, those that only the connection before has written too. */
function plan(task: Task, endpoint: Endpoint): PlannedFile[] {
  const { agent, machine, scope, earlier, seen } = task
  const within = withinOf(task)
  return agent.files(endpoint, machine, scope).map((file) => {
    const read = seen.get(file.path) ?? readConfigFile(file.path, within)
    seen.set(file.path, read)
    return planFile(
      file,
      read,
      within,
      earlier?.files.find(({ path }) => path === file.path),
    )
  })
}

/**
 * Writes the record first, so that what is written can be undone, and then the files: all of them, or none.
 *
 * @throws GazewayError `conflict` when another process has connected the agent meanwhile
 */
async function write(task: Task, { key, id }: ChosenKey, planned: readonly PlannedFile[]): Promise<void> {
  const { agent, target, files, earlier, seen, machine, scope } = task
  const within = withinOf(task)
  if (!isSame(readConnection(files), earlier))
    throw new GazewayError(
      'conflict',
      `${agent.label} was connected or disconnected by another process meanwhile; nothing was written. Retry.`,
    )
  const paths = planned.map(({ connected }) => connected.path)
  const left = earlier?.files.filter(({ path }) => !paths.includes(path)) ?? []
  const earlierKey = readKey(files)
  const project = scope === 'project' ? machine.project : null
  const connected = planned.map((one) => one.connected)
  const connection = { agent: agent.name, project, url: target.url, key_id: id, files: connected }
  await keepConnection(files, connection, key)
  try {
    for (const { change } of planned) await change?.make()
    for (const file of left) await planUndo(file, within).change?.make()
  } catch (error) {
    for (const { change, connected } of planned) {
      const file = seen.get(connected.path)
      if (file !== undefined) await revert(file, connected, within).catch(() => {})
      if (earlier === null && change?.backup) rmSync(change.backup, { force: true })
    }
    if (earlier !== null && earlierKey !== null) await keepConnection(files, earlier, earlierKey)
    else forgetConnection(files)
    throw error
  }
}

const withinOf = ({ scope, machine }: Task): string | undefined => (scope === 'project' ? machine.project : undefined)

function show({ label }: CodingAgent, planned: readonly PlannedFile[]): void {
  const changes = planned.flatMap(({ change }) => change ?? [])
  if (changes.length === 0) say(`${label}: nothing to change.`)
  for (const change of changes) process.stdout.write(`${label}\n${shownChange(change)}\n`)
}

function report(
  { agent, target, machine, flags }: Task,
  { id }: ChosenKey,
  planned: readonly PlannedFile[],
  isSame: boolean,
): void {
  for (const { change } of planned) {
    if (change === null) continue
    say(`${agent.label}: ${change.path} written${change.backup === null ? '' : `; backup: ${change.backup}`}`)
  }
  const key = id === null ? 'the given key' : `the key ${id}`
  const undo = `gazeway disconnect ${agent.name}${flags.project ? ' --project' : ''}`
  say(`${agent.label} ${isSame ? 'is already connected to' : 'now uses'} ${target.url} with ${key}. Undo: ${undo}`)
  const set = agent.overridden.filter((variable) => machine.env[variable])
  if (set.length > 0) warn([`${set.join(', ')} of this shell takes precedence over ${agent.label}'s files: unset it.`])
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)
