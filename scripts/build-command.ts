import { type BuildResult, build } from 'esbuild'
import { bundle } from './bundle.ts'
import { sharedChunk } from './shared-chunk.ts'

/** Bundles the command. The modules of a start are known once it has been bundled, so it is bundled twice. */
export async function buildCommand({ write }: { write: boolean }): Promise<BuildResult<typeof bundle>> {
  const { metafile } = await build({ ...bundle, write: false })
  const joined = sharedChunk(metafile, Object.values(bundle.entryPoints))
  return build({ ...bundle, write, plugins: [joined, ...bundle.plugins] })
}
