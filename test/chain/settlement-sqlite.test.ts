import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { openEmptyStore } from '../store/empty-store.ts'
import { settlementContract } from './settlement-contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-settlement-'))
after(() => rmSync(folder, { recursive: true }))

let opened = 0
settlementContract('sqlite', () => openEmptyStore(join(folder, `${opened++}`, 'store.db')))
