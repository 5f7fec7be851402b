import type { Assistant, Machine, Scope } from '../../src/assistants/assistant.ts'
import { ASSISTANT_NAMES, ASSISTANTS } from '../../src/assistants/assistants.ts'
import {
  type Change,
  entryIn,
  isInstalled,
  removeChange,
  setupChange,
  type Target,
  targetsOf,
  type Wanted,
} from '../../src/assistants/change.ts'
import { launchOf } from '../../src/assistants/launch.ts'
import { handedOn } from '../../src/assistants/variables.ts'
import { GazewayError } from '../../src/errors.ts'
import { plain } from '../../src/text/single-line.ts'
import { ask } from './ask-on-terminal.ts'
import { shownChange } from './shown-change.ts'
import { thisMachine } from './this-machine.ts'

/** The flags of `gazeway setup` and `gazeway remove`. */
export interface SetupFlags {
  scope: string
  env?: readonly string[]
  print?: true
  yes?: true
}

/** Assistant, and the change of its file. */
interface Planned {
  assistant: Assistant
  change: Change
}

/**
 * Connects assistants: shows the changes to their files, asks, and writes. A fault in one assistant does not stop the
 * others; the process then exits with 1.
 *
 * @throws GazewayError `config_invalid` for a name, a flag or a value that is not accepted
 */
export async function setUp(clients: readonly string[], flags: SetupFlags): Promise<void> {
  const scope = scopeOf(flags.scope)
  const machine = thisMachine(scope, '--scope project')
  const wanted: Wanted = {
    launch: launchOf(process.argv[1] ?? '', scope, machine),
    variables: handedOn(flags.env, machine.env),
  }
  const chosen = clients.length > 0 ? named(clients) : ASSISTANTS.filter((assistant) => isInstalled(assistant, machine))
  if (chosen.length === 0)
    throw new GazewayError(
      'not_found',
      `No assistant was found. Name those that you have: ${ASSISTANT_NAMES.join(', ')}.`,
    )
  const planned = plan(chosen, scope, machine, (targets) => {
    const target = targets.find((one) => entryIn(one) !== undefined) ?? targets[0]
    const change = target ? setupChange(target, wanted) : null
    if (target && change === null) say(`${target.assistant.label}: ${target.path} already has the entry.`)
    return [change]
  })
  const written = await carryOut(planned, flags)
  if (written > 0) say(`Restart the assistants to load the server gazeway. ${keysOf(wanted.variables, machine)}`)
}

/**
 * Removes the entry from assistants' files: shows the changes, asks, and writes.
 *
 * @throws GazewayError as {@link setUp}
 */
export async function removeEntries(clients: readonly string[], flags: SetupFlags): Promise<void> {
  const scope = scopeOf(flags.scope)
  const machine = thisMachine(scope, '--scope project')
  const chosen = clients.length > 0 ? named(clients) : ASSISTANTS
  const planned = plan(chosen, scope, machine, (targets) => targets.map(removeChange))
  if (planned.length === 0 && !process.exitCode) say('Nothing to remove: no file has the entry.')
  await carryOut(planned, flags)
}

/** Plans the changes. Reports files that cannot be changed, and continues with the others. */
function plan(
  chosen: readonly Assistant[],
  scope: Scope,
  machine: Machine,
  changesOf: (targets: readonly Target[]) => (Change | null)[],
): Planned[] {
  return chosen.flatMap((assistant) => {
    const targets = targetsOf(assistant, scope, machine)
    if (targets.length === 0 && chosen.length === 1)
      complain(`${assistant.label} has no file in a project. Omit --scope.`)
    const changes = attempt(() => changesOf(targets)) ?? []
    return changes.flatMap((change) => (change === null ? [] : [{ assistant, change }]))
  })
}

/** Shows the changes, asks, and makes them. @returns the number of changes made */
async function carryOut(planned: readonly Planned[], { print, yes }: SetupFlags): Promise<number> {
  if (planned.length === 0) return 0
  for (const { assistant, change } of planned) process.stdout.write(`${assistant.label}\n${shownChange(change)}\n`)
  if (print) return 0
  const files = planned.length === 1 ? 'this file' : `these ${planned.length} files`
  if (!yes && !(await ask(`Change ${files}?`))) {
    say('Nothing was changed.')
    return 0
  }
  let made = 0
  for (const { assistant, change } of planned) {
    const failed = await change.make().then(() => null, asKnown)
    if (failed !== null) {
      complain(failed)
      continue
    }
    made++
    const kept = change.backup === null ? '' : `; backup: ${change.backup}`
    say(`${assistant.label}: ${change.path} ${change.after === null ? 'removed' : 'written'}${kept}`)
  }
  return made
}

function scopeOf(scope: string): Scope {
  if (scope === 'user' || scope === 'project') return scope
  throw new GazewayError('config_invalid', '--scope: invalid value; must be user or project.', { param: '--scope' })
}

function named(clients: readonly string[]): Assistant[] {
  return [...new Set(clients)].map((client) => {
    const found = ASSISTANTS.find(({ name }) => name === client)
    if (found !== undefined) return found
    const message = `unknown assistant ${plain(client)}; must be one of ${ASSISTANT_NAMES.join(', ')}.`
    throw new GazewayError('config_invalid', message, { param: 'CLIENT' })
  })
}

/** Advice about the variables that the entry names. */
function keysOf(variables: readonly string[], { env }: Machine): string {
  const missing = variables.filter((name) => !env[name])
  if (missing.length === 0) return `The entry passes ${variables.join(', ')} to the server.`
  return `The entry passes ${variables.join(', ')} to the server: export ${missing.join(', ')} before you start the assistants.`
}

function attempt<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    complain(asKnown(error))
    return null
  }
}

/** Message of a known error. @throws all others */
function asKnown(error: unknown): string {
  if (error instanceof GazewayError) return error.message
  throw error
}

function complain(message: string): void {
  process.stderr.write(`gazeway: ${message}\n`)
  process.exitCode = 1
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)
