import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { alertsContract } from './alerts-contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-alerts-'))
after(() => rmSync(folder, { recursive: true }))

let opened = 0
alertsContract('SQLite', async () => `sqlite:${join(folder, `${opened++}.db`)}`)
