import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Starts the process of a task: this command with the same flags, environment and working folder, by absolute paths. It
 * outlives this one, so that a client may disconnect while it waits.
 *
 * @throws the system's error when it cannot be started
 */
export async function startTaskProcess(id: string): Promise<void> {
  const [node, ...words] = [process.execPath, ...process.execArgv, ...process.argv.slice(1), 'mcp-task', id]
  const child = spawn(node, words, { detached: true, stdio: 'ignore', windowsHide: true })
  await once(child, 'spawn')
  child.unref()
}
