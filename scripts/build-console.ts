import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'

const WEB = fileURLToPath(new URL('../adapters/console/web', import.meta.url))
const COMPRESSED = /\.(html|js|css|svg|json)$/
/** Smaller files are not worth a copy. */
const COMPRESSED_FROM_BYTES = 1024

/**
 * Bundles the operator console into a folder, each text file beside its compressed copy.
 *
 * @returns the paths of the modules inside
 */
export async function buildConsole(outDir: string): Promise<string[]> {
  const built = await build({
    root: WEB,
    configFile: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      // Everything is a file of this server: the policy of the page allows no inline script.
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      // What the libraries inside ask for.
      license: { fileName: 'licenses.md' },
      rolldownOptions: { checks: { pluginTimings: false } },
    },
  })
  compress(outDir)
  return [built].flat().flatMap((each) => ('output' in each ? each.output.flatMap(modulesOf) : []))
}

function modulesOf(part: Rolldown.OutputChunk | Rolldown.OutputAsset): string[] {
  if (part.type === 'asset') return []
  return Object.entries(part.modules).flatMap(([path, { renderedLength }]) => (renderedLength > 0 ? [path] : []))
}

function compress(outDir: string): void {
  for (const path of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
    if (!COMPRESSED.test(path)) continue
    const content = readFileSync(`${outDir}/${path}`)
    if (content.length < COMPRESSED_FROM_BYTES) continue
    writeFileSync(`${outDir}/${path}.gz`, gzipSync(content, { level: 9 }))
  }
}
