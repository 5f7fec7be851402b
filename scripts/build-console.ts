import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'

const WEB = fileURLToPath(new URL('../adapters/console/web', import.meta.url))
const MODELS = fileURLToPath(new URL('../node_modules/@vladmandic/human/models', import.meta.url))
/** What finds a face, its landmarks, its irises and its expression in a webcam's picture. */
const GAZE_MODELS = ['blazeface', 'facemesh', 'iris', 'emotion']
const COMPRESSED = /\.(html|js|css|svg|json)$/
/** Smaller files are not worth a second copy. */
const COMPRESSED_FROM_BYTES = 1024

/**
 * Bundles the operator console into a folder, each text file beside its compressed copies.
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
      // The library that follows eyes is one large file by itself.
      chunkSizeWarningLimit: 3000,
      rolldownOptions: { checks: { pluginTimings: false } },
    },
  })
  mkdirSync(`${outDir}/assets/gaze`, { recursive: true })
  for (const model of GAZE_MODELS) {
    for (const part of [`${model}.json`, `${model}.bin`])
      copyFileSync(`${MODELS}/${part}`, `${outDir}/assets/gaze/${part}`)
  }
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
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
    writeFileSync(`${outDir}/${path}.br`, brotliCompressSync(content, { params }))
    writeFileSync(`${outDir}/${path}.gz`, gzipSync(content, { level: 9 }))
  }
}
