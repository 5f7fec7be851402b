import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packExtension } from '@anthropic-ai/mcpb'
import { stage } from '../staging.ts'
import { bundleManifest } from './manifest.ts'

/** Packs the built command into a bundle that MCP hosts install by themselves. @throws Error when it is not valid */
export async function packBundle(outputPath: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-mcpb-'))
  try {
    stage(folder)
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(bundleManifest(), null, 2))
    if (!(await packExtension({ extensionPath: folder, outputPath, silent: true })))
      throw new Error('The bundle was not packed: its manifest is not valid.')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
