import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { packExtension } from '@anthropic-ai/mcpb'
import { bundleManifest } from './mcpb/manifest.ts'
import { stage } from './staging.ts'

/** Packs the built command into gazeway.mcpb, or the file that is named: a bundle that MCP hosts install by themselves. */

const folder = mkdtempSync(join(tmpdir(), 'gazeway-mcpb-'))
try {
  stage(folder)
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(bundleManifest(), null, 2))
  const outputPath = resolve(process.argv[2] ?? 'gazeway.mcpb')
  if (!(await packExtension({ extensionPath: folder, outputPath, silent: true })))
    throw new Error('The bundle was not packed: its manifest is not valid.')
  console.log(`wrote ${outputPath}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
