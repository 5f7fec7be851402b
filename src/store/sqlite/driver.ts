import { createRequire } from 'node:module'
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'

/** Connection to a database file, with the interface that both drivers share. */
export type Database = DatabaseSyncInstance
/** Prepared statement of a connection. */
export type Statement = StatementSyncInstance

/** A driver for SQLite files. */
export interface SqliteDriver {
  name: 'node:sqlite' | '@photostructure/sqlite'
  /** Opens a file. @throws the driver's error */
  open(location: string | URL, options?: { readOnly?: boolean }): Database
  /** True when the driver binds every number as a float, unless it is a BigInt. */
  bindsFloats: boolean
}

/** Oldest SQLite that several processes may write with: earlier ones could lose commits of a log. */
const OLDEST = [3, 51, 3] as const

const require = createRequire(import.meta.url)

/** Driver in use: Node's own where it is recent enough, otherwise the one of the package. */
export const driver: SqliteDriver = chosen()

function chosen(): SqliteDriver {
  return isRecent(process.versions.sqlite) ? ofNode() : ofPackage()
}

/**
 * Tells whether a version of SQLite is at least 3.51.3.
 *
 * @example isRecent('3.53.0') // true
 */
export function isRecent(version: string | undefined): boolean {
  if (version === undefined) return false
  const parts = version.split('.').map(Number)
  for (const [place, least] of OLDEST.entries()) {
    const part = parts[place] ?? 0
    if (part !== least) return part > least
  }
  return true
}

function ofNode(): SqliteDriver {
  const { DatabaseSync } = quietly(() => require('node:sqlite'))
  return {
    name: 'node:sqlite',
    open: (location, options = {}) => new DatabaseSync(location, options),
    bindsFloats: true,
  }
}

function ofPackage(): SqliteDriver {
  const { DatabaseSync } = require('@photostructure/sqlite')
  return {
    name: '@photostructure/sqlite',
    open: (location, options = {}) => new DatabaseSync(location, options),
    bindsFloats: false,
  }
}

/** Loads a module without its warning: some versions of Node call their SQLite experimental on stderr. */
function quietly<R>(load: () => R): R {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}
