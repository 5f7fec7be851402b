import { realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Machine } from '../../src/assistants/assistant.ts'
import { ASSISTANTS } from '../../src/assistants/assistants.ts'
import { entryIn, targetsOf } from '../../src/assistants/change.ts'
import { installedCopy, isBorrowed } from '../../src/assistants/installed.ts'
import { INSTALL_ADVICE, wordsOf } from '../../src/assistants/launch.ts'
import type { Environment } from '../../src/config/environment.ts'
import { GazewayError } from '../../src/errors.ts'
import { homeFolder } from '../../src/text/home-folder.ts'

/**
 * Describes how the running copy of Gazeway differs from the installed one and from those that assistants start.
 *
 * @param command path of the running command
 * @returns null when they are the same, or nothing else is installed
 */
export function otherCopies(command: string, env: Environment): string | null {
  const { platform } = process
  const running = realpathSync(command)
  if (isBorrowed(running, process.cwd())) return `${running} is not an installed copy: ${INSTALL_ADVICE}`
  const installed = installedCopy(env, platform)
  const faults = installed === null || installed === running ? [] : [`the command gazeway is ${installed}.`]
  const home = homeFolder()
  if (home !== null) faults.push(...otherEntries(running, { platform, home, env, project: process.cwd() }))
  if (faults.length === 0) return null
  return `this is ${running}; ${faults.join(' ')} Run \`gazeway setup\` with the copy that you use.`
}

/** Describes the entries in a person's files that start something else than the running copy. */
function otherEntries(running: string, machine: Machine): string[] {
  const targets = ASSISTANTS.flatMap((assistant) => targetsOf(assistant, 'user', machine))
  return targets.flatMap((target) => {
    try {
      const entry = entryIn(target)
      if (entry === undefined || wordsOf(entry).some((word) => leadsTo(word, running))) return []
      return [`${target.assistant.label} starts another copy (${target.path}).`]
    } catch (error) {
      if (error instanceof GazewayError) return [error.message]
      throw error
    }
  })
}

function leadsTo(word: string, running: string): boolean {
  try {
    return isAbsolute(word) && realpathSync(word) === running
  } catch {
    // The copy was removed.
    return false
  }
}
