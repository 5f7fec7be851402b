import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import { settlementContract } from './settlement-contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-settlement-'))
after(() => rmSync(folder, { recursive: true }))

let opened = 0
settlementContract('sqlite', () => openStore(`sqlite:${join(folder, `${opened++}`, 'store.db')}`))
