import { build, type Metafile, type OutputFile } from 'esbuild'
import { bundle } from './bundle.ts'
import { sharedChunk } from './shared-chunk.ts'
import { asThreads } from './threads.ts'

/**
 * Bundles the command. The modules of a start are known once it has been bundled, so it is bundled twice. Threads share no
 * chunk with it: each one that they shared would be one more file to load at a start.
 */
export async function buildCommand({ write }: { write: boolean }): Promise<{
  outputs: Metafile['outputs']
  /** Empty when they were written. */
  files: readonly OutputFile[]
}> {
  const first = await build({ ...bundle, write: false })
  const joined = sharedChunk(first.metafile, bundle.entryPoints.cli)
  const command = await build({ ...bundle, write, plugins: [joined, ...bundle.plugins] })
  const inThreads = await build(asThreads({ ...bundle, write }))
  return {
    outputs: { ...inThreads.metafile.outputs, ...command.metafile.outputs },
    files: [command, inThreads].flatMap(({ outputFiles }) => outputFiles ?? []),
  }
}
