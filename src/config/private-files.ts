import { existsSync, statSync } from 'node:fs'
import { configFile } from './config.ts'

/** Read, write or enter, for the group or for everyone. */
const OTHERS = 0o077

/**
 * What others on this machine can get at of a data folder, where keys, prompts and settings are kept: a sentence that says
 * what to do, or null. On Windows, where modes say nothing, it is null.
 */
export function exposedFiles(dataDir: string): string | null {
  if (process.platform === 'win32' || !isOpen(dataDir)) return null
  const config = configFile(dataDir)
  const exposed = [dataDir, ...(isOpen(config) ? [config] : [])]
  const commands = exposed.map((path) => `chmod go= ${JSON.stringify(path)}`)
  return `Others on this machine can read or enter ${exposed.join(' and ')}. Keep it to yourself: ${commands.join('; ')}`
}

const isOpen = (path: string): boolean => existsSync(path) && (statSync(path).mode & OTHERS) !== 0
