import { existsSync, statSync } from 'node:fs'
import { configFile } from './config.ts'

/** Permissions of group and others: read, write, execute. */
const OTHERS = 0o077

/**
 * Advice when others on this machine can access a data folder, which contains keys, prompts and settings. Null when
 * they cannot, and on Windows, where modes mean nothing.
 */
export function exposedFiles(dataDir: string): string | null {
  if (process.platform === 'win32' || !isOpen(dataDir)) return null
  const config = configFile(dataDir)
  const exposed = [dataDir, ...(isOpen(config) ? [config] : [])]
  const commands = exposed.map((path) => `chmod go= ${JSON.stringify(path)}`)
  return `Other users of this machine can read or enter ${exposed.join(' and ')}. Restrict access: ${commands.join('; ')}`
}

const isOpen = (path: string): boolean => existsSync(path) && (statSync(path).mode & OTHERS) !== 0
