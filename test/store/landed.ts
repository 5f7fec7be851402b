import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Engine } from '../../src/store/engine.ts'
import { MIGRATIONS } from '../../src/store/migrations/migrations.ts'

/** Names of the migrations. */
export const STEPS: readonly string[] = Object.keys(MIGRATIONS)
/** The digests of the migrations that have landed, by name. */
export const DIGESTS_FILE = resolve('test/store/landed/digests.json')

/** Reads {@link DIGESTS_FILE}; empty before there is one. */
export const landedDigests = (): Record<string, string> =>
  existsSync(DIGESTS_FILE) ? JSON.parse(readFileSync(DIGESTS_FILE, 'utf8')) : {}

/** SHA-256 of a migration's file, hex. */
export const digestOf = (step: string): string =>
  createHash('sha256')
    .update(readFileSync(`src/store/migrations/${step}.ts`))
    .digest('hex')

/** The file with the store of the code that a migration landed with. */
export const dumpFile = (step: string, engine: Engine): string => resolve(`test/store/landed/${step}.${engine}.sql`)
