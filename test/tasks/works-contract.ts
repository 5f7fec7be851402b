import { after, describe } from 'node:test'
import { sql } from 'kysely'
import { RECORD_TABLES } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { escrowContract } from '../escrow/escrow-contract.ts'
import { modelContract } from './model-contract.ts'
import type { OpenStore } from './setup.ts'
import { tasksContract } from './tasks-contract.ts'

/** Tests of tasks and escrows, for every store engine. `open` opens an empty store, which all tests use in turn. */
export function worksContract(name: string, open: () => Promise<Store>): void {
  let opening: Promise<Store> | undefined
  after(async () => (await opening)?.close())
  const emptied: OpenStore = async () => {
    opening ??= open()
    const store = await opening
    await store.write(async (trx) => {
      for (const table of Object.keys(RECORD_TABLES)) await sql`delete from ${sql.table(table)}`.execute(trx)
    })
    return store
  }
  describe(`tasks on ${name}`, () => tasksContract(emptied))
  describe(`escrows on ${name}`, () => escrowContract(emptied))
  describe(`tasks and escrows on ${name}`, () => modelContract(emptied))
}
