import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { openEmptyStore } from '../store/empty-store.ts'
import { reconcileContract } from './reconcile-contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-reconcile-'))
after(() => rmSync(folder, { recursive: true }))

reconcileContract('sqlite', () => openEmptyStore(join(folder, 'store.db')))
