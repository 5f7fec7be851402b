import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { validateManifest } from '@anthropic-ai/mcpb'
import { type Zippable, zipSync } from 'fflate'
import { stage } from '../staging.ts'
import { bundleManifest } from './manifest.ts'

/** The earliest that a ZIP file can note. In local time, as the file has it: no time zone changes its bytes. */
const FIRST_DAY = new Date(1980, 0, 1)
/** Unix, whose rights the attributes hold. */
const UNIX = 3
const RUNNABLE = 0o100

/**
 * Packs the built command into a bundle that MCP hosts install by themselves. The same files give the same bytes: the packing of
 * the bundles' own library notes the time, and the order and rights of the files of one machine.
 *
 * @throws Error when it is not valid
 */
export function packBundle(outputPath: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-mcpb-'))
  try {
    stage(folder)
    const manifest = join(folder, 'manifest.json')
    writeFileSync(manifest, JSON.stringify(bundleManifest(), null, 2))
    if (!validateManifest(manifest)) throw new Error('The bundle was not packed: its manifest is not valid.')
    writeFileSync(outputPath, zipSync(filesBelow(folder), { level: 9, mtime: FIRST_DAY }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The files of a folder by their names in a ZIP file, in one order everywhere. */
function filesBelow(root: string): Zippable {
  const files: Zippable = {}
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'))
  for (const name of names.sort()) {
    const file = statSync(join(root, name))
    if (!file.isFile()) continue
    const rights = file.mode & RUNNABLE ? 0o755 : 0o644
    files[name] = [readFileSync(join(root, name)), { os: UNIX, attrs: rights << 16 }]
  }
  return files
}
