import { fileURLToPath } from 'node:url'
import { build, type Rolldown } from 'vite'

const WEB = fileURLToPath(new URL('../adapters/console/web', import.meta.url))

/** Pages: the console, the reference of the API, and the page of one review, which `gazeway review` serves. */
const PAGES = ['index.html', 'docs.html', 'review.html'].map((page) => `${WEB}/${page}`)

/**
 * Bundles the operator console and the page of reviews into a folder.
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
      rolldownOptions: { input: PAGES, checks: { pluginTimings: false } },
    },
  })
  return [built].flat().flatMap((each) => ('output' in each ? each.output.flatMap(modulesOf) : []))
}

function modulesOf(part: Rolldown.OutputChunk | Rolldown.OutputAsset): string[] {
  if (part.type === 'asset') return []
  return Object.entries(part.modules).flatMap(([path, { renderedLength }]) => (renderedLength > 0 ? [path] : []))
}
