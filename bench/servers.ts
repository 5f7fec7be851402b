import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServerCommand } from './session.ts'

/** The checkout that is measured. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Gazeway as it is published, on a data folder of its own. */
export function gazeway(folder: string): ServerCommand {
  return { args: [join(ROOT, 'dist/cli.js'), '--data', folder, '--upstream', 'sandbox'] }
}

/** The peer: `@modelcontextprotocol/server-memory`, with its memories in a file. */
export function serverMemory(file: string): ServerCommand {
  return {
    args: [join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js')],
    env: { MEMORY_FILE_PATH: file },
  }
}

/** Name of the peer in the report. */
export const PEER = 'server-memory'
