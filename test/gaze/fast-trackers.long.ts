import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { gazeTrackersContract } from '../contract/gaze-trackers.ts'
import { openEmptyStore } from '../store/empty-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-trackers-'))
after(() => rmSync(folder, { recursive: true }))

let opened = 0
gazeTrackersContract(() => openEmptyStore(join(folder, `${opened++}`, 'store.db')), [1000, 2000])
