import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import { storeContract } from './store.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-contract-'))
after(() => rmSync(folder, { recursive: true }))

let opened = 0
storeContract('sqlite', () => openStore(`sqlite:${join(folder, `${opened++}`, 'store.db')}`))
